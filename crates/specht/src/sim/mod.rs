//! Schemes: event-driven and time-stepping.
