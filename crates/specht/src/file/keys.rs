//! Every key of the model file: its name, what may stand there and one line of explanation. The reader takes the allowed
//! keys from here, the schema for editors is made from here, so neither can forget a key.

/// A key of a section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    /// Name in the file.
    pub name: &'static str,
    /// What may stand there.
    pub kind: Kind,
    /// One line for the editor.
    pub about: &'static str,
}

/// What may stand at a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A number or an expression in quotes.
    Expr,
    /// Any text.
    Text,
    /// true or false.
    Bool,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list.
    List(&'static Kind),
    /// A table with these keys.
    Table(&'static [Key]),
    /// A table with names of the user's choice.
    Map(&'static Kind),
    /// A list of tables, `[[name]]`.
    Tables(&'static [Key]),
    /// One of several.
    Any(&'static [Kind]),
}

use Kind::{Any, Bool, Choice, Expr, List, Map, Table, Tables, Text};

const fn key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, about }
}

const VECTOR: Kind = List(&Expr);
const EXPR_OR_LIST: Kind = Any(&[Expr, List(&Expr)]);
const NESTED: Kind = Any(&[Expr, List(&Any(&[Expr, List(&Expr)]))]);
const TEXTS: Kind = List(&Text);
const FOR: Key = key(
    "for",
    Text,
    "family: one entry per value of the index, as in \"i = 1..n\"; named block[1], block[2], …",
);

/// Keys at the top of the file.
pub(super) const TOP: &[Key] = &[
    key("name", Text, "title of the model"),
    key("about", Text, "one sentence on what the model shows"),
    key("source", Text, "where the model comes from"),
    key("gravity", VECTOR, "gravity as a vector, m/s²; [0, -9.81] points down"),
    key(
        "parameters",
        Map(&Any(&[Expr, NESTED, Table(PARAMETER)])),
        "constants of the model: everything that may be varied",
    ),
    key(
        "coordinates",
        Map(&Any(&[Expr, Table(COORDINATE)])),
        "generalised coordinates and their start; what is left out is 0",
    ),
    key("states", Map(&Table(STATE)), "first-order variables: electric, hydraulic, control"),
    key(
        "memory",
        Map(&Any(&[Expr, Table(MEMORY)])),
        "values that are constant between events and changed by `set`",
    ),
    key(
        "define",
        Map(&Any(&[Expr, Table(DEFINE)])),
        "named formulas, functions \"f(x, y)\" = \"…\", and tables",
    ),
    key("ground", Map(&FEATURE), "features of the fixed frame"),
    key("body", Tables(BODY), "everything that moves: particle, rotor, rigid body, massless frame"),
    key("force", Tables(FORCE), "smooth forces, springs, drives"),
    key("contact", Tables(CONTACT), "where friction, impact or a one-sided force acts"),
    key("touch", Tables(TOUCH), "bodies that touch wherever they meet, by time steps"),
    key("event", Tables(EVENT), "moments of interest, and what changes then"),
    key(
        "phase",
        Tables(PHASE),
        "named parts of the motion: a condition, its events and a band in the report",
    ),
    key("start", Table(START), "what the initial state must satisfy"),
    key("run", Table(RUN), "how long and how"),
    key("output", Map(&Expr), "quantities to record"),
    key("case", Map(&Map(&NESTED)), "named sets of parameter values, chosen with --case"),
    key("task", Tables(TASK), "analyses"),
    key("plot", Tables(PLOT), "plots for the report"),
    key("draw", Tables(DRAW), "extra lines for the animation, fixed frame"),
];

/// `[parameters] name = { … }`
pub(super) const PARAMETER: &[Key] = &[
    key(
        "value",
        NESTED,
        "value: a number, a quantity such as \"3 mm\", an expression in other parameters, or a list",
    ),
    key(
        "range",
        VECTOR,
        "sensible range [from, to], for sliders and sweeps; a value outside is warned about",
    ),
    key("about", Text, "what the parameter is"),
];

/// `[coordinates] name = { … }`
pub(super) const COORDINATE: &[Key] = &[
    key("start", EXPR_OR_LIST, "value at the start; other coordinates' names mean their start values"),
    key("rate", EXPR_OR_LIST, "velocity at the start"),
    key(
        "guess",
        EXPR_OR_LIST,
        "instead of start: value and velocity are solved for from the [start] conditions",
    ),
    FOR,
];

/// `[states] name = { … }`
pub(super) const STATE: &[Key] = &[
    key("start", EXPR_OR_LIST, "value at the start"),
    key("rate", EXPR_OR_LIST, "time derivative, an expression of everything"),
    FOR,
];

/// `[memory] name = { … }`
pub(super) const MEMORY: &[Key] = &[key("start", EXPR_OR_LIST, "value at the start"), FOR];

/// `[define] name = { … }`
pub(super) const DEFINE: &[Key] = &[
    key(
        "table",
        List(&List(&Expr)),
        "points [[x, y], …] of a function of one argument, or [[x, y, value], …] on a grid: of two",
    ),
    key("csv", Text, "file with the points, columns named in the first line"),
    key("x", Text, "column of the argument"),
    key("y", Text, "column of the value, or of the second argument where `z` is given"),
    key("z", Text, "column of the value of a function of two arguments"),
    key(
        "ends",
        Choice(ENDS),
        "outside the points: hold the end values, extend the end lines, or repeat with the period",
    ),
    key("smooth", Bool, "monotone cubic instead of straight lines between the points"),
];

/// Words of `ends`.
pub(super) const ENDS: &[&str] = &["hold", "extend", "repeat"];

const FEATURE: Kind = Any(&[VECTOR, Table(SHAPE)]);

/// A feature that is not a point.
pub(super) const SHAPE: &[Key] = &[
    key("through", VECTOR, "flat: a point of the line"),
    key("normal", VECTOR, "flat: direction out of the material"),
    key("center", VECTOR, "round: centre"),
    key("radius", Expr, "round: radius"),
    key("hole", Bool, "round: the material is outside"),
    key("curve", VECTOR, "curve: [x, y] as expressions of its parameter"),
    key("parameter", Text, "curve: name of its parameter"),
    key(
        "range",
        Any(&[VECTOR, List(&List(&Expr))]),
        "curve: range of its parameter; surface, height field: [[from, to], [from, to]]",
    ),
    key("axis", VECTOR, "rim, cylinder, cone, torus (in space): direction of the axis"),
    key("apex", VECTOR, "cone (in space): its tip; it widens along `axis`"),
    key("angle", Expr, "cone (in space): between axis and side"),
    key("tube", Expr, "torus (in space): radius of its section; `radius` is that of its middle line"),
    key("surface", VECTOR, "surface (in space): [x, y, z] as expressions of its two parameters"),
    key("parameters", TEXTS, "surface, height field (in space): names of its two parameters"),
    key("box", VECTOR, "box (in space): half lengths"),
    key(
        "hull",
        Any(&[Text, List(&List(&Expr))]),
        "convex hull (in space): points [[x, y, z], …], or the file of a mesh",
    ),
    key("mesh", Text, "mesh (in space): file of triangles, .stl or .obj"),
    key("scale", Expr, "mesh: factor for its coordinates, 0.001 for millimetres"),
    key("height", Expr, "height field (in space): z as a formula of its two parameters"),
    key("cells", VECTOR, "height field: number of cells along x and y, default [50, 50]"),
    key("heights", Text, "height field (in space): csv file with the columns x, y, z of a regular grid"),
    key("capsule", List(&List(&Expr)), "capsule (in space): the two ends of its middle line"),
    key("cylinder", List(&List(&Expr)), "cylinder (in space): the middles of its two ends"),
    key("ellipsoid", VECTOR, "ellipsoid (in space): half axes"),
    key("direction", VECTOR, "a direction (in space), for joints"),
    key("outline", List(&List(&Expr)), "outline: corners [[x, y], …], joined by straight edges"),
    key("closed", Bool, "outline: the last corner joins the first"),
    key("material", Choice(SIDES), "curve, outline: side of the material seen along growing parameter"),
];

/// Words of `material`.
pub(super) const SIDES: &[&str] = &["left", "right"];

/// `[[body]]`
pub(super) const BODY: &[Key] = &[
    key("name", Text, "name, required"),
    FOR,
    key(
        "position",
        EXPR_OR_LIST,
        "origin [x, y], in space [x, y, z]; one expression is motion along x; relative to `on` if given",
    ),
    key("angle", Expr, "angle, counter-clockwise; relative to `on` if given"),
    key(
        "rotation",
        Any(&[Text, List(&List(&Expr))]),
        "in space: turns about moving axes [[\"z\", \"psi\"], [\"x\", \"theta\"]], or \"free\"",
    ),
    key("turned", List(&List(&Expr)), "free rotation: orientation at the start, turns as in `rotation`"),
    key("spin", VECTOR, "free rotation: angular velocity at the start, inertial axes (those of `on`)"),
    key("spin_axes", Choice(AXES), "axes of `spin`: fixed (default) or the body's"),
    key("guess", Bool, "free rotation: orientation and spin may be moved by the [start] conditions"),
    key(
        "on",
        Any(&[Text, TEXTS]),
        "another body: position and angle are relative to it; in a family a list, the last entry for all further members: [\"ground\", \"link[i-1]\"]",
    ),
    key("mass", Expr, "mass; needs a position"),
    key(
        "inertia",
        Any(&[Expr, NESTED]),
        "moment of inertia about the mass centre; needs an angle. In space: one number for every axis, three principal moments, or the matrix 3×3",
    ),
    key(
        "any_inertia",
        Bool,
        "in space: true accepts an inertia that no rigid body can have, as files of other programs hold it",
    ),
    key("center", VECTOR, "mass centre in body axes, default the origin"),
    key("density", Expr, "in space: density of what fills its closed meshes; gives mass, centre and inertia"),
    key("kinetic", Expr, "kinetic energy as a formula, instead or in addition"),
    key("features", Map(&FEATURE), "named points and shapes in body axes"),
    key(
        "modes",
        Tables(MODE),
        "modes of vibration of an elastic body: frequencies and shapes at its features",
    ),
];

/// `[[body.modes]]`
pub(super) const MODE: &[Key] = &[
    key("coordinate", Text, "coordinate of the mode, one of [coordinates]; required"),
    key("frequency", Expr, "natural frequency, Hz; required"),
    key("damping", Expr, "share of critical damping, default 0"),
    key("mass", Expr, "modal mass, default 1 kg"),
    key("shape", Map(&VECTOR), "how features move per unit of the coordinate, body axes: { tip = [0, 0.8] }"),
];

/// `[[force]]`
pub(super) const FORCE: &[Key] = &[
    key("name", Text, "name"),
    FOR,
    key(
        "along",
        Expr,
        "the force acts in the direction in which this expression of coordinates and time grows",
    ),
    key("between", TEXTS, "two points [\"a.p\", \"b.q\"]; positive pushes apart"),
    key("at", Text, "point on which `force = [Fx, Fy]` acts"),
    key("axes", Choice(AXES), "axes of `force` at a point: fixed (default) or the body's"),
    key("on", Text, "body on which `torque` acts"),
    key(
        "torque",
        EXPR_OR_LIST,
        "torque on the body, counter-clockwise; in space [Mx, My, Mz], or one number with `axis`",
    ),
    key("axis", VECTOR, "in space: direction of a torque of one number"),
    key("against", Text, "body that takes the reaction of the torque"),
    key("potential", Expr, "potential energy; the force is minus its gradient"),
    key(
        "force",
        EXPR_OR_LIST,
        "law: may use `stretch` and `stretch'`; positive enlarges stretch. At a point: [Fx, Fy]",
    ),
    key("spring", Expr, "stiffness: force -spring*(stretch - length)"),
    key("length", Expr, "free length of the spring, default 0"),
    key("damper", Expr, "damping: force -damper*stretch'"),
];

/// Words of `axes`.
pub(super) const AXES: &[&str] = &["fixed", "body"];

/// `[[contact]]`
pub(super) const CONTACT: &[Key] = &[
    key("name", Text, "name, required"),
    FOR,
    key(
        "between",
        TEXTS,
        "two features [\"rod.tip\", \"ground.floor\"]; the normal points from the second to the first",
    ),
    key("gap", Expr, "distance as a formula of coordinates and time"),
    key("play", Expr, "a formula kept between `limits`: two contacts NAME.low and NAME.high"),
    key("limits", VECTOR, "[low, high] of `play`"),
    key("pin", TEXTS, "two points kept together; closes loops"),
    key(
        "guide",
        EXPR_OR_LIST,
        "two formulas kept zero: a bead on a wire in space; friction follows their norm",
    ),
    key("parallel", TEXTS, "two directions of bodies in space kept parallel"),
    key("perpendicular", TEXTS, "two directions of bodies in space kept perpendicular"),
    key("radius", Expr, "journal radius of a pin with friction"),
    key("bilateral", Bool, "the contact cannot open"),
    key("spring", Expr, "elastic contact: stiffness"),
    key("damper", Expr, "elastic contact: damping"),
    key("relaxing", Bool, "elastic contact whose surface relaxes after separation (PG-3.2, law C)"),
    key("slip", EXPR_OR_LIST, "slip velocity as a formula linear in the velocities; two of them in space"),
    key("normal_force", Expr, "given normal force; may be linear in other contacts' normal forces"),
    key("friction_force", Any(&[Expr, Table(FRICTION_FORCE)]), "largest friction force, given directly"),
    key(
        "friction",
        Any(&[Expr, Table(FRICTION), List(&List(&Expr))]),
        "friction coefficient: expression (may use slip, speed, t), { static, sliding }, a tensor [[tt, tn], [nt, nn]], or { regular }",
    ),
    key(
        "restitution",
        Any(&[Expr, Table(RESTITUTION)]),
        "restitution 0 to 1, or { normal, tangential, nu }; default 0",
    ),
    key(
        "tangent",
        VECTOR,
        "direction of positive slip in the axes of the second body; in space the first tangent",
    ),
    key("rolling", Expr, "in space: length that bounds the moment against rolling, per normal force"),
    key("drilling", Expr, "in space: the same against the spin about the normal"),
    key("spin", Expr, "spin about the normal of a patch that is given by formulas"),
];

/// `[[touch]]`
pub(super) const TOUCH: &[Key] = &[
    key("name", Text, "name, default touch; NAME.normal is the sum of all normal forces"),
    key(
        "among",
        TEXTS,
        "bodies, families, \"ground\", or \"*\" for everything; of several entries the last that names both bodies counts",
    ),
    key("friction", Expr, "friction coefficient, default 0"),
    key("restitution", Expr, "restitution 0 to 1, default 0"),
];

/// `friction = { … }`
pub(super) const FRICTION: &[Key] = &[
    key("static", Expr, "at rest; may use load_rate and stick_time"),
    key("sliding", Expr, "while sliding; may use slip and speed"),
    key(
        "regular",
        Expr,
        "coefficient of the friction tensor that leaves the reaction alone, built from the mass matrix at every state",
    ),
    key("value", Expr, "coefficient of a patch"),
    key("ellipse", VECTOR, "in space: coefficients along the two tangents, associated law"),
    key("patch", Table(PATCH), "in space: a contact of finite size, { radius, pressure }"),
];

/// `patch = { … }`
pub(super) const PATCH: &[Key] = &[
    key("radius", Expr, "radius of the patch; may hold a power of `normal`: a1*normal^(1/3)"),
    key("pressure", Choice(PRESSURES), "uniform (default), hertz or ring"),
];

/// How a patch is pressed.
pub(super) const PRESSURES: &[&str] = &["uniform", "hertz", "ring"];

/// `friction_force = { … }`
pub(super) const FRICTION_FORCE: &[Key] = &[
    key("static", Expr, "at rest; may use load_rate and stick_time"),
    key("sliding", Expr, "while sliding; may use slip and speed"),
];

/// `restitution = { … }`
pub(super) const RESTITUTION: &[Key] = &[
    key("normal", Expr, "normal restitution"),
    key("tangential", Expr, "tangential restitution"),
    key("nu", Expr, "share of the tangential impulse that is reversible"),
];

/// `[[event]]`
pub(super) const EVENT: &[Key] = &[
    key("name", Text, "name"),
    FOR,
    key("crossing", Expr, "fires when this expression passes through zero"),
    key("direction", Choice(DIRECTIONS), "up, down or both (default)"),
    key(
        "on",
        Text,
        "fires when something happens at a contact: \"beak.impact\"; also touch detach stick slip reverse",
    ),
    key("when", Expr, "condition: the event counts only when it holds, as in \"x' > 0\""),
    key("set", Map(&Expr), "new values of memory; all read the values before the event"),
    key("stop", Bool, "ends the run"),
];

/// `[[phase]]`
pub(super) const PHASE: &[Key] = &[
    key("name", Text, "name, required; an output that is 1 during the phase, and the event of its beginning"),
    key("when", Expr, "condition, as in \"x > 1 mm and x' > 0\""),
];

/// Words of `direction`.
pub(super) const DIRECTIONS: &[&str] = &["up", "down", "both"];

/// `[start]`
pub(super) const START: &[Key] = &[
    key("closed", TEXTS, "contacts whose gap and gap rate are zero at the start"),
    key("sticking", TEXTS, "contacts whose slip is zero at the start"),
    key("equilibrium", Bool, "start from a position in which all forces balance, friction off"),
];

/// `[run]`
pub(super) const RUN: &[Key] = &[
    key("until", Expr, "end time, s"),
    key("scheme", Choice(SCHEMES), "event: every event located (default); step: time stepping"),
    key("step", Expr, "step of the time-stepping scheme, s"),
    key("tolerance", Expr, "tolerance of the integration, default 1e-9"),
    key(
        "method",
        Choice(METHODS),
        "integration between events: explicit, implicit for stiff models, or auto (default)",
    ),
    key("every", Expr, "output interval, s; default: every accepted step"),
    key("events", Expr, "the run stops after this number of events"),
    key("impact", Choice(IMPACTS), "impact law, default poisson; newton is without friction"),
    key("several", Choice(POLICIES), "which solution when there are several or none, default continuous"),
    key(
        "sensitivity",
        TEXTS,
        "parameters with respect to which the run is differentiated, through all events",
    ),
];

/// Words of `scheme`.
pub(super) const SCHEMES: &[&str] = &["event", "step"];
/// Words of `method`.
pub(super) const METHODS: &[&str] = &["auto", "explicit", "implicit"];
/// Words of `impact`.
pub(super) const IMPACTS: &[&str] = &["poisson", "newton", "moreau"];
/// Words of `several`.
pub(super) const POLICIES: &[&str] = &["continuous", "compliant", "painleve", "klein", "stop"];

/// `[[task]]`: common keys; further keys belong to the analysis.
pub(super) const TASK: &[Key] = &[
    key("name", Text, "name; the finding is stored under it"),
    key("analyse", Choice(ANALYSES), "kind of analysis, required"),
    key("case", Text, "case of parameters to use"),
    key("contact", Text, "contact to look at"),
    key("contacts", TEXTS, "contacts to look at"),
    key(
        "over",
        Map(&Any(&[List(&Expr), Text])),
        "parameter = [from, to, count]: one gives a curve, two a map; painleve: also coordinates and velocities, \"phi'\"; sweep: also \"0.1, 0.2\"",
    ),
    key("at", Map(&Expr), "painleve, true-motion: another state than the start, { phi = 1, \"phi'\" = -3 }"),
    key(
        "at_time",
        Expr,
        "painleve, true-motion: look at this instant of the run; rest, self-braking: at its position",
    ),
    key("along", Bool, "painleve: look at all instants of the run"),
    key("direction", List(&Expr), "rest, in space: direction in which forces at the points are asked for"),
    key(
        "random",
        Map(&Text),
        "sweep: parameter = \"normal(mean, deviation)\", uniform, lognormal, triangular",
    ),
    key("samples", Expr, "number of samples"),
    key("seed", Expr, "sweep: seed of the samples"),
    key("sobol", Bool, "sweep: low-discrepancy samples"),
    key("total", Bool, "sweep: total indices of the random parameters"),
    key("chain", Text, "sweep: begin each run where the one before ended: up, down or both"),
    key("last", Expr, "sweep: passages through the section, from the end of each run"),
    key("values", Text, "sweep: address into the event of a passage"),
    key("threshold", Expr, "load-statistics: force above which an episode is one"),
    key("per", Expr, "statistics: period of the excitation"),
    key("section", Text, "event that serves as Poincaré section"),
    key("period", Expr, "period of the excitation"),
    key("switch", Text, "branch: label of the special point from which the other branch is followed"),
    key("two", Map(&List(&Expr)), "branch: a second parameter over which special points are followed"),
    key("coordinate", Text, "return-map: coordinate or velocity that is mapped"),
    key("power", Any(&[Expr, Text]), "return-map: powers whose fixed points are wanted, \"1..3\""),
    key("time", Expr, "lyapunov: time over which exponents are taken"),
    key("warm_up", Expr, "lyapunov: time before it"),
    key("multiple", Expr, "limit-cycle: periods of the excitation in one of the cycle"),
    key("starts", Expr, "limit-cycle: number of starts in `box`; fit: number of starts of the search"),
    key("box", Map(&List(&Expr)), "limit-cycle: where the starts lie, { x = [-2, 4] }"),
    key("unstable", Bool, "limit-cycle: look near the start, also for cycles that the motion leaves"),
    key("points", Any(&[Expr, TEXTS]), "points to look at"),
    key("of", Any(&[Text, TEXTS]), "outputs to look at"),
    key("from", Expr, "start of the time window"),
    key("to", Expr, "end of the time window"),
    key("record", TEXTS, "addresses into the result, one column each"),
    key("amplitude", Text, "break-away: parameter that is the amplitude of the excitation"),
    key("critical", Text, "stability: parameter whose critical value is wanted"),
    key("force", Text, "response: a force of the model, or a parameter of its amplitude"),
    key("stick", Any(&[Text, TEXTS]), "modes, response, break-away: contacts that stick"),
    key("slide", Any(&[Text, TEXTS]), "modes, response, break-away: contacts that slide"),
    key("open", Any(&[Text, TEXTS]), "modes, response, break-away: contacts that are open"),
    key("all", Bool, "equilibrium: look everywhere, not only near the start"),
    key("friction", Text, "equilibrium: \"on\" for bands of rest, \"off\" for points"),
    key("load", Text, "rest, self-braking, equilibrium: parameter of a load"),
    key("data", Text, "csv file with measured data"),
    key("fit", TEXTS, "parameters to find"),
    key("residual", Expr, "what should be zero at every row of the data; columns are names"),
    key("bounds", Map(&List(&Expr)), "fit: bounds of parameters, { mu = [0, 1] }"),
    key("weights", Text, "fit: column of weights, 1/s^2"),
    key("profile", Bool, "fit: intervals that need not be symmetric"),
    key("robust", Bool, "fit: values far from the others count less"),
    key("bootstrap", Expr, "fit: refits of resampled residuals"),
    key("holdout", Expr, "fit: share of the rows, at the end, that is predicted instead of fitted"),
    key("compare", Any(&[Text, TEXTS]), "fit: other fits of the file, or other files"),
    key("until", Expr, "end time of the runs"),
];

/// Words of `analyse`.
pub(super) const ANALYSES: &[&str] = &[
    "painleve",
    "rest",
    "self-braking",
    "true-motion",
    "tensor",
    "equilibrium",
    "modes",
    "response",
    "stability",
    "limit-cycle",
    "return-map",
    "lyapunov",
    "branch",
    "basin",
    "break-away",
    "load-statistics",
    "statistics",
    "quasi-static",
    "sweep",
    "fit",
    "friction-law",
];

/// `[[plot]]`
pub(super) const PLOT: &[Key] = &[
    key("name", Text, "title"),
    key("x", Expr, "horizontal axis, default t"),
    key("y", EXPR_OR_LIST, "vertical axis, one curve each"),
    FOR,
];

/// `[[draw]]`
pub(super) const DRAW: &[Key] =
    &[key("path", List(&List(&Expr)), "polyline [[x, y], …]"), key("circle", Table(CIRCLE), "a circle"), FOR];

/// `circle = { … }`
pub(super) const CIRCLE: &[Key] = &[key("center", VECTOR, "centre"), key("radius", Expr, "radius")];
