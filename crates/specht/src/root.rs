//! Bracketed root location on dense output.
