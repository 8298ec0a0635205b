//! Linear complementarity problems.
