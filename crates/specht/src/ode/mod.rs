//! Integrators with dense output.
