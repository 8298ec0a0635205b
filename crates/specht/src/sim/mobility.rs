//! How easily rows move, kept while M and W stay.

use crate::system::Eval;

use super::watch::{least_inertia, mobility};

/// Σ w²/M of every row with the diagonal of M.
#[derive(Clone, Debug, Default)]
pub(super) struct Mobilities {
    constants: u64,
    /// Entries of M below this are taken for this.
    pub floor: f64,
    /// NaN: not asked yet.
    rows: Vec<f64>,
}

impl Mobilities {
    /// Stand at an evaluation; what is known of other matrices is forgotten.
    pub(super) fn stand(&mut self, eval: &Eval) {
        if eval.constants.0 != 0 && eval.constants.0 == self.constants {
            return;
        }
        self.constants = eval.constants.0;
        self.floor = least_inertia(eval);
        self.rows.clear();
        self.rows.resize(eval.w.rows(), f64::NAN);
    }

    /// Of one row, at the evaluation at which it stands.
    pub(super) fn of(&mut self, eval: &Eval, row: usize) -> f64 {
        let known = &mut self.rows[row];
        if known.is_nan() {
            *known = mobility(eval, row, self.floor);
        }
        *known
    }
}
