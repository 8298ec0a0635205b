//! A system evaluated at one state, with contacts sorted by what the numbers say (5.5 of Pfeiffer & Glocker).
//!
//! Closed: |g| ≤ 10⁻⁹ of the length scale and the gap does not grow. Slip zero: |γ| ≤ 10⁻¹⁰ of the size of its terms. The
//! friction coefficient is taken at the present slip, so the system is evaluated twice: once for the slip, once with its sign.

use super::AnalysisError;
use crate::contact::Start;
use crate::sim::tolerances::{GAP_ZERO, SPEED_ZERO};
use crate::system::{Discrete, Eval, Mode, Normal, State, System};

/// State, evaluation and index sets; memory is kept between uses.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The state.
    pub state: State,
    /// Modes by the sign of the slip, latches by value.
    pub discrete: Discrete,
    /// The system there.
    pub eval: Eval,
    /// What each contact does before the force problem is solved.
    pub starts: Vec<Start>,
}

impl Snapshot {
    /// Memory for a system.
    pub fn new<S: System + ?Sized>(sys: &S) -> Self {
        let d = sys.dims();
        Snapshot {
            state: State::default(),
            discrete: Discrete::new(&d),
            eval: sys.memory(),
            starts: vec![Start::Open; d.contacts],
        }
    }

    /// Evaluate at `self.state`.
    ///
    /// # Errors
    ///
    /// A bilateral contact or pin that is apart, a unilateral one deep inside, a number that is not finite.
    pub fn take<S: System + ?Sized>(&mut self, sys: &S) -> Result<(), AnalysisError> {
        let info = sys.contacts();
        let d = sys.dims();
        for (what, got, expected) in
            [("positions", self.state.q.len(), d.q), ("velocities", self.state.u.len(), d.u)]
        {
            if got != expected {
                return Err(crate::sim::StartError::Size { what, got, expected }.into());
            }
        }
        self.discrete.modes.fill(Mode::Open);
        // the same bits whatever was looked at before: contact parameters of curves are searched anew
        self.discrete.contour.fill(f64::NAN);
        sys.evaluate(&self.state, &self.discrete, &mut self.eval);
        sys.latch(&self.state, &mut self.discrete, &mut self.eval, false);
        if d.latches > 0 {
            sys.evaluate(&self.state, &self.discrete, &mut self.eval);
        }
        let (eval, u) = (&self.eval, &self.state.u);
        for (i, c) in info.iter().enumerate() {
            self.starts[i] = Start::Open;
            let closed = match c.normal {
                Normal::Unilateral { row } => {
                    let gap = eval.gap[row];
                    let scale = sys.gap_scale(row);
                    if gap < -1e3 * GAP_ZERO * scale {
                        return Err(crate::sim::inside(c.name.clone(), eval, row).into());
                    }
                    gap <= GAP_ZERO * scale && eval.rate(row, u) <= SPEED_ZERO * size(eval, row, u)
                }
                Normal::Given { row: Some(row) } => eval.load[i] > 0.0 || eval.gap[row] < 0.0,
                Normal::Given { row: None } => true,
                Normal::Bilateral { row } => {
                    apart(&c.name, eval.gap[row], sys.gap_scale(row))?;
                    true
                }
                Normal::Pin { .. } | Normal::Ball { .. } => {
                    c.normal_rows()
                        .iter()
                        .try_for_each(|&r| apart(&c.name, eval.gap[r], sys.gap_scale(r)))?;
                    true
                }
            };
            if !closed {
                continue;
            }
            self.discrete.modes[i] = Mode::Closed;
            self.starts[i] = Start::Zero;
            if c.tangent.len() > 1 {
                let speed = c.tangent.iter().fold(0.0, |s: f64, &row| s.hypot(eval.rate(row, u)));
                let terms = c.tangent.iter().fold(0.0, |s: f64, &row| s.hypot(size(eval, row, u)));
                let slides = speed > SPEED_ZERO * terms;
                self.starts[i] = if slides { Start::Plus } else { Start::Zero };
                if c.friction {
                    self.discrete.modes[i] = if slides { Mode::Slip } else { Mode::Stick };
                }
            } else if let Some(&row) = c.tangent.first() {
                let slip = eval.rate(row, u);
                if slip.abs() > SPEED_ZERO * size(eval, row, u) {
                    let plus = slip > 0.0;
                    self.starts[i] = if plus { Start::Plus } else { Start::Minus };
                    if c.friction {
                        self.discrete.modes[i] = if plus { Mode::SlipPlus } else { Mode::SlipMinus };
                    }
                } else if c.friction {
                    self.discrete.modes[i] = Mode::Stick;
                }
            }
        }
        sys.evaluate(&self.state, &self.discrete, &mut self.eval);
        self.check()
    }

    /// Evaluate at `self.state`, with the modes that a run had there: its rounding decides nothing.
    ///
    /// # Errors
    ///
    /// A number that is not finite.
    pub(crate) fn take_as<S: System + ?Sized>(
        &mut self,
        sys: &S,
        modes: &[Mode],
    ) -> Result<(), AnalysisError> {
        self.discrete.modes.clear();
        self.discrete.modes.extend_from_slice(modes);
        sys.evaluate(&self.state, &self.discrete, &mut self.eval);
        sys.latch(&self.state, &mut self.discrete, &mut self.eval, false);
        sys.evaluate(&self.state, &self.discrete, &mut self.eval);
        for (start, mode) in self.starts.iter_mut().zip(modes) {
            *start = match mode {
                Mode::Open => Start::Open,
                Mode::SlipPlus | Mode::Slip => Start::Plus,
                Mode::SlipMinus => Start::Minus,
                Mode::Stick | Mode::Closed => Start::Zero,
            };
        }
        self.check()
    }

    fn check(&self) -> Result<(), AnalysisError> {
        let finite = |v: &[f64]| v.iter().all(|x| x.is_finite());
        let e = &self.eval;
        if !finite(e.mass.values()) || !finite(&e.h) || !finite(e.w.values()) || !finite(&e.accel_offset) {
            return Err(AnalysisError::NotFinite(String::new()));
        }
        Ok(())
    }

    /// Sliding direction of contact `i`: ±1, or 0 at zero slip.
    pub(crate) fn direction(&self, i: usize) -> f64 {
        match self.starts[i] {
            Start::Plus => 1.0,
            Start::Minus => -1.0,
            _ => 0.0,
        }
    }
}

fn apart(name: &str, gap: f64, length: f64) -> Result<(), AnalysisError> {
    if gap.abs() > 1e3 * GAP_ZERO * length {
        return Err(crate::sim::StartError::Apart { contact: name.to_string(), gap }.into());
    }
    Ok(())
}

fn size(eval: &Eval, row: usize, u: &[f64]) -> f64 {
    let terms: f64 = eval.w.row(row).terms(u);
    (terms + eval.rate_offset[row].abs()).max(f64::MIN_POSITIVE)
}
