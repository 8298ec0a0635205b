//! What texts mean and what is said of wrong ones.

use super::*;

#[test]
fn texts_have_their_values() {
    let at = [0.7, -1.3, 2.0, 0.25];
    let [x, y, z, t] = at;
    for (text, expected) in [
        ("-x^2", -(x * x)),
        ("2^3^2", 512.0),
        ("2^-1", 0.5),
        ("1 - 2 - 3", -4.0),
        ("8/4/2", 1.0),
        ("2*-3", -6.0),
        ("--3", 3.0),
        ("+x", x),
        ("x + 3 mm", x + 0.003),
        ("t/50 ms", t / 0.05),
        ("x - 30 deg", x - 30.0 * (std::f64::consts::PI / 180.0)),
        ("2 m*cos(x)", 2.0 * x.cos()),
        ("if(x > 0 and not y > 0, z, t)", z),
        ("if(x < 0 or y == -1.3, z, t)", z),
        ("if(x != 0.7, z, t)", t),
        ("mod(y, 1)", y - y.floor()),
        ("mod(7, 3)", 1.0),
        ("min(x, y, z)", y),
        ("max(x, y, z)", z),
        ("abs(y)*sign(y) + floor(y)", y - 2.0),
        ("hypot(x, y)", x.hypot(y)),
        ("atan2(y, x)", y.atan2(x)),
        ("sum(i = 1..3, mu[i]*i)", 0.5 + 0.9 + 1.2000000000000002),
        ("sum(i = 1..2, sum(j = 1..2, K[i][j]*i*j))", 1.0 + 4.0 + 6.0 + 16.0),
        ("sum(i = 1..0, x)", 0.0),
        ("f(x)", x.powi(3) + 2.0),
        ("f'(x)", 3.0 * x * x),
        ("f''(x)", 6.0 * x),
        ("g(y, z)", y * 10.0),
        ("sin'(x)", x.cos()),
        ("tab(0.5)", 1.0),
        ("tab'(x)", 2.0),
        ("if(n == 1, nothing[n], x)", x),
        ("if(n > 1 or nothing > 2, y, x)", y),
        ("pi", std::f64::consts::PI),
        ("1e3 + .5", 1000.5),
        ("log(exp(x)) + log10(100)", x + 2.0),
    ] {
        let found = value(text, &at).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert!(
            (found - expected).abs() <= 1e-15 * (1.0 + expected.abs()),
            "{text} = {found}, not {expected}"
        );
    }
}

#[test]
fn a_number_with_a_unit_expression_is_a_quantity() {
    for (text, expected) in [
        ("0.0056 N*m/rad", 0.0056),
        ("60 1/m", 60.0),
        ("1000 rpm", 1000.0 * (std::f64::consts::PI / 30.0)),
        ("5e-9 kg*m^2", 5e-9),
        ("9.81 m/s^2", 9.81),
        ("-33 N*m", -33.0),
        ("3.1 mm", 0.0031),
        ("0.3", 0.3),
        ("-4", -4.0),
    ] {
        assert_eq!(parse(text).unwrap().as_quantity().map(|q| q.0), Some(expected), "{text}");
    }
    assert_eq!(parse("5/3").unwrap().as_quantity(), None);
    assert_eq!(parse("2 m*cos(x)").unwrap().as_quantity(), None);
}

#[test]
fn a_unit_that_is_also_a_name_gives_a_warning() {
    let ast = parse("2 m*cos(a)").unwrap();
    let warnings = ast.unit_warnings(|name| name == "m");
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].span, Span::new(0, 3));
    assert_eq!(warnings[0].message, "`2 m` is two metres");
    assert!(warnings[0].help.contains("`2*m`"));
    assert!(ast.unit_warnings(|name| name == "s").is_empty());
}

#[test]
fn errors_point_at_the_place_and_say_what_to_do() {
    for (text, span, message, help) in [
        ("", (0, 0), "missing", "formula"),
        ("1 +", (3, 3), "ends where a value", ""),
        ("(x + 1", (0, 1), "not closed", "add `)`"),
        ("x + 1)", (5, 6), "closes nothing", ""),
        ("2x", (1, 2), "operator is missing", "`2*x`"),
        ("2 x", (2, 3), "operator is missing", "`2*x`"),
        ("30deg", (2, 5), "operator is missing", "`30 deg`"),
        ("x y", (2, 3), "operator is missing", "`x*y`"),
        ("x y'", (2, 3), "operator is missing", ""),
        ("x = 1", (2, 3), "`=`", "`==`"),
        ("1 < x < 2", (6, 7), "chained", "and"),
        ("x ** 2", (2, 4), "unexpected", "`^`"),
        ("x && y", (2, 4), "unexpected", "`and`"),
        ("x − 1", (2, 5), "unexpected", "`-`"),
        ("x²", (1, 3), "unexpected", "`^2`"),
        ("x + 2 m^2", (7, 8), "one simple unit", "parameter"),
        ("1e999", (0, 5), "too large", "inf"),
        ("sin(x, y)", (0, 9), "one argument", ""),
        ("sni(x)", (0, 6), "unknown function `sni`", "`sin`"),
        ("yy + 1", (0, 2), "unknown name `yy`", ""),
        ("nn", (0, 2), "unknown name `nn`", "did you mean `n`"),
        ("sin", (0, 3), "unknown name", "is a function"),
        ("mu[4]", (0, 5), "`mu[4]` is outside mu[1..3]", ""),
        ("mu[0]", (0, 5), "outside", ""),
        ("mu[1.5]", (3, 6), "whole number", ""),
        ("mu[x]", (3, 4), "load time", ""),
        ("mu", (0, 2), "a list of 3", "mu[i]"),
        ("a[1]", (0, 4), "not a list", ""),
        ("K[1][3]", (0, 7), "outside K[1][1..2]", ""),
        ("K[1]", (0, 4), "list of 2", ""),
        ("a.b", (2, 3), "no part `b`", ""),
        ("1 + (x > 0)", (4, 11), "a condition stands", "if("),
        ("if(x, 1, 2)", (3, 4), "a number stands", "x > 0"),
        ("if(x > 0, 1)", (0, 12), "`if` takes", ""),
        ("g'(x, y)", (0, 8), "one argument", ""),
        ("g(x)", (0, 4), "2 arguments (p, q)", ""),
        ("loop(x)", (0, 7), "calls itself", ""),
        ("1 + bad(x)", (4, 10), "in `bad`: unknown name `nothing`", ""),
        ("sum(i = 1..1e9, x)", (0, 18), "more than", ""),
        ("sum(i = 1, x)", (9, 10), "range", "sum(i = 1..n"),
        ("x'[1]", (2, 3), "", "x[i]'"),
        ("x(1)(2)", (4, 5), "", ""),
        ("and", (0, 3), "value", ""),
    ] {
        let error = value(text, &[1.0; 4]).expect_err(text);
        assert!(error.message.contains(message), "{text}: {error}");
        assert!(error.help.contains(help), "{text}: {error}");
        assert_eq!((error.span.start, error.span.end), span, "{text}: {error}");
    }
}

#[test]
fn deep_and_large_inputs_end_in_an_error_not_in_a_crash() {
    for text in [
        "(".repeat(100_000),
        "-".repeat(100_000) + "x",
        "x^".repeat(100_000) + "x",
        "sin(".repeat(100_000),
        "mu[".repeat(100_000),
        "if(x>0,".repeat(100_000),
        "sum(i=1..2,".repeat(100_000),
        "sum(i=1..1000,".repeat(5) + "x" + &")".repeat(5),
        "x".to_string() + &"'".repeat(100_000),
        "x+".repeat(2_000_000),
    ] {
        assert!(value(&text, &[1.0; 4]).is_err(), "{}", &text[..20]);
    }
    // long, but flat: allowed
    let sum = "x+".repeat(50_000) + "x";
    assert_eq!(value(&sum, &[1.0; 4]).unwrap(), 50_001.0);
    let product = "x*y/y*".repeat(10_000) + "x";
    assert_eq!(value(&product, &[1.0; 4]).unwrap(), 1.0);
    assert!(parse(&("(".repeat(190) + "x" + &")".repeat(190))).is_ok());
    // functions that double at each level stay small
    let (graph, _, _) = build("d49(x)").unwrap();
    assert!(graph.len() < 1000);
}

#[test]
fn names_are_listed_without_running_indices() {
    let ast = parse("rod.tip.x' + sum(i = 1..n, q[i]*i) + f'(b)").unwrap();
    let names: Vec<_> = ast.names().into_iter().map(|n| (n.name, n.primes, n.call)).collect();
    let expected = [("rod", 1, false), ("n", 0, false), ("q", 0, false), ("f", 1, true), ("b", 0, false)];
    assert_eq!(names, expected.map(|(n, p, c)| (n.to_string(), p, c)));
}

#[test]
fn ranges_are_read() {
    let (index, from, to) = parse_range("i = 1..n-1").unwrap();
    assert_eq!((index.as_str(), from.to_string().as_str(), to.to_string().as_str()), ("i", "1", "n - 1"));
    assert!(parse_range("i = 1").is_err());
}

#[test]
fn references_carry_dots_indices_and_primes() {
    struct Spy(Vec<String>);
    impl Resolver for Spy {
        fn name(&mut self, graph: &mut Graph, r: &Reference<'_>) -> Result<NodeId, ExprError> {
            self.0.push(r.text());
            Ok(graph.num(1.0))
        }
    }
    let mut spy = Spy(Vec::new());
    let mut graph = Graph::new();
    let i = graph.num(3.0);
    let ast = parse("x[i-1]' + rod.tip.x'' + a[1].b[2][i].c").unwrap();
    lower_with(&mut graph, &mut spy, &ast, &[("i", i)]).unwrap();
    assert_eq!(spy.0, ["x[2]'", "rod.tip.x''", "a[1].b[2][3].c"]);
}
