//! The whole file format on one page, made from [`super::keys`] and the lists of the language, so that it cannot forget anything.

use super::keys::{self, Key, Kind};
use super::names::FUNCTIONS;
use crate::expr::{LAWS, UNIT_HELP};

/// Sections in the order of the page: heading, what stands there, keys.
const SECTIONS: &[(&str, &str, &[Key])] = &[
    (
        "[parameters]",
        "mu = 0.3, l = \"150 mm\", mu = { value = 0.3, range = [0, 1] }, r = [\"1 m\", \"2 m\"] (r[1], r[2])",
        keys::PARAMETER,
    ),
    (
        "[coordinates]",
        "x = 0, phi = \"30 deg\", y = { start = \"1 m\", rate = \"2 m/s\" }, psi = { guess = 0.1 }",
        keys::COORDINATE,
    ),
    ("[states]", "i = { start = 0, rate = \"(U - R*i)/L\" }", keys::STATE),
    ("[memory]", "count = 0, changed by events", keys::MEMORY),
    (
        "[define]",
        "d = \"l*sin(phi)\", \"f(x)\" = \"x^2\", track = { table = [[0, 0], [1, 2]] }",
        keys::DEFINE,
    ),
    (
        "[ground], features of bodies",
        "tip = [0, 0] is a point; { through, normal } a line, { center, radius } a circle",
        keys::SHAPE,
    ),
    ("[[body]]", "everything that moves", keys::BODY),
    ("[[force]]", "one of along, between, at, on with torque, potential", keys::FORCE),
    ("[[contact]]", "one of between, gap, play, pin, slip", keys::CONTACT),
    ("friction = { … }", "", keys::FRICTION),
    ("patch = { … }", "", keys::PATCH),
    ("friction_force = { … }", "", keys::FRICTION_FORCE),
    ("restitution = { … }", "", keys::RESTITUTION),
    ("[[touch]]", "by time steps; `among`", keys::TOUCH),
    ("[[event]]", "one of crossing, on", keys::EVENT),
    ("[[phase]]", "", keys::PHASE),
    ("[[body.modes]]", "elastic bodies", keys::MODE),
    ("[start]", "", keys::START),
    ("[run]", "", keys::RUN),
    ("[[task]]", "questions that are answered after the run; `specht explain findings`", keys::TASK),
    ("[[plot]]", "", keys::PLOT),
    ("[[draw]]", "", keys::DRAW),
    ("circle = { … }", "", keys::CIRCLE),
];

/// What the functions do, for those whose name does not say it.
const FUNCTION_NOTES: &[(&str, &str)] = &[
    ("log", "natural"),
    ("sign", "−1, 0, 1"),
    ("min", "of any number of values"),
    ("max", "of any number of values"),
    ("hypot", "sqrt(x^2 + y^2)"),
    ("mod", "remainder with the sign of the divisor"),
    ("atan2", "angle of (x, y): atan2(y, x)"),
];

/// The page.
pub fn reference() -> String {
    let mut out = String::from(
        "# The model file\n\nA model is one TOML file. Numbers are SI; with a unit they stand in quotes, \"3 mm\". Everywhere a number can stand an expression can, in quotes.\n\
         `specht new NAME` writes a commented file to start from, `specht check` says how it was understood, `specht schema` serves editors.\n\n## Sections\n\n",
    );
    list(keys::TOP, &mut out);
    for (heading, about, keys) in SECTIONS {
        out += &format!("\n## {heading}\n\n");
        if !about.is_empty() {
            out += &format!("{about}\n\n");
        }
        list(keys, &mut out);
    }
    out += "\nA body, force, contact, coordinate, event, plot or drawing with  for = \"i = 1..n\"  is a family: its formulas may use i.\n";
    out += "\n## Expressions\n\n";
    out += "+ - * / ^, comparisons < <= > >= == !=, and, or, not, if(condition, then, else), sum(i = 1..n, expression), integral(x = a..b, expression), pi, t (time), x' and x'' (rates).\n";
    let shown = |name: &&str| match FUNCTION_NOTES.iter().find(|n| n.0 == *name) {
        Some((_, note)) => format!("{name} ({note})"),
        None => name.to_string(),
    };
    out += &format!("Functions: {}.\n", FUNCTIONS.iter().map(shown).collect::<Vec<_>>().join(", "));
    out += &format!("Units: {UNIT_HELP}.\n");
    out += "\n## Friction laws by name\n\nThey stand in any expression, forces and coefficients alike; a definition of the same name hides them. `specht explain friction-laws` says more.\n\n| law | is | |\n|---|---|---|\n";
    for law in &LAWS {
        out += &format!("| {} | {} | {} |\n", law.head, law.body, law.about);
    }
    out += "\n## Names\n\n";
    out += "\n| name | is | where |\n|---|---|---|\n";
    for (name, is, place) in NAMES {
        out += &format!("| {name} | {is} | {place} |\n");
    }
    out += "\n## An example\n\n";
    out += EXAMPLE;
    out
}

/// What can be read of things.
const NAMES: &[(&str, &str, &str)] = &[
    ("BODY.x, BODY.y, BODY.angle, BODY.POINT.x", "where it is", "everywhere"),
    (
        "CONTACT.gap, CONTACT.slip, CONTACT.speed",
        "distance, slip velocity, its size",
        "everywhere but in what they depend on",
    ),
    (
        "CONTACT.normal, CONTACT.tangential, CONTACT.mode",
        "forces; 0 open, 1 stick, 2 slip+, 3 slip−, 4 closed",
        "outputs, plots, `set`, `when`",
    ),
    (
        "CONTACT.heat, CONTACT.heat'",
        "energy that friction and impacts took there since the start, and its rate",
        "everywhere; the rate in rates of states, outputs, plots",
    ),
    ("BODY.touch.x, ground.touch.x", "force of everything that touches, world axes", "outputs, `set`"),
    ("CONTACT.impulse", "normal impulse of the impact that fires the event", "`set`, `when`"),
    ("energy.kinetic, energy.potential, energy.total", "energies", "outputs, plots, `set`, `when`"),
    ("slip, speed, load_rate, stick_time", "of the contact itself", "its friction"),
    ("stretch, stretch'", "of the force itself", "its law"),
];

const EXAMPLE: &str = "```toml\n\
name        = \"block on an incline\"\n\
gravity     = [0, -9.81]\n\
parameters  = { mu = 0.3, slope = \"25 deg\" }\n\
coordinates = { x = 0, y = 0 }\n\
ground      = { plane = { through = [0, 0], normal = [\"sin(slope)\", \"cos(slope)\"] } }\n\
body        = [{ name = \"block\", mass = \"2 kg\", position = [\"x\", \"y\"] }]\n\
contact     = [{ name = \"sole\", between = [\"block\", \"ground.plane\"], friction = \"mu\" }]\n\
run         = { until = \"1 s\" }\n\
output      = { speed = \"sqrt(x'^2 + y'^2)\", force = \"sole.normal\" }\n```\n";

fn list(keys: &[Key], out: &mut String) {
    *out += "| key | holds | is |\n|---|---|---|\n";
    for key in keys {
        *out += &format!("| {} | {} | {} |\n", key.name, holds(key.kind), key.about);
    }
}

/// What may stand at a key, in words.
fn holds(kind: Kind) -> String {
    match kind {
        Kind::Expr => "expression".into(),
        Kind::Text => "text".into(),
        Kind::Bool => "true or false".into(),
        Kind::Choice(words) => words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(", "),
        Kind::List(inner) => format!("[{}, …]", holds(*inner)),
        Kind::Table(_) => "table".into(),
        Kind::Map(inner) => format!("NAME = {}", holds(*inner)),
        Kind::Tables(_) => "[[…]]".into(),
        Kind::Any(kinds) => kinds.iter().map(|k| holds(*k)).collect::<Vec<_>>().join(" or "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys_of(kind: Kind, all: &mut Vec<&'static Key>) {
        match kind {
            Kind::List(inner) | Kind::Map(inner) => keys_of(*inner, all),
            Kind::Table(keys) | Kind::Tables(keys) => {
                for key in keys {
                    all.push(key);
                    keys_of(key.kind, all);
                }
            }
            Kind::Any(kinds) => kinds.iter().for_each(|k| keys_of(*k, all)),
            _ => {}
        }
    }

    #[test]
    fn the_page_has_every_key_of_the_schema_and_every_function() {
        let page = reference();
        let mut all = Vec::new();
        keys_of(Kind::Table(keys::TOP), &mut all);
        assert!(all.len() > 100, "{}", all.len());
        for key in all {
            assert!(page.contains(&format!("| {} | ", key.name)) && page.contains(key.about), "{}", key.name);
        }
        for function in FUNCTIONS {
            assert!(page.contains(&format!(" {function}")), "{function}");
        }
    }

    #[test]
    fn the_example_of_the_page_runs() {
        let text = EXAMPLE.trim_start_matches("```toml\n").trim_end_matches("```\n");
        assert!(crate::machine::Machine::read(text).unwrap().run().unwrap().audit().passed);
    }
}
