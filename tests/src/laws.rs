//! The laws of mechanics as an oracle: scenes whose outcome is known in closed form, over the
//! whole range that a user may ask for.
//!
//! A [`Case`] is a scene and the judge of it. Any [`Engine`] can play it: the simulation
//! ([`ours`]), or another engine that is compared with the simulation. Each measured number is a
//! [`Reading`]: the value that the law gives, the measured value, and the bound of their
//! difference. The bounds are derived from the errors of an integration by ticks, in the
//! documentation of each law, and not from earlier results.

pub mod bouncing;
pub mod carrying;
pub mod case;
pub mod engine;
pub mod flight;
pub mod ours;
pub mod rolling;
pub mod scene;
pub mod sliding;
pub mod solid;
pub mod standing;
pub mod sweep;

use ::oracle::Random;

pub use case::{Case, Reading};
pub use engine::{Engine, Start, Told};
pub use scene::Scene;
pub use sweep::{Outcome, sweep};

use scene::USUAL_DAMPING;

/// A law and its scenes.
pub struct Law {
    /// The law's name.
    pub name: &'static str,
    /// The shapes, sizes and speeds of the law's scenes. The scenes of all laws also differ in
    /// rate, threads, floor and place.
    pub range: &'static str,
    /// Makes a scene of the law from a stream of random numbers.
    pub scene: fn(&mut Random) -> Case,
}

const fn law(name: &'static str, range: &'static str, scene: fn(&mut Random) -> Case) -> Law {
    Law { name, range, scene }
}

const FLAT: &str = "planks, boxes, prisms and cones of 3 to 128 sides, L, U; 0.5 to 2,000 units";
const TOPS: &str = "prisms of 5 to 128 sides, 2 to 400 units, spin 2 to 8 rad/s";
const FLYING: &str = "boxes, prisms, cones, L of 0.5 to 500 units, spin 1 to 12 rad/s";
const BATS: &str = "flat boxes of 2 to 400 units, spin 4 to 12 rad/s";

/// All laws. Tests and the bench choose them by name.
pub const LAWS: [Law; 26] = [
    law("sliding stops", FLAT, sliding::stops),
    law("sliding without friction", FLAT, sliding::keeps_speed),
    law("slopes", FLAT, sliding::on_slope),
    law("spinning in place", "prisms of 3 to 128 sides, 1 to 2,000 units", sliding::spins_down),
    law("wheels", "16 to 128 sides, radius 6 to 500, v²/gR 0.2 to 3.2", rolling::wheel),
    law("balls", "180 to 500 faces, radius 6 to 500, v²/gR 0.2 to 3.2", rolling::ball),
    law("flat falls", FLAT, bouncing::flat_fall),
    law("tumbling", "cubes, balls and all above, 0.5 to 2,000 units", bouncing::tumbling),
    law("meeting", "masses 1 to 1,000, 60 to 240 Hz, 80 units/s or more", bouncing::meeting),
    law("flight without damping", FLYING, |random| flight::momentum(random, 0.0)),
    law("flight", FLYING, |random| flight::momentum(random, USUAL_DAMPING)),
    law("middle axis without damping", BATS, |random| flight::flip(random, 0.0)),
    law("middle axis", BATS, |random| flight::flip(random, USUAL_DAMPING)),
    law("tops without damping", TOPS, |random| flight::precession(random, 0.0)),
    law("tops", TOPS, |random| flight::precession(random, USUAL_DAMPING)),
    law("turntables", "3 to 128 sides, radius 10 to 1,000", carrying::turntable),
    law("lifts", "3 to 128 sides, radius 10 to 1,000, 10 to 1,200 units/s", carrying::lift),
    law("conveyors", "riders of 4 to 200 units, slip 10 to 400", carrying::conveyor),
    law("stacks", "2 to 7 prisms of 4 to 128 sides, radius 2 to 500", standing::stack),
    law("legs", "masses 1 to 1,000, legs of 4 to 100 units", standing::legs),
    law("lying flat", "coins of 3 to 128 sides, boxes, balls; 2 to 1,000", standing::lies_flat),
    law("cards", "20 to 500 units, 15 to 40 degrees", standing::cards),
    law("overhangs", "10 to 1,000 units", standing::overhang),
    law("dominoes", "5 to 14 of 5 to 200 units", standing::dominoes),
    law("arches", "7 to 11 stones, radius 150 to 500", standing::arch),
    law("drums on drums", "24 to 128 sides, radius 5 to 400", standing::logs),
];
