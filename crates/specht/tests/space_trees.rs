//! Trees of bodies in space: accelerations along the tree are those of M written down and factored.

use std::fmt::Write;

use specht::inside::{Accelerations, Options, build, read};
use specht::model::CompiledSystem;
use specht::prelude::*;
use specht::system::{Discrete, Mode, System};

fn compiled(text: &str) -> CompiledSystem {
    let loaded = read(text, &Options::default()).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    build(&loaded.model).unwrap_or_else(|e| panic!("{e}"))
}

/// Numbers in [0, 1), the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() * n as f64) as usize
    }

    fn three(&mut self) -> String {
        format!("[{}, {}, {}]", self.next() - 0.5, self.next() - 0.5, self.next() - 0.5)
    }
}

/// A forest of hinges, slides, cylinders, universal joints and free bodies; some links weigh nothing. Free bodies come first.
fn forest(r: &mut Random, bodies: usize) -> String {
    let (mut coordinates, mut parts) = (String::new(), String::new());
    let mut count = 0;
    let mut coordinate = |r: &mut Random| {
        let name = format!("q{count}");
        count += 1;
        let (start, rate) = (3.0 * r.next() - 1.5, 4.0 * r.next() - 2.0);
        let _ = writeln!(coordinates, "{name} = {{ start = {start}, rate = {rate} }}");
        name
    };
    let free = r.below(3);
    let mut light = false;
    for k in 0..bodies {
        let axis = |r: &mut Random| ["x", "y", "z"][r.below(3)];
        // what weighs nothing carries the next
        let on = match k {
            _ if light => Some(k - 1),
            _ if k == 0 || k < free || r.next() < 0.1 => None,
            _ => Some(k - 1 - r.below(k.min(3))),
        };
        light = r.next() < 0.15 && k + 1 < bodies && k >= free;
        let mut turns = true;
        let _ = writeln!(parts, "[[body]]\nname = \"b{k}\"");
        if k < free {
            let place = [0; 3].map(|_| format!("\"{}\"", coordinate(r))).join(", ");
            let _ = writeln!(parts, "position = [{place}]\nrotation = \"free\"\nspin = {}", r.three());
        } else {
            if let Some(on) = on {
                let _ = writeln!(parts, "on = \"b{on}\"");
            }
            match r.below(4) {
                0 => {
                    turns = false;
                    let _ = writeln!(parts, "position = [0.3, \"{}\", -0.2]", coordinate(r));
                }
                1 => {
                    let (s, a) = (coordinate(r), coordinate(r));
                    let _ = writeln!(parts, "position = [\"{s}\", 0.1, 0.4]\nrotation = [[\"x\", \"{a}\"]]");
                }
                2 => {
                    let (a, b) = (coordinate(r), coordinate(r));
                    let _ = writeln!(
                        parts,
                        "position = {}\nrotation = [[\"y\", \"{a}\"], [\"z\", \"{b}\"]]",
                        r.three()
                    );
                }
                _ => {
                    let (a, axis) = (coordinate(r), axis(r));
                    let _ = writeln!(parts, "position = {}\nrotation = [[\"{axis}\", \"{a}\"]]", r.three());
                }
            }
        }
        if !light {
            let (m, j) = (0.2 + r.next(), 0.05 + r.next());
            let _ = writeln!(parts, "mass = {m}");
            if !turns && on.is_none() {
                continue;
            }
            let _ = writeln!(
                parts,
                "inertia = [[{j}, 0.01, -0.02], [0.01, {}, 0.005], [-0.02, 0.005, {}]]\ncenter = {}",
                1.1 * j,
                1.2 * j,
                r.three()
            );
        }
    }
    format!("gravity = [0.4, -0.3, -9.81]\n[coordinates]\n{coordinates}{parts}[run]\nuntil = 0.1\n")
}

/// Largest difference of the two, relative to the largest acceleration; none where M is singular.
fn difference(system: &CompiledSystem, mode: Mode) -> Option<f64> {
    let state = system.start();
    let mut discrete = Discrete::new(&system.dims());
    let mut eval = system.memory();
    system.latch(&state, &mut discrete, &mut eval, false);
    discrete.modes.fill(mode);
    let mut of = |written: bool| {
        let mut solver = Accelerations::default();
        solver.of(system, &state, &discrete, &mut eval, written).map(<[f64]>::to_vec)
    };
    let (tree, matrix) = (of(false), of(true));
    assert_eq!(tree.is_some(), matrix.is_some());
    let (tree, matrix) = (tree?, matrix?);
    let size = matrix.iter().fold(1.0_f64, |m, a| m.max(a.abs()));
    Some(tree.iter().zip(&matrix).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / size)
}

#[test]
fn accelerations_along_random_trees_are_those_of_the_matrix() {
    let mut r = Random(7);
    let mut solved = 0;
    for _ in 0..60 {
        let bodies = 8 + r.below(25);
        let text = forest(&mut r, bodies);
        let Some(error) = difference(&compiled(&text), Mode::Open) else { continue };
        solved += 1;
        // M of thirty links on one another has a condition of 10⁶
        assert!(error < 1e-10, "{error:e}\n{text}");
    }
    assert!(solved > 30, "{solved}");
}

/// Columns of W go through the same factor: a pin closes a loop, a ball touches the floor and rubs.
#[test]
fn loops_and_contacts_are_solved_through_the_factor_of_the_tree() {
    let mut text = String::from("gravity = [0.4, -0.3, -9.81]\n[coordinates]\n");
    for k in 0..14 {
        let _ =
            writeln!(text, "q{k} = {{ start = {}, rate = {} }}", 0.3 + 0.1 * k as f64, 0.5 - 0.07 * k as f64);
    }
    for k in 0..14 {
        let place = match k {
            0 => "position = [0, 0, 3]".to_string(),
            7 => "position = [2, 0, 3]".to_string(),
            _ => format!("on = \"b{}\"\nposition = [0.1, 0.05, -0.5]", k - 1),
        };
        let axis = ["x", "y", "z"][k % 3];
        let _ = writeln!(
            text,
            "[[body]]\nname = \"b{k}\"\nmass = 1\ninertia = [0.1, 0.09, 0.02]\ncenter = [0.05, 0, -0.2]\nfeatures = {{ end = [0.1, 0, -0.4] }}\nrotation = [[\"{axis}\", \"q{k}\"]]\n{place}"
        );
    }
    let joined =
        format!("{text}[[contact]]\nname = \"loop\"\npin = [\"b6.end\", \"b13.end\"]\n[run]\nuntil = 0.1\n");
    let error = difference(&compiled(&joined), Mode::Closed).expect("M is definite");
    assert!(error < 1e-11, "{error:e}");
    let touching = format!(
        "{text}[ground]\nfloor = {{ through = [0, 0, 0], normal = [0, 0, 1] }}\n[[contact]]\nname = \"foot\"\nbetween = [\"b6.end\", \"ground.floor\"]\nfriction = 0.3\n[run]\nuntil = 0.1\n"
    );
    for mode in [Mode::Stick, Mode::Slip] {
        let error = difference(&compiled(&touching), mode).expect("M is definite");
        assert!(error < 1e-11, "{error:e}");
    }
}

/// Massless links whose masses add nothing about a joint: M is singular and only the pins make the motion definite.
#[test]
fn a_massless_part_in_a_long_chain_is_held_by_its_pins() {
    let mut text = String::from("gravity = [0, 0, -9.81]\n[coordinates]\n");
    for k in 0..12 {
        let _ = writeln!(text, "q{k} = {{ start = {}, rate = {} }}", 0.2 + 0.1 * k as f64, 0.3);
    }
    for k in 0..12 {
        let place = match k {
            0 => "position = [0, 0, 0]".to_string(),
            _ => format!("on = \"b{}\"\nposition = [0.1, 0, -1]", k - 1),
        };
        // the last is a point mass on its own axis: it turns without inertia
        let weight = match k {
            11 => "mass = 0.5\ncenter = [0, 0, 0]".to_string(),
            _ => "mass = 1\ninertia = [0.1, 0.09, 0.02]\ncenter = [0.05, 0, -0.5]".to_string(),
        };
        let axis = ["x", "y", "z"][k % 3];
        let _ = writeln!(
            text,
            "[[body]]\nname = \"b{k}\"\n{weight}\nrotation = [[\"{axis}\", \"q{k}\"]]\n{place}"
        );
    }
    text += "[[contact]]\nname = \"held\"\ngap = \"q11 - 0.5*q10\"\nbilateral = true\n[run]\nuntil = 0.1\n";
    let error = difference(&compiled(&text), Mode::Closed).expect("definite with its pin");
    assert!(error < 1e-9, "{error:e}");
}

/// A whole run with stages along the tree keeps its energy.
#[test]
fn a_long_chain_in_space_keeps_its_energy() {
    let mut r = Random(11);
    let text = forest(&mut r, 16);
    let run = Machine::read(&text).unwrap_or_else(|e| panic!("{e}")).run().unwrap_or_else(|e| panic!("{e}"));
    assert!(run.audit().passed, "{:?}", run.audit());
}
