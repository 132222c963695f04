//! What players do: walk ([`walk`], by the rules of [`movement`] and the box
//! sweep of [`agent`]), drive a [`hovertank`], shoot ([`combat`]), and foresee
//! their own motion on a client ([`prediction`]).

pub(crate) mod agent;
pub(crate) mod combat;
pub(crate) mod hovertank;
pub(crate) mod movement;
pub(crate) mod prediction;
pub(crate) mod walk;
