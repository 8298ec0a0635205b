//! Reading problems: what is refused, and how the message names the entry.

use super::*;

use crate::cone::solve;

fn refusal(text: &str) -> String {
    Posed::read(text).unwrap_err().message
}

fn problem(text: &str) -> Problem {
    match Posed::read(text).unwrap() {
        Posed::Contacts(p) => p,
        Posed::Lcp { .. } => panic!("an LCP"),
    }
}

const IDENTITY: &str = "[[1,0,0],[0,1,0],[0,0,1]]";

#[test]
fn a_contact_problem_in_w_form_is_read() {
    let text = format!(r#"{{"dimension":3,"mu":[0.5],"W":{IDENTITY},"q":[-1,0.2,0]}}"#);
    let s = solve(&problem(&text)).unwrap();
    assert_eq!(s.status, Status::Solved);
    assert!((s.r[0] - 1.0).abs() < 1e-12 && (s.r[1] + 0.2).abs() < 1e-12);
}

#[test]
fn wrong_entries_are_named() {
    let w = |mu: &str, w: &str, q: &str| format!(r#"{{"dimension":3,"mu":{mu},"W":{w},"q":{q}}}"#);
    assert!(refusal(&w("[0.5]", "[[1,0,0],[0,NaN,0],[0,0,1]]", "[1,0,0]")).contains("W[1][1]"));
    assert!(refusal(&w("[-0.5]", IDENTITY, "[1,0,0]")).contains("contact 0"));
    assert!(refusal(&w("[0.5]", IDENTITY, "[1,0]")).contains("q has 2 entries, expected 3"));
    assert!(refusal(&w("[0.5, 0.1]", IDENTITY, "[1,0,0]")).contains("expected 6"));
    assert!(refusal(&w("[0.5]", "[[1,0,0],[0,1],[0,0,1]]", "[1,0,0]")).contains("W[1]"));
    let body = |m: &str| format!(r#"{{"dimension":2,"mu":[0.5],"M":{m},"H":[[1,0],[0,1]],"v_free":[0,-1]}}"#);
    assert!(refusal(&body("[[1,0.5],[0,1]]")).contains("not symmetric"));
    assert!(refusal(&body("[[1,0],[0,0]]")).contains("M[1][1]"));
    assert!(refusal(&body("[1,-2]")).contains("M[1][1]"));
    assert!(solve(&problem(&body("[[1,2],[2,1]]"))).unwrap_err().to_string().contains("positive definite"));
}

#[test]
fn infinity_in_a_sparse_matrix_is_named() {
    let text = r#"{"dimension":2,"mu":[0.5],"W":{"rows":2,"cols":2,"i":[0,1],"j":[0,1],"v":[1,Infinity]},"q":[1,0]}"#;
    assert!(refusal(text).contains("W.v[1]"));
}

#[test]
fn what_is_written_reads_back_to_the_same_problem() {
    let text = r#"{"contacts":[{"law":"elliptic","mu":[0.3,0.6]},{"law":"guide","mu":0.1,"rows":2},{"law":"rolling","mu":0.2,"rows":1},
        {"law":"loaded","bound":1.5},{"law":"bilateral","rows":1}],"M":[1,2,3,4,5,6,7,8,9],"H":{"rows":9,"cols":9,"i":[0,7],"j":[0,7],"v":[1,-2.5]},
        "v_free":[0,0,0,0,0,0,0,0,0],"w":[1,2,3,4,5,6,7,8,9]}"#;
    let mixed = problem(text);
    let wall = crate::cone::problems::wall(2, 2, 0.5, 1);
    for p in [mixed, wall] {
        let text = serde_json::to_string(&p).unwrap();
        let again: Problem = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
        assert_eq!((&again.contacts, &again.q), (&p.contacts, &p.q));
    }
    assert!(matches!(Posed::read(r#"{"A":[[2]],"b":[-1]}"#).unwrap(), Posed::Lcp { .. }));
}
