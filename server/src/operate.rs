//! What operators set beside the match: the budget of the bytes that leave the machine
//! ([`outgoing`]), what the server tells about itself ([`introduction`]) and to lists
//! ([`queries`]), whom it tells of what happens ([`webhook`]), what is read again while it runs
//! ([`reload`]), and what is compared with the clock ([`minute`]).

pub(crate) mod handed_over;
pub(crate) mod introduction;
pub(crate) mod minute;
pub(crate) mod outgoing;
pub(crate) mod queries;
pub(crate) mod reload;
pub(crate) mod webhook;
