//! The border between models and numerics.
