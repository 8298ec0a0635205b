//! Tests of the way from models to equations.

mod dynamics;
mod kinematics;
mod shapes;
mod sketch;
