//! Impact laws.
