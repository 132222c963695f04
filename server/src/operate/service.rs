//! The parts that deal with the service manager and the system: sockets that are handed over
//! ([`handed_over`]), signals ([`signals`]), and the number of files that may be open
//! ([`descriptors`]).

pub(crate) mod descriptors;
pub(crate) mod handed_over;
pub(crate) mod signals;
