//! Reading problems: what is refused, and how the message names the entry.

use super::*;

fn refusal(text: &str) -> String {
    let v = parse(text).unwrap();
    read_problem(v.as_object().unwrap()).unwrap_err().message
}

const IDENTITY: &str = "[[1,0,0],[0,1,0],[0,0,1]]";

#[test]
fn a_contact_problem_in_w_form_is_read() {
    let text = format!(r#"{{"dimension":3,"mu":[0.5],"W":{IDENTITY},"q":[-1,0.2,0]}}"#);
    let v = parse(&text).unwrap();
    let p = read_problem(v.as_object().unwrap()).unwrap();
    let s = specht::cone::solve(&p).unwrap();
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
    let v = parse(&body("[[1,2],[2,1]]")).unwrap();
    let p = read_problem(v.as_object().unwrap()).unwrap();
    assert!(specht::cone::solve(&p).unwrap_err().to_string().contains("positive definite"));
}

#[test]
fn infinity_in_a_sparse_matrix_is_named() {
    let text = r#"{"dimension":2,"mu":[0.5],"W":{"rows":2,"cols":2,"i":[0,1],"j":[0,1],"v":[1,Infinity]},"q":[1,0]}"#;
    assert!(refusal(text).contains("W.v[1]"));
}
