//! The players. They walk ([`walk`], by the rules of [`movement`] and the box sweep of
//! [`agent`] with its [`plane_cache`]), swim where [`submersion`] finds a liquid, or drive a
//! [`hovertank`]. A client predicts its own player by [`prediction`]. The [`history`] records where
//! the players were in the latest ticks.

pub(crate) mod agent;
pub(crate) mod driver;
pub(crate) mod history;
pub(crate) mod hovertank;
pub(crate) mod movement;
pub(crate) mod plane_cache;
pub(crate) mod prediction;
pub(crate) mod submersion;
pub(crate) mod walk;
