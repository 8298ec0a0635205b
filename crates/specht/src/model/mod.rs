//! Bodies, shapes, forces, contacts: from names to equations.
