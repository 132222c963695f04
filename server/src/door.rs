//! The door of a match: who may see it ([`who_may_see`]), who may play by password or list
//! ([`admittance`]), and whose chat is heard ([`mutes`]).
//! [`TokenGate`](crate::token_gate::TokenGate) checks connect tokens.

pub(crate) mod admittance;
mod allow_list;
pub(crate) mod mutes;
mod secret;
pub(crate) mod who_may_see;
