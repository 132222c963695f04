//! The ground under all other modules: addresses and sockets, the clocks, files that others may
//! write, threads and their end, budgets that refill, values of options, and the errors of starting
//! and running. It knows none of the modules above it.

pub(crate) mod address_key;
pub(crate) mod address_prefix;
pub(crate) mod bind;
pub(crate) mod clock;
pub(crate) mod error;
pub(crate) mod options;
pub(crate) mod regular_file;
pub(crate) mod socket_address;
pub(crate) mod state_file;
pub(crate) mod stop;
pub(crate) mod threads;
pub(crate) mod token_bucket;
