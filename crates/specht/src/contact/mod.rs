//! Contact kinds, modes, friction laws and the force problem.
