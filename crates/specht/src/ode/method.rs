//! The method of a run: explicit while that is cheap, implicit while the problem is stiff.
//!
//! *Explicit to implicit.* The last two stages of [`Dop853`] lie at the same time; the difference of their rates over that of their
//! states estimates the largest eigenvalue λ in play. When h |λ| stands at the border of stability (6.1) in 15 steps, with no
//! six in a row below it between them, stability and not accuracy limits the step. [Hairer1996, IV.2] A law that is steep only near zero (log v) shows no
//! large λ to steps that jump to and fro over the steep part: so the implicit method is also tried after some hundred steps (more for large systems, where
//! it is dear), and, when that was for nothing, after twice as many.
//!
//! *Implicit to explicit.* When the steps of [`Radau`] have been no longer than half of what the explicit method could take, eight
//! times in a row without a rejection (or 64 times anyway: a law like log v needs some steps to its steep part). The gap between the two borders
//! keeps the choice from flickering.

use super::{Control, Dop853, Radau, Rhs, SAMPLES, Trial, dop853, radau};

/// Which method integrates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// The explicit one, and the implicit one while the problem is stiff.
    #[default]
    Auto,
    /// Always the explicit one.
    Explicit,
    /// Always the implicit one.
    Implicit,
}

impl Choice {
    /// All choices, in the order of the words in files and on the command line.
    pub const ALL: [Choice; 3] = [Choice::Auto, Choice::Explicit, Choice::Implicit];

    /// The word used in files and outputs.
    pub fn word(self) -> &'static str {
        match self {
            Choice::Auto => "auto",
            Choice::Explicit => "explicit",
            Choice::Implicit => "implicit",
        }
    }
}

/// h |λ| at which the explicit method is at its border of stability.
const BORDER: f64 = 6.1;
/// Steps at the border, and steps below it in a row that clear the suspicion.
const SUSPICIONS: u32 = 15;
const CLEAR: u32 = 6;
/// Explicit steps after which the implicit method is tried: a number, and one for every component.
const PATIENCE: (usize, usize) = (128, 32);
/// h |λ| below which the explicit method could do the same, and steps in a row.
const EASY: f64 = 3.0;
const EASY_STEPS: u32 = 8;
/// The same with rejections between them.
const UNEASY_STEPS: u32 = 64;

/// Both methods; one of them is at work.
#[derive(Clone, Debug)]
pub(crate) struct Method {
    choice: Choice,
    active: usize,
    explicit: Dop853,
    /// Made when first needed.
    implicit: Option<Box<Radau>>,
    at_work: bool,
    suspicions: u32,
    calm: u32,
    easy: u32,
    /// Explicit steps since the start or the last change, and how many there may be.
    steps: u32,
    patience: u32,
    /// Steps of the implicit method since the change to it.
    stay: u32,
    /// The step tried last was ended inside.
    inside: bool,
    weights: Vec<f64>,
}

macro_rules! both {
    ($self:ident, $ode:ident => $e:expr) => {
        match &$self.implicit {
            Some($ode) if $self.at_work => $e,
            _ => {
                let $ode = &$self.explicit;
                $e
            }
        }
    };
    (mut $self:ident, $ode:ident => $e:expr) => {
        match &mut $self.implicit {
            Some($ode) if $self.at_work => $e,
            _ => {
                let $ode = &mut $self.explicit;
                $e
            }
        }
    };
}

impl Method {
    /// Memory for `n` components, of which the right-hand side depends on the first `active`.
    pub(crate) fn new(n: usize, active: usize, choice: Choice) -> Self {
        let at_work = choice == Choice::Implicit;
        Method {
            choice,
            active,
            explicit: Dop853::new(n, active),
            implicit: at_work.then(|| Box::new(Radau::new(n, active))),
            at_work,
            suspicions: 0,
            calm: 0,
            easy: 0,
            steps: 0,
            patience: patience(active),
            stay: 0,
            inside: false,
            weights: vec![0.0; n],
        }
    }

    /// Whether the implicit method is at work.
    pub(crate) fn is_implicit(&self) -> bool {
        self.at_work
    }

    /// Factorisations of the implicit method so far.
    pub(crate) fn factorisations(&self) -> u64 {
        self.implicit.as_deref().map_or(0, Radau::factorisations)
    }

    /// Frequency of the fastest of the coordinates alone, `√|∂u̇_k/∂q_k|`, by the Jacobian of the implicit method; 0 before there is one.
    pub(crate) fn fastest(&self, q: usize, u: usize) -> f64 {
        let of = |ode: &Radau| (0..q.min(u)).fold(0.0_f64, |m, k| m.max(ode.slope(q + k, k).abs())).sqrt();
        self.implicit.as_deref().map_or(0.0, of)
    }

    /// Start (or restart after an event) at `(t, x)`: one evaluation. False when `f` does not exist there.
    pub(crate) fn start(&mut self, t: f64, x: &[f64], f: &mut impl Rhs) -> bool {
        both!(mut self, ode => ode.start(t, x, f))
    }

    /// Move the present point by a little: one evaluation.
    pub(crate) fn correct(&mut self, t: f64, x: &[f64], f: &mut impl Rhs) -> bool {
        both!(mut self, ode => ode.correct(t, x, f))
    }

    /// Try one step of length `h`; false when there is none.
    pub(crate) fn attempt(&mut self, h: f64, control: &Control, f: &mut impl Rhs) -> bool {
        self.inside = false;
        match &mut self.implicit {
            Some(ode) if self.at_work => ode.attempt(h, control, f),
            _ => self.explicit.attempt(h, f),
        }
    }

    /// Change the step tried last by the tiny `delta` along the rates at its end: one evaluation.
    pub(crate) fn nudge(&mut self, delta: f64, f: &mut impl Rhs) -> bool {
        both!(mut self, ode => ode.nudge(delta, f))
    }

    /// Let the step tried last end after `h` at `x`: one evaluation.
    pub(crate) fn place(&mut self, h: f64, x: &[f64], f: &mut impl Rhs) -> bool {
        both!(mut self, ode => ode.place(h, x, f))
    }

    /// Let the step tried last end inside it, see [`Dop853::end_inside`]; false of the implicit method.
    pub(crate) fn end_inside(&mut self, theta: f64, x: &[f64], f: &mut impl Rhs) -> bool {
        self.inside = !self.at_work && self.explicit.end_inside(theta, x, f);
        self.inside
    }

    /// Take the step tried last.
    pub(crate) fn advance(&mut self) {
        both!(mut self, ode => ode.advance());
    }

    /// Look at the step tried last, which is good, for signs that the other method would do better, and change when there are enough.
    /// Comes after [`Method::advance`]; `h` is the step taken.
    pub(crate) fn choose(&mut self, h: f64, control: &Control) {
        if self.choice != Choice::Auto {
            return;
        }
        if let Some(ode) = self.implicit.as_deref().filter(|_| self.at_work) {
            let easy = h * ode.radius() < EASY;
            self.calm = if easy && !ode.was_repeated() { self.calm + 1 } else { 0 };
            self.easy = if easy { self.easy + 1 } else { 0 };
            self.stay = self.stay.saturating_add(1);
            if self.calm >= EASY_STEPS || self.easy >= UNEASY_STEPS {
                self.explicit.adopt(ode.time(), ode.state(), ode.rates());
                let for_nothing = self.stay == self.easy;
                self.patience =
                    if for_nothing { self.patience.saturating_mul(2) } else { patience(self.active) };
                self.turn(false);
            }
            return;
        }
        // a step that an event ended says nothing: its last two stages lie elsewhere, and nothing shows that it had to be short
        if std::mem::take(&mut self.inside) {
            return;
        }
        self.steps = self.steps.saturating_add(1);
        control.weights(self.explicit.state(), &mut self.weights);
        if h * self.explicit.stiffness(&self.weights[..self.active]) > BORDER {
            self.calm = 0;
            self.suspicions += 1;
        } else {
            self.calm += 1;
            if self.calm >= CLEAR {
                self.suspicions = 0;
            }
        }
        if self.suspicions >= SUSPICIONS || self.steps >= self.patience {
            let (n, active) = (self.weights.len(), self.active);
            let ode = self.implicit.get_or_insert_with(|| Box::new(Radau::new(n, active)));
            ode.adopt(self.explicit.time(), self.explicit.state(), self.explicit.rates());
            self.turn(true);
        }
    }

    fn turn(&mut self, implicit: bool) {
        self.at_work = implicit;
        self.calm = 0;
        self.easy = 0;
        self.suspicions = 0;
        self.steps = 0;
        self.stay = 0;
    }

    /// Make the continuous extension of the step tried last available. False when `f` does not exist there.
    pub(crate) fn prepare(&mut self, f: &mut impl Rhs) -> bool {
        self.at_work || self.explicit.prepare(f)
    }

    /// Value of the continuous extension at the fraction `theta` of the step tried last; [`Method::prepare`] comes first.
    pub(crate) fn interpolate(&self, theta: f64, out: &mut [f64]) {
        both!(self, ode => ode.interpolate(theta, out));
    }

    /// Slots of the evaluations that sample a step accurately, in the order of time, and the fractions of the step at which they lie.
    pub(crate) fn samples(&self) -> &'static [(usize, f64); SAMPLES] {
        if self.at_work { &radau::SLOTS } else { &dop853::SLOTS }
    }
}

fn patience(active: usize) -> u32 {
    u32::try_from(PATIENCE.0 + PATIENCE.1 * active).unwrap_or(u32::MAX)
}

impl Trial for Method {
    fn time(&self) -> f64 {
        both!(self, ode => ode.time())
    }
    fn step(&self) -> f64 {
        both!(self, ode => ode.step())
    }
    fn state(&self) -> &[f64] {
        both!(self, ode => ode.state())
    }
    fn end(&self) -> &[f64] {
        both!(self, ode => ode.end())
    }
    fn rates(&self) -> &[f64] {
        both!(self, ode => ode.rates())
    }
    fn error(&self) -> &[f64] {
        both!(self, ode => ode.error())
    }
    fn order(&self) -> f64 {
        both!(self, ode => ode.order())
    }
    fn growth(&self) -> f64 {
        both!(self, ode => ode.growth())
    }
}
