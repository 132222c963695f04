//! Parts of the server that operators configure and that are not the match itself. [`outgoing`]
//! limits the bytes that leave the machine. [`introduction`] holds the server's name and message of
//! the day. [`queries`] answers server browsers. [`webhook`] posts events to an address of the
//! operator. [`reload`] reads options and files again while the server runs. [`minute`] compares
//! certificates, bans and mutes with the clock. [`handed_over`] takes sockets that a service
//! manager has bound.

pub(crate) mod handed_over;
pub(crate) mod introduction;
pub(crate) mod minute;
pub(crate) mod outgoing;
pub(crate) mod queries;
pub(crate) mod reload;
pub(crate) mod webhook;
