//! What players do: walk ([`walk`], by the rules of [`movement`] and the box
//! sweep of [`agent`]), drive a [`hovertank`], and foresee their own motion on a
//! client ([`prediction`]). [`history`] knows where they were in the latest ticks.

pub(crate) mod agent;
pub(crate) mod driver;
pub(crate) mod history;
pub(crate) mod hovertank;
pub(crate) mod movement;
pub(crate) mod prediction;
pub(crate) mod walk;
