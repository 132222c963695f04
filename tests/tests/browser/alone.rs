//! Tests that measure time. Each has the machine for itself. They are together and begin early, so
//! that the other tests wait for them once, and not for each of them.

mod corrections;
mod latency;
mod opening;
mod pictures;
mod shots;
