//! The parts that deal with the service manager and the system: sockets that are handed over
//! ([`handed_over`]), and signals ([`signals`]).

pub(crate) mod handed_over;
pub(crate) mod signals;
