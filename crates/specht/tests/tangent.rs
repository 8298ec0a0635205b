//! Rates of evaluations against differences of evaluations: every field, every model of the gallery, every kind of input.
//!
//! The reference is Ridders' extrapolation of central differences: of a table of step sizes and orders the entry with the smallest
//! error estimate, field by field. Entries whose estimate is too coarse (a root at zero, a corner) prove nothing and are counted.

use std::path::{Path, PathBuf};

use specht::inside::{Options, read_with};
use specht::system::{Along, Discrete, Eval, Mode, State, System, Tangent};
use specht::{
    inside::build,
    model::{CompiledSystem, Model},
};

/// Agreement demanded beside the error of the reference, relative to the size of the field.
const TOLERANCE: f64 = 1e-9;
/// Error of a reference that counts.
const COARSE: f64 = 1e-7;
/// Step sizes of the table, each half of the one before.
const STEPS: usize = 9;

fn gallery() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery");
    let mut list: Vec<(String, PathBuf)> = std::fs::read_dir(root)
        .unwrap()
        .map(|e| e.unwrap())
        .map(|e| (e.file_name().to_string_lossy().into_owned(), e.path().join("model.toml")))
        .filter(|(_, path)| path.exists())
        .collect();
    list.sort();
    assert!(list.len() > 50);
    list
}

fn model(path: &Path, live: &[String]) -> Option<Model> {
    let text = std::fs::read_to_string(path).unwrap();
    let options = Options { live: live.to_vec(), ..Options::default() };
    let loader = |name: &str| std::fs::read_to_string(path.with_file_name(name)).map_err(|e| e.to_string());
    read_with(&text, &options, &loader).ok().map(|loaded| loaded.model)
}

/// Numbers without pattern, the same at every run.
struct Weights(u64);

impl Weights {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn list(&mut self, sizes: &[f64]) -> Vec<f64> {
        sizes.iter().map(|s| s * self.next()).collect()
    }
}

/// Every field as one list of numbers.
fn fields(e: &Eval) -> Vec<(&'static str, Vec<f64>)> {
    vec![
        ("mass", e.mass.values().to_vec()),
        ("h", e.h.clone()),
        ("z_rate", e.z_rate.clone()),
        ("w", e.w.values().to_vec()),
        ("gap", e.gap.clone()),
        ("rate_offset", e.rate_offset.clone()),
        ("accel_offset", e.accel_offset.clone()),
        ("mu", e.mu.clone()),
        ("mu_static", e.mu_static.clone()),
        ("load", e.load.clone()),
        ("load_static", e.load_static.clone()),
        ("load_terms", e.load_terms.clone()),
        ("radius", e.radius.clone()),
        ("tensor", e.tensor.concat()),
        ("lean", e.lean.clone()),
        ("guards", e.guards.iter().map(|&g| if g.is_infinite() { 0.0 } else { g }).collect()),
        ("crossings", e.crossings.clone()),
        ("energies", vec![e.kinetic, e.potential, e.power, e.drive_offset]),
        ("drive", e.drive.clone()),
        ("contour", e.contour.clone()),
    ]
}

/// A direction that owns its numbers.
#[derive(Clone, Default)]
struct Direction {
    t: f64,
    q: Vec<f64>,
    u: Vec<f64>,
    z: Vec<f64>,
    memory: Vec<f64>,
    parameters: Vec<f64>,
}

impl Direction {
    fn along(&self) -> Along<'_> {
        let Direction { t, q, u, z, memory, parameters } = self;
        Along { t: *t, q, u, z, memory, parameters, ..Along::default() }
    }

    fn moved(&self, s: &State, h: f64) -> State {
        let shift = |x: &[f64], d: &[f64]| {
            x.iter().enumerate().map(|(i, x)| x + h * d.get(i).copied().unwrap_or(0.0)).collect()
        };
        State {
            t: s.t + h * self.t,
            q: shift(&s.q, &self.q),
            u: shift(&s.u, &self.u),
            z: shift(&s.z, &self.z),
            memory: shift(&s.memory, &self.memory),
        }
    }
}

#[derive(Default)]
struct Count {
    checked: usize,
    coarse: usize,
    worst: f64,
}

/// Ridders' table of one number: the estimate and its error.
fn extrapolated(differences: &[f64]) -> (f64, f64) {
    let mut row: Vec<f64> = Vec::new();
    let mut best = (f64::NAN, f64::INFINITY);
    for &d in differences {
        let mut next = vec![d];
        let mut factor = 4.0;
        for (k, old) in row.iter().enumerate() {
            let better = (factor * next[k] - old) / (factor - 1.0);
            let error = (better - next[k]).abs().max((better - old).abs());
            if error <= best.1 {
                best = (better, error);
            }
            next.push(better);
            factor *= 4.0;
        }
        row = next;
    }
    best
}

fn compare(
    name: &str,
    sys: &CompiledSystem,
    values: &[f64],
    (s, d): (&State, &Discrete),
    along: &Direction,
    count: &mut Count,
) {
    let mut eval = sys.memory();
    sys.evaluate(s, d, &mut eval);
    let mut tangent = Tangent::new(sys);
    assert!(sys.tangent(s, d, &eval, &along.along(), &mut tangent));
    let (here, rates) = (fields(&eval), fields(&tangent.rate));
    let mut other = sys.clone();
    let mut take = |h: f64| {
        if along.parameters.iter().any(|p| *p != 0.0) {
            let moved: Vec<f64> = values.iter().zip(&along.parameters).map(|(v, d)| v + h * d).collect();
            other.set_parameters(&moved);
        }
        let mut out = other.memory();
        other.evaluate(&along.moved(s, h), d, &mut out);
        fields(&out)
    };
    let steps: Vec<f64> = (0..STEPS).map(|i| 0.0173 * 0.5_f64.powi(i as i32)).collect();
    let sides: Vec<_> = steps.iter().map(|&h| (take(h), take(-h))).collect();
    for (f, (field, rate)) in rates.iter().enumerate() {
        let value = &here[f].1;
        let near = sides[0].0[f].1.iter().chain(&sides[0].1[f].1);
        let numbers = value.iter().chain(rate).chain(near).filter(|v| v.is_finite());
        let size = numbers.fold(0.0_f64, |m, v| m.max(v.abs()));
        assert_eq!(rate.len(), value.len(), "{name}: {field}");
        for k in 0..rate.len() {
            let differences: Vec<f64> =
                sides.iter().zip(&steps).map(|((a, b), h)| (a[f].1[k] - b[f].1[k]) / (2.0 * h)).collect();
            let (expected, error) = extrapolated(&differences);
            // large terms that cancel leave their rounding, which the shortest step enlarges
            let rounding = if value[k].abs() < 1e-9 * size { value[k].abs() / steps[STEPS - 1] } else { 0.0 };
            let error = error + rounding;
            if !(error <= COARSE * size) || !value[k].is_finite() {
                count.coarse += 1;
                continue;
            }
            let off = (rate[k] - expected).abs();
            count.checked += 1;
            count.worst = count.worst.max(if off == 0.0 { 0.0 } else { off / size });
            assert!(
                off <= TOLERANCE * size + error,
                "{name}: {field}[{k}] changes with {} and not with {expected} ± {error:.0e} (value {}, size {size})",
                rate[k],
                value[k]
            );
        }
    }
}

/// States and modes at which a model is tried.
fn places(sys: &CompiledSystem, weights: &mut Weights) -> Vec<(State, Discrete)> {
    let start = sys.start();
    let mut other = start.clone();
    other.t = 0.137;
    let size = sys.length_scale();
    for x in other.q.iter_mut() {
        *x += 0.05 * size.min(1.0) * weights.next();
    }
    for x in other.u.iter_mut() {
        *x += 0.5 * size.min(1.0) * weights.next();
    }
    let mut list = Vec::new();
    for s in [start, other] {
        for sticks in [false, true] {
            let mut d = Discrete::new(&sys.dims());
            let mut eval = sys.memory();
            for (i, c) in sys.contacts().iter().enumerate() {
                d.modes[i] = match (c.friction, sticks) {
                    (false, _) => Mode::Closed,
                    (true, true) => Mode::Stick,
                    (true, false) if i % 2 == 0 => Mode::SlipPlus,
                    (true, false) => Mode::SlipMinus,
                };
                if sticks {
                    d.stick_since[i] = s.t - 0.3;
                    d.load_rate[i] = 0.7;
                }
            }
            sys.latch(&s, &mut d, &mut eval, false);
            sys.evaluate(&s, &d, &mut eval);
            d.contour.clone_from(&eval.contour);
            list.push((s.clone(), d));
        }
    }
    list
}

fn directions(sys: &CompiledSystem, s: &State, values: &[f64], weights: &mut Weights) -> Vec<Direction> {
    let size = sys.length_scale().min(1.0);
    let sizes = |n: usize, size: f64| vec![size; n];
    let q = Direction { q: weights.list(&sizes(s.q.len(), size)), ..Direction::default() };
    let u = Direction { u: weights.list(&sizes(s.u.len(), 1.0)), ..Direction::default() };
    let t = Direction { t: 1.0, ..Direction::default() };
    let z = Direction {
        z: weights.list(&sizes(s.z.len(), size)),
        memory: weights.list(&sizes(s.memory.len(), size)),
        ..Direction::default()
    };
    let scale: Vec<f64> = values.iter().map(|v| if *v == 0.0 { 0.1 } else { 0.3 * v.abs() }).collect();
    let p = Direction { parameters: weights.list(&scale), ..Direction::default() };
    let all = Direction {
        t: 0.4,
        q: q.q.clone(),
        u: u.u.clone(),
        z: z.z.clone(),
        memory: z.memory.clone(),
        parameters: p.parameters.clone(),
    };
    vec![t, q, u, z, p, all]
}

fn check(name: &str, model: &Model, weights: &mut Weights, count: &mut Count) {
    let sys = build(model).unwrap();
    let values = model.live_values();
    for (i, (s, d)) in places(&sys, weights).iter().enumerate() {
        for (k, along) in directions(&sys, s, &values, weights).iter().enumerate() {
            let name = format!("{name}, place {i}, direction {}", ["t", "q", "u", "z", "p", "all"][k]);
            compare(&name, &sys, &values, (s, d), along, count);
        }
    }
}

/// By time, positions, velocities, states and all together.
#[test]
fn rates_of_the_gallery_are_those_of_differences() {
    let mut count = Count::default();
    for (name, path) in gallery() {
        let model = model(&path, &[]).unwrap_or_else(|| panic!("{name} cannot be read"));
        check(&name, &model, &mut Weights(7), &mut count);
    }
    let Count { checked, coarse, worst } = count;
    println!("{checked} numbers agree, the worst to {worst:.1e}; {coarse} without a reference");
    assert!(coarse * 200 < checked);
}

/// By every parameter that may be live, all of them at once.
#[test]
fn rates_by_live_parameters_are_those_of_differences() {
    let mut count = Count::default();
    let mut models = 0;
    for (name, path) in gallery() {
        let plain = model(&path, &[]).unwrap_or_else(|| panic!("{name} cannot be read"));
        if plain.coordinates.len() > 30 {
            continue;
        }
        let names = plain.parameters.iter().map(|p| p.name.clone());
        let can: Vec<String> = names.filter(|p| model(&path, std::slice::from_ref(p)).is_some()).collect();
        let Some(model) = model(&path, &can) else { continue };
        if model.live_parameters() == 0 {
            continue;
        }
        models += 1;
        check(&name, &model, &mut Weights(11), &mut count);
    }
    let Count { checked, coarse, worst } = count;
    println!(
        "{models} models: {checked} numbers agree, the worst to {worst:.1e}; {coarse} without a reference"
    );
    assert!(models > 40 && coarse * 200 < checked, "{models} {checked} {coarse}");
}

/// A tray with a notch, its sizes live; on it a point, a round, an ellipse and a box.
const TRAY: &str = r#"
gravity = [0, -9.81]
parameters = { w = 2.1, deep = 0.6, R = 0.3, b = 0.2, x0 = 0.1, y0 = 1, mu = 0.4 }
coordinates = { x = "x0", y = "y0", th = 0.15 }
ground = { tray = { closed = true, material = "left", outline = [[-3, -4], [3, -4], [3, -1], ["w", -1], ["w", 0], ["0.4*w", 0], ["0.35*w", "-deep"], ["-0.3*w", "-deep"], ["-0.4*w", 0], [-3, 0.2]] } }
[[body]]
name = "thing"
mass = 1.5
inertia = 0.3
position = ["x", "y"]
angle = "th"
features = { round = { center = [0, 0], radius = "R" }, egg = { curve = ["R*cos(s)", "b*sin(s)"], parameter = "s", range = [0, "2*pi"], material = "left" }, box = { closed = true, material = "left", outline = [["-R", "-b"], ["R", "-b"], ["R", "b"], ["-R", "b"]] } }
[[contact]]
name = "point"
between = ["thing", "ground.tray"]
[[contact]]
name = "round"
between = ["thing.round", "ground.tray"]
friction = "mu"
[[contact]]
name = "egg"
between = ["thing.egg", "ground.tray"]
[[contact]]
name = "box"
between = ["thing.box", "ground.tray"]
friction = "mu"
"#;

/// Curves with ends that parameters move, against a corner and a flat.
const SKI: &str = r#"
parameters = { k = 0.4, end = 0.2, c = 0.8, x0 = 0.1, mu = 0.3 }
coordinates = { x = "x0", y = 0.6, th = 0.1 }
ground = { floor = { through = [0, 0], normal = ["0.1*k", 1] }, bump = { curve = ["0.8*cos(s)", "c*sin(s) - 1"], parameter = "s", range = [0, "2*pi"], material = "left" } }
[[body]]
name = "ski"
mass = 1
inertia = 0.2
position = ["x", "y"]
angle = "th"
features = { runner = { curve = ["s", "k*s^2"], parameter = "s", range = ["-end", "end"], material = "left" } }
[[contact]]
name = "flat"
between = ["ski.runner", "ground.floor"]
friction = "mu*(1 + 0.1*slip^2)"
[[contact]]
name = "bump"
between = ["ski.runner", "ground.bump"]
"#;

/// A driven tree with a kinetic formula, a law of the time of sticking, a table, whole numbers and branches.
const DRIVEN: &str = r#"
gravity = [0, -9.81]
parameters = { w = 1.3, l = 0.7, m = 2, c = 3, mu = 0.2 }
coordinates = { a = { start = 0.3, rate = 0.2 }, b = { start = -0.4, rate = 1.1 }, s = { start = 0.2, rate = 0.5 } }
[states]
z = { start = 0.3, rate = "a' - z*abs(z)" }
[define]
tab = { table = [[-1, 0], [0, 0.5], [1, 3]], smooth = true }
[ground]
rail = { through = [0, 0], normal = [0, 1] }
[[body]]
name = "arm"
mass = "m"
inertia = "0.1*m"
center = ["0.5*l", 0.1]
position = ["0.3*sin(w*t)", "0.1*t^2"]
angle = "a + 0.2*sin(w*t)"
[[body]]
name = "hand"
on = "arm"
mass = 1
inertia = 0.2
position = ["l + s", "0.1*s^2"]
angle = "b + a"
[[body]]
name = "wheel"
kinetic = "0.5*(m + s^2)*s'^2 + 0.1*a'*b'*cos(a) + 0.2*t*s'"
[[force]]
name = "pull"
at = "hand"
force = ["c*floor(3*t) - tab(s)", "if(b > 0, b^2, sin(b)) - max(s', 0)*z"]
[[contact]]
name = "slide"
slip = "s' + 0.3*a'"
normal_force = "5 + 2*s"
friction = { static = "mu*(2 - exp(-stick_time))", sliding = "mu/(1 + speed)" }
"#;

fn of_text(text: &str, live: &[&str], set: &[(&str, f64)]) -> Model {
    let set = set.iter().map(|(k, v)| ((*k).to_string(), format!("{v:e}"))).collect();
    let live = live.iter().map(ToString::to_string).collect();
    let options = Options { set, case: None, live };
    match specht::inside::read(text, &options) {
        Ok(loaded) => loaded.model,
        Err(list) => panic!("{:?}", list.iter().map(|d| &d.message).collect::<Vec<_>>()),
    }
}

/// What the gallery has little of: chains of edges with live corners, ends of curves, driven trees, regular tensors beside joints.
#[test]
fn rates_of_edges_ends_driven_trees_and_joints_are_those_of_differences() {
    let mut count = Count::default();
    let mut weights = Weights(3);
    for k in 0..40 {
        let (x, y) = (-3.3 + 0.17 * f64::from(k), [1.2, 0.35, -0.4][k as usize % 3]);
        let model = of_text(TRAY, &["w", "deep", "R", "b"], &[("x0", x), ("y0", y)]);
        check(&format!("tray at {x}, {y}"), &model, &mut weights, &mut count);
    }
    let mut at_an_end = false;
    for x in [-1.4, -0.5, 0.02, 0.6, 1.5] {
        for (k, c) in [(0.4, 0.8), (-0.9, 0.3)] {
            let model = of_text(SKI, &["k", "end", "c"], &[("x0", x), ("k", k), ("c", c)]);
            let sys = build(&model).unwrap();
            at_an_end |= places(&sys, &mut weights).iter().any(|(_, d)| d.latches.iter().any(|&l| l != 0));
            check(&format!("ski at {x}, {k}"), &model, &mut weights, &mut count);
        }
    }
    assert!(at_an_end);
    check("driven", &of_text(DRIVEN, &["w", "l", "m", "c", "mu"], &[]), &mut weights, &mut count);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery/slider_crank/model.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let regular = text.replace("friction  = \"mu\"", "friction  = { regular = \"mu\" }");
    assert_ne!(text, regular);
    check("regular slider-crank", &of_text(&regular, &["r", "mu"], &[]), &mut weights, &mut count);
    let Count { checked, coarse, worst } = count;
    println!("{checked} numbers agree, the worst to {worst:.1e}; {coarse} without a reference");
    assert!(coarse * 100 < checked, "{checked} {coarse}");
}

/// Jacobians of points against differences of the poses of their bodies.
#[test]
fn points_move_as_their_jacobians_say() {
    use specht::model::{FeatureRef, Shape};
    let text = DRIVEN
        .replace("angle = \"b + a\"", "angle = \"b + a\"\nfeatures = { tip = [\"0.3 + 0.1*l\", -0.2] }");
    let model = of_text(&text, &["l"], &[]);
    let sys = build(&model).unwrap();
    let (s, d) = (sys.start(), Discrete::new(&sys.dims()));
    let hand = model.bodies.iter().position(|b| b.name == "hand").unwrap();
    assert!(matches!(model.bodies[hand].features[0].shape, Shape::Point(_)));
    let place = |state: &State, local: [f64; 2]| {
        let mut poses = Vec::new();
        sys.poses(state, &mut poses);
        let [x, y, angle] = poses[hand];
        let (sin, cos) = angle.sin_cos();
        [x + cos * local[0] - sin * local[1], y + sin * local[0] + cos * local[1], angle]
    };
    for (feature, local) in [(None, [0.0, 0.0]), (Some(0), [0.37, -0.2])] {
        let point = FeatureRef { body: Some(hand), feature };
        let jacobian = sys.point_jacobian(&s, &d, point).unwrap();
        for k in 0..s.q.len() {
            let mut q = vec![0.0; s.q.len()];
            q[k] = 1.0;
            let along = Direction { q, ..Direction::default() };
            for axis in 0..3 {
                let at = |h: f64| place(&along.moved(&s, h), local)[axis];
                let differences: Vec<f64> = (0..STEPS)
                    .map(|i| 0.02 * 0.5_f64.powi(i as i32))
                    .map(|h| (at(h) - at(-h)) / (2.0 * h))
                    .collect();
                let (expected, _) = extrapolated(&differences);
                assert!((jacobian[(axis, k)] - expected).abs() < 1e-11, "{feature:?} {k} {axis}");
            }
        }
    }
    assert!(sys.point_jacobian(&s, &d, FeatureRef { body: None, feature: None }).is_none());
}
