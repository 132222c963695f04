//! Tests that measure time. Each has the machine for itself. They are together and begin early, so
//! that the other tests wait once for all of them.

mod corrections;
mod latency;
mod opening;
mod pictures;
mod shots;
