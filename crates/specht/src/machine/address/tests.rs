use super::*;
use crate::expr::quantity;
use crate::machine::table::Column;
use serde_json::json;

fn with<T>(f: impl Fn(&Data) -> T) -> T {
    let run = json!({
        "status": "finished", "time": 2.0,
        "start": { "x[3]'": 7.0, "phi''": -2.5, "mesh.low": { "normal": 3.0 },
                   "solutions": [ { "tip": { "normal": 0.0 } }, { "tip": { "normal": 28.5 } } ] },
        "final": { "x": 1.5, "x'": -0.5 },
        "outputs": { "F": 4.0 },
        "counts": { "events": { "impact": 3 } },
        "findings": { "cycle": { "period": 0.125, "multipliers": [0.5, 0.25] } },
        "events": [
            { "time": 0.1, "kind": "impact", "contacts": ["beak"], "impulse_n": { "beak": 0.5 }, "after": { "phi'": 1.0 } },
            { "time": 0.2, "kind": "stick", "contacts": ["lower"], "after": { "phi'": 2.0 } },
            { "time": 0.3, "kind": "impact", "contacts": ["mesh.low", "beak"],
              "impulse_n": { "mesh.low": 0.25, "beak": 0.75 }, "after": { "phi'": 3.0 } },
            { "time": 0.4, "kind": "impact", "contacts": ["mesh.high"], "impulse_n": { "mesh.high": 2.0 }, "after": { "phi'": 4.0 } },
        ],
    });
    let mut table = Table::default();
    table.push("t", Column::Numbers(vec![0.0, 1.0, 1.0, 2.0]));
    table.push("F", Column::Numbers(vec![0.0, 2.0, 6.0, 4.0]));
    table.push("tip.mode", Column::Words(vec!["stick", "stick", "open", "open"]));
    f(&Data { run: &run, table: &table, locals: &[("w".to_string(), Value::Number(3.0))] })
}

fn number(text: &str) -> f64 {
    with(|data| match evaluate(text, data) {
        Ok(Value::Number(x)) => x,
        other => panic!("{text}: {other:?}"),
    })
}

fn error(text: &str) -> String {
    with(|data| evaluate(text, data).expect_err(text))
}

#[test]
fn paths_reach_keys_with_dots_brackets_and_primes() {
    assert_eq!(number("time"), 2.0);
    assert_eq!(number("start.x[3]'"), 7.0);
    assert_eq!(number("start.phi''"), -2.5);
    assert_eq!(number("start.mesh.low.normal"), 3.0);
    assert_eq!(number("start.solutions[2].tip.normal"), 28.5);
    assert_eq!(number("count(start.solutions)"), 2.0);
    assert_eq!(number("final.x'"), -0.5);
    assert_eq!(number("counts.events.impact"), 3.0);
    assert_eq!(number("findings.cycle.multipliers[-1]"), 0.25);
}

#[test]
fn addresses_are_values_of_expressions() {
    assert_eq!(number("1/findings.cycle.period"), 8.0);
    assert_eq!(number("-final.x^2 + 250 ms"), -2.0);
    assert_eq!(number("2*w-1"), 5.0);
    assert_eq!(number("cosh(0*w)"), 1.0);
    assert_eq!(number("abs(final.x')*2"), 1.0);
    assert_eq!(number("max(final.x, final.x', 3)"), 3.0);
    assert_eq!(with(|d| evaluate("time > 1.5", d)), Ok(Value::Bool(true)));
    assert_eq!(with(|d| evaluate("status", d)), Ok(Value::Text("finished".into())));
}

#[test]
fn filters_pick_events_and_a_contact_picks_its_number() {
    assert_eq!(number("count(events[kind=impact])"), 3.0);
    assert_eq!(number("events[kind=impact, contact=beak][1].time"), 0.1);
    assert_eq!(number("events[kind=impact, contact=beak][2].impulse_n"), 0.75);
    assert_eq!(number("sum(events[kind=impact, contact=beak].impulse_n)"), 1.25);
    assert_eq!(number("events[kind=impact][-1].after.phi'"), 4.0);
    assert_eq!(number("count(events[time>0.15])"), 3.0);
    assert_eq!(number("count(events[kind=impact|stick, after=0.15, before=0.35])"), 2.0);
    assert_eq!(number("mean(diff(events[kind=impact].time))"), 0.15000000000000002);
}

#[test]
fn a_play_is_addressed_as_one() {
    assert_eq!(number("count(events[contact=mesh])"), 2.0);
    assert_eq!(number("sum(events[contact=mesh].impulse_n)"), 2.25);
    assert_eq!(number("count(events[contact=mesh.low])"), 1.0);
}

#[test]
fn series_functions_weigh_with_time_and_keep_both_sides_of_a_jump() {
    assert_eq!(number("outputs.F"), 4.0);
    assert_eq!(number("max(outputs.F)"), 6.0);
    assert_eq!(number("span(outputs.F)"), 6.0);
    assert_eq!(number("mean(outputs.F)"), 3.0); // (1 + 5)/2
    assert_eq!(number("mean(outputs.F, 0.5, 1)"), 3.5 - 0.0 * 0.5 - 2.0); // linear from 1 to 2
    assert_eq!(number("integral(outputs.F, 1, 2)"), 5.0);
    assert!((number("rms(outputs.F, 0, 1)") - (4.0f64 / 3.0).sqrt()).abs() < 1e-15);
    assert_eq!(number("at(outputs.F, 0.5)"), 1.0);
    assert_eq!(number("max(F, 0, 0.5)"), 1.0);
    assert_eq!(number("at(trajectory.F, 1)"), 6.0);
    assert_eq!(number("envelope(outputs.F)[1]"), 6.0);
}

#[test]
fn sequences_are_words_of_contacts() {
    let word = with(|d| evaluate("sequence(events[kind=impact].contacts)", d));
    assert_eq!(word, Ok(Value::Cycle(vec!["beak".into(), "mesh.low+beak".into(), "mesh.high".into()])));
}

#[test]
fn bad_addresses_are_refused_with_a_hint() {
    assert!(error("finl.x").contains("did you mean `final`"));
    assert!(error("final.y").contains("there are x, x'") || error("final.y").contains("did you mean `x`"));
    assert!(error("events[9].time").contains("list of 4"));
    assert!(error("max(outputs.G)").contains("no column `G`"));
    assert!(error("maxx(outputs.F)").contains("did you mean `max`"));
    assert!(error("events[kind]").contains("kind=impact"));
    assert!(error("status + 1").contains("not a number"));
    assert!(error("time)").contains("closes nothing"));
    assert!(error("events[kind=impact").contains("condition such as `kind=impact`"));
    assert!(error(&"(".repeat(1000)).contains("levels deep"));
    assert!(error("").contains("missing"));
}

#[test]
fn no_text_makes_the_reader_panic() {
    let pieces =
        ["(", ")", "[", "]", ".", "'", "e", "1", "-", "kind=", "ä", "\"", "^", "max", ",", " ", "1e", "°"];
    let mut seed = 1u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..8 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            text += pieces[(seed >> 33) as usize % pieces.len()];
        }
        let _ = with_unit(&text);
    }
    fn with_unit(text: &str) -> Result<Value, String> {
        evaluate(text, &Data { run: &Json::Null, table: &Table::default(), locals: &[] })
    }
}

#[test]
fn quantities_carry_compound_units() {
    assert_eq!(quantity("0.0056 N*m/rad"), Ok(0.0056));
    assert_eq!(quantity("8.90 Hz"), Ok(8.9));
    assert_eq!(quantity("3 mm"), Ok(0.003));
    assert_eq!(quantity("5/4"), Ok(1.25));
    assert!(quantity("finished").is_err());
}

/// F rises from 0 to 2, jumps to 6 and falls to 4, a second each.
#[test]
fn spread_quantiles_and_numbers_per_period() {
    let deviation = (40.0_f64 / 3.0 - 9.0).sqrt();
    assert!((number("std(outputs.F)") - deviation).abs() < 1e-12);
    assert!((number("quantile(outputs.F, 0.25)") - 1.0).abs() < 1e-12);
    assert!((number("quantile(outputs.F, 0.75)") - 5.0).abs() < 1e-12);
    assert!((number("quantile(outputs.F, 0.5, 0, 1)") - 1.0).abs() < 1e-12);
    assert!((number("quantile(events[kind=impact].time, 0.5)") - 0.3).abs() < 1e-15);
    assert!((number("std(events[kind=impact].time)") - (0.26_f64 / 3.0 - 0.64 / 9.0).sqrt()).abs() < 1e-12);
    assert!((number("per(count(events[kind=impact]), 0.5)") - 0.75).abs() < 1e-15);
    assert!((number("per(3, 0.5, 1, 2)") - 1.5).abs() < 1e-15);
    assert!((number("spectrum(outputs.F, 0)") - 3.0).abs() < 1e-12);
    assert!(number("area(envelope(outputs.F))") > 0.0);
    for (text, said) in [
        ("quantile(outputs.F)", "share"),
        ("quantile(outputs.F, 2)", "between 0 and 1"),
        ("spectrum(outputs.F)", "frequency"),
        ("area(outputs.F)", "envelope"),
        ("per(2)", "period"),
    ] {
        assert!(error(text).contains(said), "{text}: {}", error(text));
    }
}
