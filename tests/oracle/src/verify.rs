//! Verification of a compiled map against the brushes of its source.
//!
//! A [`Subject`] answers for one size. [`Judge::points`] queries points, [`Judge::traces`] traces
//! segments, [`Judge::crossings`] crosses every brush, and [`Judge::walk`] moves like a player.
//! [`casts`] casts other bodies. Answers are judged outside a shell of [`SHELL`] units about
//! surfaces, and the share inside the shell is also reported. Solid space outside all brushes is
//! right only where no entity can be.

mod casts;
mod crossings;
mod places;
mod points;
mod sums;
mod traces;
mod walk;

use std::cell::OnceCell;
use std::rc::Rc;

pub use casts::{Caster, Casts, casts};
pub use crossings::Crossings;
pub use points::Points;
pub use sums::{Sum, judge_sums};
pub use traces::Traces;
pub use walk::Walk;

use crate::brushes::{Brushes, Solids};
use crate::flood::{Flood, Reach};
use crate::map_text::Entity;
use places::Seeds;

/// Points closer to a surface than this, in units, are not judged: `f32` at 4,096 units is exact
/// to 1/2048. Far from the origin, [`shell`] is wider.
pub const SHELL: f64 = 0.01;

/// Precision of positions far from the origin, as a share of the greatest coordinate: the
/// precision of `f32`, 2^-24, for each of the dozen roundings between a brush's text and an answer.
const FAR: f64 = 1.0 / (1 << 20) as f64;

/// The distance from a surface, in units, within which these points are not judged.
pub fn shell(points: &[[f64; 3]]) -> f64 {
    points.iter().flatten().fold(SHELL, |shell, x| shell.max(x.abs() * FAR))
}

/// Tolerance of a trace's time along the segment, and greatest distance of its surface from the
/// contact; both as multiples of the shell.
const ALONG: f64 = 2.0;

/// Number of wrong answers that are described. All are counted.
const SHOWN: usize = 10;

/// The answers of a program under test about the world for one size.
pub trait Subject {
    /// Whether a box centred here is in solid.
    fn is_solid(&self, point: [f32; 3]) -> bool;

    /// The first contact of a box whose centre moves from `start` to `end`.
    fn trace(&self, start: [f32; 3], end: [f32; 3]) -> Answer;

    /// Distance of a hit's end from the surface, in units. The end may be closer only if the start
    /// is closer.
    fn surface_distance(&self) -> f64;
}

/// The subject's answer to a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// The whole segment is free.
    Clear,
    /// The start is in solid.
    StartSolid,
    /// The box meets a surface.
    Hit {
        /// Fraction of the segment.
        time: f64,
        /// Position of the box's centre at contact.
        point: [f32; 3],
        /// Unit normal of the surface.
        normal: [f32; 3],
        /// Position at which a moving box stops.
        end: [f32; 3],
    },
}

/// Wrong answers.
#[derive(Clone, Debug, Default)]
pub struct Wrong {
    /// The number of wrong answers.
    pub count: usize,
    /// Descriptions of the first wrong answers.
    pub shown: Vec<String>,
}

impl Wrong {
    fn add(&mut self, what: impl FnOnce() -> String) {
        self.count += 1;
        if self.shown.len() < SHOWN {
            self.shown.push(what());
        }
    }
}

/// The judge of answers about one size of a map.
#[derive(Debug)]
pub struct Judge {
    brushes: Rc<Brushes>,
    half_extents: [f64; 3],
    origins: Vec<[f64; 3]>,
    /// Centres of boxes of this size at the map's entities.
    seeds: Seeds,
    corners: Vec<[f64; 3]>,
    flood: OnceCell<Flood>,
}

impl Judge {
    /// The judge for boxes of these half extents in a map with these entities and solids.
    pub fn new(entities: &[Entity], solids: &Solids, half_extents: [f64; 3]) -> Self {
        let brushes = Rc::new(solids.expanded(half_extents));
        let bare = solids.expanded([0.0; 3]);
        let seeds = Seeds::new(entities, &bare, &brushes, half_extents);
        let origins = places::point_entities(entities).filter_map(Entity::origin).collect();
        let corners = solids.iter().flat_map(|solid| solid.polyhedron.points()).collect();
        Self { brushes, half_extents, origins, seeds, corners, flood: OnceCell::new() }
    }

    /// The expanded brushes.
    pub fn brushes(&self) -> &Brushes {
        &self.brushes
    }

    /// Whether a point outside all brushes can be reached from an entity or from the void.
    pub fn reach(&self, point: [f64; 3]) -> Reach {
        self.flood().reach(point)
    }

    /// The flooded space, computed at the first call.
    pub fn flood(&self) -> &Flood {
        let Seeds { certain, uncertain } = &self.seeds;
        self.flood.get_or_init(|| Flood::new(Rc::clone(&self.brushes), certain, uncertain))
    }
}

fn wide(point: [f32; 3]) -> [f64; 3] {
    point.map(f64::from)
}

#[cfg(test)]
mod tests;
