//! Switches: sharing, latching, guards, crossing.

use super::*;

fn tape(texts: &[&str]) -> (Tape, SwitchSet) {
    let mut graph = Graph::new();
    let mut names = Names::new(&mut graph);
    let roots: Vec<_> =
        texts.iter().map(|t| lower(&mut graph, &mut names, &parse(t).unwrap()).unwrap()).collect();
    let mut switches = SwitchSet::new();
    (Tape::with_switches(&graph, &roots, &mut switches), switches)
}

#[test]
fn everything_that_asks_for_one_sign_is_one_switch() {
    let (_, switches) = tape(&[
        "abs(x)",
        "sign(x)",
        "if(x > 0, 1, 2)",
        "if(x <= 0, y, 2)",
        "abs(-x)",
        "max(x, 0)",
        "sign'(x) + abs'(x)",
    ]);
    assert_eq!(switches.len(), 1);
    let (_, switches) = tape(&["min(x, y)", "max(x, y)", "if(y < x, 1, 2)", "abs(y - x)"]);
    assert_eq!(switches.len(), 1);
    let (_, switches) = tape(&["abs(a - 5)", "floor(2.5)", "if(a > 1, x, abs(x))", "tab(0.3)"]);
    assert_eq!(switches.len(), 0);
}

#[test]
fn a_latched_branch_goes_on_smoothly_beyond_its_border_and_the_guard_says_so() {
    // text, start, beyond, value of the frozen branch there, guard there
    for (text, start, beyond, frozen, guard) in [
        ("abs(x)", 1.0, -0.25, -0.25, -0.25),
        ("abs(x)", -1.0, 0.25, -0.25, -0.25),
        ("if(x > 1, x^2, 7)", 2.0, 0.5, 0.25, -0.5),
        ("max(x, 0)", -1.0, 0.5, 0.0, -0.5),
        ("floor(x)", 2.5, 3.25, 2.0, -0.25),
        ("mod(x, 2)", 3.0, 4.5, 2.5, -0.25),
        ("tab(x)", 0.5, 1.25, 2.5, -0.25),
        ("tab(x)", 0.5, -0.5, -1.0, -0.5),
        ("tab(x)", -3.0, 1.0, -0.5, -2.0),
    ] {
        let (tape, switches) = tape(&[text]);
        assert_eq!(switches.len(), 1, "{text}");
        let mut work = tape.workspace();
        let (mut latches, mut guards) = ([0.0], [0.0]);
        tape.latch(&[start], &mut work, &mut latches);
        tape.guards(&work, &mut guards);
        assert!(guards[0] > 0.0, "{text} at its start");
        tape.eval_latched(&[beyond], &mut work, &latches);
        tape.guards(&work, &mut guards);
        assert_eq!((tape.output(&work, 0), guards[0]), (frozen, guard), "{text}");
    }
}

#[test]
fn at_a_border_the_rate_decides() {
    for (text, at, up, down) in [
        ("abs(x)", 0.0, 1.0, -1.0),
        ("abs(x - 3)", 3.0 + 1e-15, 1.0, -1.0),
        ("floor(x)", 3.0, 3.0, 2.0),
        ("tab(x)", 1.0, 2.0, 1.0),
        ("tab(x)", 1.0 - 1e-15, 2.0, 1.0),
    ] {
        let (tape, _) = tape(&[text]);
        let mut work = tape.workspace();
        let mut latches = [0.0];
        for (rate, side) in [(1.0, up), (-1.0, down)] {
            let how = Settling { moving: &[true; 8], time: 0.0, before: None, given: &[] };
            tape.settle(&[at], &mut work, &mut latches, &how, |_, _| rate);
            assert_eq!(latches[0], side, "{text} with rate {rate}");
        }
    }
}

#[test]
fn a_switch_inside_a_switch_takes_the_outer_one_along() {
    // x has just reached `at`, where the inner floor goes from `inner` to the next; both names are its sides and those of the outer switch
    for (text, at, before, after) in [
        ("if(mod(x, 2) < 0.5, 1, 0)", 4.0, [1.0, 1.0], [2.0, -1.0]),
        ("floor(3*mod(x, 1))", 7.0, [6.0, 2.0], [7.0, 0.0]),
        ("max(0.25, mod(x, 1))", 1.0, [0.0, -1.0], [1.0, 1.0]),
        ("if(floor(x) == 5, 1, 0)", 5.0, [4.0, -1.0], [5.0, 0.0]),
        ("if(floor(x) == 5, 1, 0)", 6.0, [5.0, 0.0], [6.0, 1.0]),
        ("tab(4*mod(x, 1) - 2)", 1.0, [0.0, 2.0], [1.0, -1.0]),
    ] {
        let (tape, _) = tape(&[text]);
        let mut work = tape.workspace();
        let order: Vec<usize> = tape.switches().collect();
        let by_number = |sides: [f64; 2]| {
            let mut out = [0.0; 2];
            order.iter().zip(sides).for_each(|(&k, side)| out[k] = side);
            out
        };
        let (mut sides, mut old) = (by_number(before), [0.0; 2]);
        tape.eval_latched(&[at], &mut work, &sides);
        tape.switch_arguments(&work, &mut old);
        sides[order[0]] = after[0];
        let how = Settling { moving: &[true; 8], time: at, before: Some(&old), given: &[] };
        tape.settle(&[at], &mut work, &mut sides, &how, |_, _| 1.0);
        assert_eq!(sides, by_number(after), "{text}");
    }
}

#[test]
fn what_stands_still_has_the_side_of_its_value() {
    // max(0, x) rests on zero while x is negative: neither positive nor negative
    let (tape, _) = tape(&["if(max(0, x) == 0, 1, 2) + if(max(0, x) > 0, 10, 20)"]);
    let mut work = tape.workspace();
    let mut sides = [0.0; 2];
    for (x, value) in [(-1.0, 21.0), (0.5, 12.0), (-0.5, 21.0)] {
        let how = Settling { moving: &[true; 8], time: 0.0, before: None, given: &[] };
        tape.settle(&[x], &mut work, &mut sides, &how, |_, _| 0.0);
        assert_eq!(tape.output(&work, 0), value, "x = {x}");
    }
}

#[test]
fn conditions_are_made_of_latched_comparisons() {
    let (tape, switches) = tape(&["if(x > 0 and y > 0 or not z > 0, 1, 0)"]);
    assert_eq!(switches.len(), 3);
    let mut work = tape.workspace();
    for bits in 0..8 {
        let side = |b: i32| if bits >> b & 1 == 1 { 1.0 } else { -1.0 };
        let (x, y, z) = (side(0), side(1), side(2));
        let mut latches = [0.0; 3];
        tape.latch(&[x, y, z], &mut work, &mut latches);
        tape.eval_latched(&[0.0; 3], &mut work, &latches);
        let expected = f64::from(u8::from(x > 0.0 && y > 0.0 || z <= 0.0));
        assert_eq!(tape.output(&work, 0), expected);
    }
}

#[test]
fn tapes_with_one_set_share_their_latches() {
    let mut graph = Graph::new();
    let mut names = Names::new(&mut graph);
    let mut node = |text: &str| lower(&mut graph, &mut names, &parse(text).unwrap()).unwrap();
    let (a, b) = (node("abs(x) + abs(y)"), node("sign(y)*z + floor(t)"));
    let mut switches = SwitchSet::new();
    let first = Tape::with_switches(&graph, &[a], &mut switches);
    let second = Tape::with_switches(&graph, &[b], &mut switches);
    assert_eq!(switches.len(), 3);
    assert_eq!(second.switches().collect::<Vec<_>>(), [1, 2]);
    let mut latches = vec![0.0; switches.len()];
    first.latch(&[1.0, -1.0], &mut first.workspace(), &mut latches);
    second.latch(&[1.0, -1.0, 0.0, 4.5], &mut second.workspace(), &mut latches);
    assert_eq!(latches, [1.0, -1.0, 4.0]);
}

#[test]
fn an_undefined_value_in_the_branch_not_taken_has_no_effect_on_value_or_derivative() {
    let (mut graph, _, node) = build("if(x > 0, sqrt(x), x^2)").unwrap();
    let slope = graph.diff(node, Symbol(0));
    let tape = Tape::new(&graph, &[node, slope]);
    let mut work = tape.workspace();
    tape.eval(&[-3.0], &mut work);
    assert_eq!((tape.output(&work, 0), tape.output(&work, 1)), (9.0, -6.0));
}

/// The pendulum with a one-sided spring: potential, its derivative, and the switch at `phi = 0`.
#[test]
fn from_text_to_numbers_with_a_frozen_branch() -> Result<(), ExprError> {
    use crate::expr::{self, Derivation, Graph, NodeId, Reference, Resolver, SwitchSet, Symbol, Tape};

    struct Names; // phi is input 0, phi' input 1, l a parameter

    impl Resolver for Names {
        fn name(&mut self, graph: &mut Graph, r: &Reference<'_>) -> Result<NodeId, ExprError> {
            match (r.simple(), r.primes) {
                (Some("phi"), k @ 0..=1) => Ok(graph.sym(Symbol(k))),
                (Some("l"), 0) => Ok(graph.num(0.5)),
                _ => Err(expr::unknown_name(&r.text(), r.span, ["phi", "l"])),
            }
        }
    }
    let mut graph = Graph::new();
    let ast = expr::parse("-9.81*l*cos(phi) + 20*max(0, phi)^2")?;
    let potential = lower(&mut graph, &mut Names, &ast)?;

    let force = graph.diff(potential, Symbol(0));
    let rate = graph.sym(Symbol(1));
    let power = Derivation::new([(Symbol(0), rate)]).of(&mut graph, potential);

    let mut switches = SwitchSet::new();
    let tape = Tape::with_switches(&graph, &[force, power], &mut switches);
    let mut work = tape.workspace();
    tape.eval(&[0.3, 2.0], &mut work);
    assert!((tape.output(&work, 0) - (9.81 * 0.5 * 0.3f64.sin() + 40.0 * 0.3)).abs() < 1e-14);
    assert!((tape.output(&work, 1) - 2.0 * tape.output(&work, 0)).abs() < 1e-13);

    // freeze the branch phi > 0: the function stays smooth through zero, and the guard tells where it ceases to hold
    let mut latches = vec![0.0; switches.len()];
    let mut guards = vec![0.0; switches.len()];
    tape.latch(&[0.3, 2.0], &mut work, &mut latches);
    tape.eval_latched(&[-0.1, 2.0], &mut work, &latches);
    tape.guards(&work, &mut guards);
    assert!((guards[0] + 0.1).abs() < 1e-15);
    Ok(())
}
