//! The laws of mechanics as an oracle: scenes whose outcome is known in closed form, over the
//! whole range that a user may ask for.
//!
//! A [`Case`] is a scene and the law that judges it. Any [`Engine`] can play it: the simulation
//! ([`ours`]), or another one beside it. Each number that is measured is a [`Reading`]: what the
//! law gives, what came out, and how far the two may be apart. The bounds are derived from the
//! errors of the integration at a rate of ticks, where each law is written down, and not from
//! what came out before.

pub mod case;
pub mod engine;
pub mod ours;
pub mod scene;
pub mod solid;

pub mod bouncing;
pub mod flight;
pub mod rolling;
pub mod sliding;

use ::oracle::Random;

pub use case::{Case, Reading};
pub use engine::{Engine, Start, Told};
pub use scene::Scene;

/// Makes this many scenes of a law from a stream of random numbers.
pub type Family = fn(&mut Random, usize) -> Vec<Case>;

/// The laws, and how many scenes of each are a full sweep.
pub const LAWS: [(&str, Family, usize); 4] = [
    ("sliding", sliding::cases, 400),
    ("rolling", rolling::cases, 200),
    ("bouncing", bouncing::cases, 400),
    ("flight", flight::cases, 100),
];
