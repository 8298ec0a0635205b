//! Second-order-cone friction problems.
