//! Hovertanks: polyhedra that float on cushions of air and land on command, also
//! in the hollow of a repair pad (Blow 1997, "Let's Rock").
//!
//! A tank is a rigid body like any other, so solver and guard move it together with the props. Its
//! [`Drive`](crate::bodies::roles::Drive) makes it a vehicle. Once a tick, [`steer`] computes the
//! drive from the distances that the probes measure ([`hover`]) and the driver's command.

mod hover;
mod steer;

pub(crate) use steer::steer;
