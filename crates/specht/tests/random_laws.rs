//! Random laws of force with nested switches (`if`, `mod`, `floor`, `max`, tables, …) against an integration that shares nothing
//! with the engine: the formula is evaluated by direct recursion, and the motion follows by Runge's classical method with
//! small fixed steps, cut by bisection wherever one of the decisions of the formula changes.

mod lab;

use lab::Dice;
use specht::inside::build;
use specht::inside::{Options, read};
use specht::sim::{Record, Settings, Status, event_driven};

/// End of every run.
const UNTIL: f64 = 2.0;
/// Decisions that change more often than this are not followed (both methods would chatter).
const CHANGES: usize = 1000;

#[derive(Clone, Debug)]
enum Law {
    Number(f64),
    /// t, x, x'.
    Input(usize),
    Sin(Box<Law>),
    Add(Box<Law>, Box<Law>),
    Sub(Box<Law>, Box<Law>),
    Mul(Box<Law>, Box<Law>),
    Abs(Box<Law>),
    Sign(Box<Law>),
    Floor(Box<Law>),
    Mod(Box<Law>, f64),
    Min(Box<Law>, Box<Law>),
    Max(Box<Law>, Box<Law>),
    Table(usize, Box<Law>),
    If(Box<Condition>, Box<Law>, Box<Law>),
}

#[derive(Clone, Debug)]
enum Condition {
    /// <, <=, >, >= between two laws.
    Compare(usize, Law, Law),
    /// floor(law) == number.
    Equal(Law, f64),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
}

/// Points and the rule beyond the ends: 0 hold, 1 extend, 2 repeat.
const TABLES: [(&[[f64; 2]], usize); 3] = [
    (&[[0.0, 0.0], [0.5, 1.0], [1.0, 0.25], [2.0, 1.5]], 0),
    (&[[-0.3, -1.0], [0.2, 0.5], [0.2, 1.25], [0.9, 0.0]], 1),
    (&[[0.0, 0.5], [0.25, 1.0], [0.6, -0.5], [0.7, 0.5]], 2),
];

fn header() -> String {
    let ends = ["hold", "extend", "repeat"];
    let tables: Vec<String> = (TABLES.iter().enumerate())
        .map(|(i, (p, e))| format!("f{i} = {{ table = {p:?}, ends = \"{}\" }}", ends[*e]))
        .collect();
    format!(
        "name = \"law\"\ncoordinates = {{ x = {{ start = 0.1, rate = 0.2 }} }}\n\
         body = [{{ name = \"b\", mass = 1, position = [\"x\", 0] }}]\n[define]\n{}\n",
        tables.join("\n")
    )
}

struct Maker {
    dice: Dice,
    inputs: usize,
}

impl Maker {
    fn pick(&mut self, n: usize) -> usize {
        (self.dice.range(0.0, n as f64) as usize).min(n - 1)
    }

    fn number(&mut self, low: f64, high: f64) -> f64 {
        (self.dice.range(low, high) * 100.0).round() / 100.0
    }

    fn law(&mut self, depth: usize) -> Law {
        if depth == 0 {
            return match self.pick(4) {
                0 => Law::Number(self.number(-2.0, 2.0)),
                _ => Law::Input(self.pick(self.inputs)),
            };
        }
        let next = |m: &mut Maker| Box::new(m.law(depth - 1));
        match self.pick(16) {
            0 => Law::Add(next(self), next(self)),
            1 => Law::Sub(next(self), next(self)),
            2 => Law::Mul(Box::new(Law::Number(self.number(-3.0, 3.0))), next(self)),
            3 => Law::Mul(next(self), next(self)),
            4 => Law::Sin(Box::new(Law::Mul(Box::new(Law::Number(self.number(1.0, 9.0))), next(self)))),
            5 => Law::Abs(next(self)),
            6 => Law::Sign(next(self)),
            7 => Law::Floor(next(self)),
            8 | 9 => Law::Mod(next(self), self.number(0.15, 1.2)),
            10 => Law::Min(next(self), next(self)),
            11 => Law::Max(next(self), next(self)),
            12 | 13 => Law::Table(self.pick(TABLES.len()), next(self)),
            _ => Law::If(Box::new(self.condition(depth - 1)), next(self), next(self)),
        }
    }

    fn condition(&mut self, depth: usize) -> Condition {
        match self.pick(if depth == 0 { 5 } else { 8 }) {
            0..4 => Condition::Compare(self.pick(4), self.law(depth), self.law(depth)),
            4 => Condition::Equal(self.law(depth), self.pick(3) as f64),
            5 => Condition::And(Box::new(self.condition(depth - 1)), Box::new(self.condition(depth - 1))),
            6 => Condition::Or(Box::new(self.condition(depth - 1)), Box::new(self.condition(depth - 1))),
            _ => Condition::Not(Box::new(self.condition(depth - 1))),
        }
    }
}

impl Law {
    fn text(&self) -> String {
        match self {
            Law::Number(v) => format!("({v})"),
            Law::Input(k) => ["(t/(1 s))", "x", "x'"][*k].to_string(),
            Law::Sin(a) => format!("sin({})", a.text()),
            Law::Add(a, b) => format!("({} + {})", a.text(), b.text()),
            Law::Sub(a, b) => format!("({} - {})", a.text(), b.text()),
            Law::Mul(a, b) => format!("{}*{}", a.text(), b.text()),
            Law::Abs(a) => format!("abs({})", a.text()),
            Law::Sign(a) => format!("sign({})", a.text()),
            Law::Floor(a) => format!("floor({})", a.text()),
            Law::Mod(a, p) => format!("mod({}, {p})", a.text()),
            Law::Min(a, b) => format!("min({}, {})", a.text(), b.text()),
            Law::Max(a, b) => format!("max({}, {})", a.text(), b.text()),
            Law::Table(k, a) => format!("f{k}({})", a.text()),
            Law::If(c, a, b) => format!("if({}, {}, {})", c.text(), a.text(), b.text()),
        }
    }
}

impl Condition {
    fn text(&self) -> String {
        match self {
            Condition::Compare(op, a, b) => {
                format!("{} {} {}", a.text(), ["<", "<=", ">", ">="][*op], b.text())
            }
            Condition::Equal(a, v) => format!("floor({}) == {v}", a.text()),
            Condition::And(a, b) => format!("({}) and ({})", a.text(), b.text()),
            Condition::Or(a, b) => format!("({}) or ({})", a.text(), b.text()),
            Condition::Not(a) => format!("not ({})", a.text()),
        }
    }
}

/// Evaluation by recursion. Decisions are made freely and written down, or read from what was written.
struct Walk<'a> {
    at: [f64; 3],
    frozen: Option<&'a [i64]>,
    place: usize,
    made: Vec<i64>,
}

impl Walk<'_> {
    fn decide(&mut self, free: f64) -> f64 {
        let decision = match self.frozen {
            Some(list) => list[self.place],
            None => free.clamp(-1e15, 1e15) as i64,
        };
        self.place += 1;
        self.made.push(decision);
        decision as f64
    }

    fn sign(&mut self, v: f64) -> f64 {
        self.decide(f64::from(i8::from(v > 0.0) - i8::from(v < 0.0)))
    }

    fn law(&mut self, law: &Law) -> f64 {
        match law {
            Law::Number(v) => *v,
            Law::Input(k) => self.at[*k],
            Law::Sin(a) => self.law(a).sin(),
            Law::Add(a, b) => self.law(a) + self.law(b),
            Law::Sub(a, b) => self.law(a) - self.law(b),
            Law::Mul(a, b) => self.law(a) * self.law(b),
            Law::Abs(a) => {
                let v = self.law(a);
                self.sign(v) * v
            }
            Law::Sign(a) => {
                let v = self.law(a);
                self.sign(v)
            }
            Law::Floor(a) => {
                let v = self.law(a);
                self.decide(v.floor())
            }
            Law::Mod(a, p) => {
                let v = self.law(a);
                v - p * self.decide((v / p).floor())
            }
            Law::Min(a, b) => {
                let (a, b) = (self.law(a), self.law(b));
                if self.sign(a - b) < 0.0 { a } else { b }
            }
            Law::Max(a, b) => {
                let (a, b) = (self.law(a), self.law(b));
                if self.sign(a - b) > 0.0 { a } else { b }
            }
            Law::Table(k, a) => {
                let v = self.law(a);
                self.table(*k, v)
            }
            Law::If(c, a, b) => {
                if self.condition(c) {
                    self.law(a)
                } else {
                    self.law(b)
                }
            }
        }
    }

    fn table(&mut self, k: usize, x: f64) -> f64 {
        let (points, ends) = TABLES[k];
        let n = points.len();
        let mut x = x;
        if ends == 2 {
            let period = points[n - 1][0] - points[0][0];
            x -= period * self.decide(((x - points[0][0]) / period).floor());
        }
        // number of points at or left of x
        let i = self.decide(points.iter().filter(|p| p[0] <= x).count() as f64) as usize;
        let line = |i: usize, x: f64| {
            let (a, b) = (points[i - 1], points[i]);
            a[1] + (b[1] - a[1]) / (b[0] - a[0]) * (x - a[0])
        };
        match (i, ends) {
            (0, 0) => points[0][1],
            (0, _) => line(1, x),
            (i, 0) if i == n => points[n - 1][1],
            (i, _) => line(i.min(n - 1), x),
        }
    }

    fn condition(&mut self, c: &Condition) -> bool {
        match c {
            Condition::Compare(op, a, b) => {
                let d = self.law(a) - self.law(b);
                let s = self.sign(d);
                [s < 0.0, s <= 0.0, s > 0.0, s >= 0.0][*op]
            }
            Condition::Equal(a, v) => {
                let value = self.law(a);
                self.decide(value.floor()) == *v
            }
            Condition::And(a, b) => {
                let (a, b) = (self.condition(a), self.condition(b));
                a && b
            }
            Condition::Or(a, b) => {
                let (a, b) = (self.condition(a), self.condition(b));
                a || b
            }
            Condition::Not(a) => !self.condition(a),
        }
    }
}

fn decisions(law: &Law, at: [f64; 3]) -> Vec<i64> {
    let mut walk = Walk { at, frozen: None, place: 0, made: Vec::new() };
    walk.law(law);
    walk.made
}

fn frozen(law: &Law, at: [f64; 3], decisions: &[i64]) -> f64 {
    Walk { at, frozen: Some(decisions), place: 0, made: Vec::new() }.law(law)
}

/// One step of the classical Runge–Kutta method with frozen decisions.
fn step(law: &Law, push: f64, [t, x, v]: [f64; 3], h: f64, d: &[i64]) -> [f64; 3] {
    let f = |t: f64, x: f64, v: f64| frozen(law, [t, x, v], d) + push;
    let a1 = f(t, x, v);
    let a2 = f(t + 0.5 * h, x + 0.5 * h * v, v + 0.5 * h * a1);
    let (v2, v3) = (v + 0.5 * h * a1, v + 0.5 * h * a2);
    let a3 = f(t + 0.5 * h, x + 0.5 * h * v2, v3);
    let v4 = v + h * a3;
    let a4 = f(t + h, x + h * v3, v4);
    [t + h, x + h * (v + 2.0 * v2 + 2.0 * v3 + v4) / 6.0, v + h * (a1 + 2.0 * a2 + 2.0 * a3 + a4) / 6.0]
}

/// The motion under the law and a constant force; none when it chatters or runs away.
fn reference(law: &Law, push: f64, longest: f64) -> Option<[f64; 2]> {
    let mut s = [0.0, 0.1, 0.2];
    let mut changes = 0;
    while s[0] < UNTIL {
        let d = decisions(law, s);
        let whole = longest.min(UNTIL - s[0]);
        let same = |h: f64| decisions(law, step(law, push, s, h, &d)) == d;
        // the first of a few points where the decisions differ, then bisection
        let parts = [0.25, 0.5, 0.75, 1.0];
        match parts.iter().position(|p| !same(p * whole)) {
            None => s = step(law, push, s, whole, &d),
            Some(i) => {
                let mut low = if i == 0 { 0.0 } else { parts[i - 1] * whole };
                let mut high = parts[i] * whole;
                while high - low > 1e-14 {
                    let middle = 0.5 * (low + high);
                    *(if same(middle) { &mut low } else { &mut high }) = middle;
                }
                s = step(law, push, s, high, &d);
                changes += 1;
            }
        }
        if UNTIL - s[0] < 1e-13 {
            break;
        }
        if changes > CHANGES || !(s[1].abs() < 1e4 && s[2].abs() < 1e4) {
            return None;
        }
    }
    Some([s[1], s[2]])
}

fn engine(text: &str) -> Result<[f64; 2], String> {
    let model = read(text, &Options::default()).map_err(|e| format!("{e:?}"))?.model;
    let system = build(&model).map_err(|e| format!("{e:?}"))?;
    let settings = Settings { record: Record::Events, ..Settings::until(UNTIL) };
    let run = event_driven(&system, &system.start(), &settings, &mut Default::default())
        .map_err(|e| e.to_string())?;
    match run.status {
        Status::Finished => Ok([run.last.state.q[0], run.last.state.u[0]]),
        _ => Err(run.message),
    }
}

fn far(a: [f64; 2], b: [f64; 2], tolerance: f64) -> bool {
    !(0..2).all(|i| (a[i] - b[i]).abs() <= tolerance * (1.0 + a[i].abs()))
}

/// Laws compared and laws left aside: those that chatter, run away, or depend on everything so sharply that the
/// reference itself changes under a force of 1e-9.
fn campaign(count: usize, seed: u64) -> (usize, usize) {
    let (mut compared, mut aside, mut wrong) = (0, 0, Vec::new());
    for n in 0..count as u64 {
        let mut maker = Maker { dice: Dice(seed + 7919 * n), inputs: if n % 2 == 0 { 1 } else { 3 } };
        let depth = 2 + maker.pick(3);
        let law = maker.law(depth);
        let Some(mut expected) = reference(&law, 0.0, 1e-3) else {
            aside += 1;
            continue;
        };
        let mut beside = [1e-9, -1e-9].map(|push| reference(&law, push, 1e-3)).into_iter();
        if beside.any(|b| b.is_none_or(|b| far(b, expected, 1e-6))) {
            aside += 1;
            continue;
        }
        let text = format!("{}[[force]]\nalong = \"x\"\nforce = \"{}\"\n", header(), law.text());
        let found = match engine(&text) {
            Ok(found) => found,
            Err(message) => {
                wrong.push(format!("law {n}: {}\n    {message}", law.text()));
                continue;
            }
        };
        if far(found, expected, 1e-6) {
            // a pulse may be shorter than the steps of the reference
            expected = reference(&law, 0.0, 2e-5).unwrap_or(expected);
        }
        if far(found, expected, 1e-6) {
            wrong.push(format!("law {n}: {}\n    x, x' = {found:?}, expected {expected:?}", law.text()));
        }
        compared += 1;
    }
    assert!(wrong.is_empty(), "{} of {compared}\n{}", wrong.len(), wrong.join("\n"));
    (compared, aside)
}

#[test]
fn random_laws_with_nested_switches_agree_with_an_independent_integration() {
    let (compared, aside) = campaign(200, 1);
    assert!(compared > 4 * aside, "{compared} compared, {aside} left aside");
}

#[test]
#[ignore = "two thousand laws take a minute"]
fn two_thousand_random_laws_agree_with_an_independent_integration() {
    let (compared, aside) = campaign(2600, 1_000_003);
    println!("{compared} laws agree, {aside} left aside");
    assert!(compared >= 2000);
}
