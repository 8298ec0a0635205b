//! The error of an analysis as a refusal.

use crate::diagnostics::refused;
use crate::outcome::Refusal;
use crate::session::Prepared;
use specht::analysis::AnalysisError;

/// The message for an error about this model.
pub fn refuse(p: &Prepared, e: AnalysisError) -> Refusal {
    refused(p.machine.refuse(e))
}
