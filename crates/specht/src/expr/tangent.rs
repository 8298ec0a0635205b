//! Directional derivatives of a tape: forward mode on the registers of an evaluation.
//!
//! ```text
//! r = f(a, b)   ⇒   ṙ = ∂f/∂a ȧ + ∂f/∂b ḃ          one sweep over the instructions, one rate per register
//! ```
//!
//! The same rules as [`super::Derivation`], on numbers: exact to rounding. Sides of switches are frozen as the evaluation had them, so
//! their rates are zero and a table moves along the polynomial of its cell. What does not change contributes nothing, also
//! where a slope is infinite (√x at a constant x = 0).

use super::graph::{Fun, powi};
use super::tape::{Instr, Tape, Work};

impl Tape {
    /// Memory for rates: zeros. Outputs, arguments of switches, … of rates are read like those of values.
    pub(crate) fn rates(&self) -> Work {
        let mut work = self.workspace();
        work.regs.fill(0.0);
        work
    }

    /// Rates of all registers along the rates of the inputs (missing ones are zero), at the values of the last evaluation, which
    /// are in `work`. `rates` is made by [`Tape::rates`]. Allocates nothing.
    pub(crate) fn tangent(&self, work: &Work, inputs: &[f64], rates: &mut Work) {
        let (regs, d) = (&work.regs[..], &mut rates.regs[..]);
        let first = self.constants.len();
        let base = first + self.inputs.len();
        for (rate, &i) in d[first..base].iter_mut().zip(&self.inputs) {
            *rate = inputs.get(i as usize).copied().unwrap_or(0.0);
        }
        let r = |a: u32| regs[a as usize];
        for (i, instr) in self.instrs.iter().enumerate() {
            let value = regs[base + i];
            let d_of = |a: u32| d[a as usize];
            let rate = match *instr {
                Instr::Add(a, b) => d_of(a) + d_of(b),
                Instr::Sub(a, b) => d_of(a) - d_of(b),
                Instr::Mul(a, b) => times(d_of(a), r(b)) + times(d_of(b), r(a)),
                Instr::Div(a, b) => over(d_of(a) - times(d_of(b), value), r(b)),
                Instr::Neg(a) => -d_of(a),
                Instr::Square(a) => 2.0 * times(d_of(a), r(a)),
                Instr::Powi(a, n) => slope(d_of(a), || f64::from(n) * powi(r(a), n - 1)),
                Instr::Pow(a, b) => {
                    slope(d_of(a), || r(b) * r(a).powf(r(b) - 1.0)) + slope(d_of(b), || value * r(a).ln())
                }
                Instr::Fun(f, a) => slope(d_of(a), || f.slope(r(a), value)),
                Instr::Atan2(y, x) => {
                    let top = times(d_of(y), r(x)) - times(d_of(x), r(y));
                    over(top, r(x) * r(x) + r(y) * r(y))
                }
                Instr::Hypot(a, b) => over(times(d_of(a), r(a)) + times(d_of(b), r(b)), value),
                Instr::Table(t, c, x) => {
                    slope(d_of(x), || self.tables[t as usize / 4].eval(r(c), r(x), (t % 4) as u8 + 1))
                }
                Instr::Select(c, a, b) => d_of(if r(c) != 0.0 { a } else { b }),
                Instr::Sign(..)
                | Instr::Floor(..)
                | Instr::Cell(..)
                | Instr::Positive(_)
                | Instr::NonNegative(_)
                | Instr::IsZero(_)
                | Instr::And(..)
                | Instr::Or(..)
                | Instr::Not(_) => 0.0,
            };
            d[base + i] = rate;
        }
    }
}

/// rate · factor, zero for what does not change whatever the factor.
#[inline]
fn times(rate: f64, factor: f64) -> f64 {
    if rate == 0.0 { 0.0 } else { rate * factor }
}

/// rate / divisor, likewise.
#[inline]
fn over(rate: f64, divisor: f64) -> f64 {
    if rate == 0.0 { 0.0 } else { rate / divisor }
}

/// A slope that is computed only where something changes.
#[inline]
fn slope(rate: f64, of: impl FnOnce() -> f64) -> f64 {
    if rate == 0.0 { 0.0 } else { rate * of() }
}

impl Fun {
    /// Derivative at `x`, where the function has the given value.
    #[inline]
    pub(crate) fn slope(self, x: f64, value: f64) -> f64 {
        match self {
            Fun::Sin => x.cos(),
            Fun::Cos => -x.sin(),
            Fun::Tan => 1.0 + value * value,
            // (1 − x)(1 + x) keeps its digits near the ends
            Fun::Asin => 1.0 / ((1.0 - x) * (1.0 + x)).sqrt(),
            Fun::Acos => -1.0 / ((1.0 - x) * (1.0 + x)).sqrt(),
            Fun::Atan => 1.0 / (1.0 + x * x),
            Fun::Sinh => x.cosh(),
            Fun::Cosh => x.sinh(),
            Fun::Tanh => 1.0 - value * value,
            Fun::Asinh => 1.0 / x.hypot(1.0),
            Fun::Exp => value,
            Fun::Log => 1.0 / x,
            Fun::Log10 => 1.0 / (x * std::f64::consts::LN_10),
            Fun::Sqrt => 0.5 / value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{INPUTS, Names, lower};
    use super::super::*;

    /// Every operation of the language, alone and nested, with the switches frozen on their present sides.
    const FORMULAS: [&str; 30] = [
        "x + y - z*t",
        "x*y*z/t",
        "-x/(y + z)",
        "x^2 + y^3 + z^(-2) + t^7",
        "t^x + t^(y*z) + 2^y",
        "sin(x)*cos(y*x)",
        "tan(x - y)",
        "asin(x) + acos(x/2)",
        "atan(x*z)",
        "sinh(x) + cosh(y)*tanh(z)",
        "exp(x*y)",
        "log(t + x^2)",
        "log10(t*z)",
        "sqrt(t + x)",
        "atan2(x, y)",
        "atan2(y*z, -x)",
        "hypot(x*t, y)",
        "abs(x) + abs(-y)",
        "sign(x)*x^2",
        "min(x, y) + max(x*z, t)",
        "mod(t*z, 0.7)",
        "floor(3*t)*x",
        "if(x > y, x^3, y^3)",
        "if(x < y and z > 0 or not (t > 1), sin(x), cos(x))",
        "if(x > 5, sqrt(x - 5), x)",
        "tab(x) + tab(2*t)*y",
        "pchip(x*y) + pchip(t)",
        "f(x) + g(x, y)",
        "pchip(-3 + x) + tab(9*t)",
        "sqrt(0*x) + x",
    ];

    /// The sweep over the tape against the tape of the symbolic derivative, in a skew direction.
    #[test]
    fn rates_are_those_of_the_symbolic_derivative() {
        let at = [0.31, -0.83, 1.7, 0.92];
        let along = [0.7, -1.3, 0.4, 2.1];
        for text in FORMULAS {
            let mut graph = Graph::new();
            let mut names = Names::new(&mut graph);
            let node = lower(&mut graph, &mut names, &parse(text).unwrap()).unwrap();
            let rules: Vec<(Symbol, NodeId)> =
                (0..INPUTS.len() as u32).map(|k| (Symbol(k), graph.sym(Symbol(10 + k)))).collect();
            let derivative = Derivation::new(rules).of(&mut graph, node);
            let (tape, exact) = (Tape::new(&graph, &[node]), Tape::new(&graph, &[derivative]));
            let mut inputs = at.to_vec();
            inputs.resize(10, f64::NAN);
            inputs.extend(along);
            let (mut work, mut rates, mut symbolic) = (tape.workspace(), tape.rates(), exact.workspace());
            tape.eval(&inputs, &mut work);
            tape.tangent(&work, &along, &mut rates);
            exact.eval(&inputs, &mut symbolic);
            let (a, b) = (tape.output(&rates, 0), exact.output(&symbolic, 0));
            assert!((a - b).abs() <= 1e-14 * (1.0 + b.abs()), "{text}: {a} {b}");
            // and against central differences
            let mut shifted = |h: f64| {
                let x: Vec<f64> = at.iter().zip(&along).map(|(x, d)| x + h * d).collect();
                tape.eval(&x, &mut work);
                tape.output(&work, 0)
            };
            let c = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
            assert!((a - c).abs() <= 1e-8 * (1.0 + c.abs()), "{text}: {a} {c}");
        }
    }

    /// A latched side is kept beyond its border, and so is the branch of the rate.
    #[test]
    fn a_frozen_branch_keeps_its_slope_beyond_the_border() {
        let mut graph = Graph::new();
        let mut names = Names::new(&mut graph);
        let node = lower(&mut graph, &mut names, &parse("max(0, x)^2 + abs(x)").unwrap()).unwrap();
        let tape = Tape::new(&graph, &[node]);
        let mut latches = vec![0.0; 1];
        let (mut work, mut rates) = (tape.workspace(), tape.rates());
        tape.latch(&[0.2], &mut work, &mut latches);
        tape.eval_latched(&[-0.1], &mut work, &latches);
        tape.tangent(&work, &[1.0], &mut rates);
        assert!((tape.output(&rates, 0) - (2.0 * -0.1 + 1.0)).abs() < 1e-15);
    }
}
