//! Judging a compiled world by the brushes it was made of.
//!
//! A [`Subject`] answers for one size. [`Judge::points`] asks it which points
//! are solid, [`Judge::traces`] what segments meet, and [`Judge::walk`] moves
//! about in it as a player would. Answers are judged outside a shell of
//! [`SHELL`] units about surfaces; how much fell into the shell is reported
//! too. What is solid though no brush holds it is right only where no entity
//! gets to.

mod places;
mod points;
mod sums;
mod traces;
mod walk;

use std::cell::OnceCell;
use std::rc::Rc;

pub use points::Points;
pub use sums::{Sum, judge_sums};
pub use traces::Traces;
pub use walk::Walk;

use crate::brushes::{Brushes, Solids};
use crate::flood::{Flood, Reach};
use crate::map_text::Entity;

/// Nothing nearer to a surface than this is judged, in units: what is computed
/// in `f32` at 4,096 units is good to 1/2048.
pub const SHELL: f64 = 0.01;

/// A trace's time is judged to this many units along its way, and its surface
/// must be so near.
pub const ALONG: f64 = 0.02;

/// Wrong answers that are kept word for word; all are counted.
const SHOWN: usize = 10;

/// Whoever claims to know the world of one size.
pub trait Subject {
    /// Whether a box centred here is in solid.
    fn is_solid(&self, point: [f32; 3]) -> bool;

    /// What a box meets whose centre moves from `start` to `end`.
    fn trace(&self, start: [f32; 3], end: [f32; 3]) -> Answer;

    /// How far in front of a surface a hit's end lies, in units; nearer only
    /// if the start is.
    fn surface_distance(&self) -> f64;
}

/// What a trace claims to meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// Nothing.
    Clear,
    /// The start is in solid.
    StartSolid,
    /// A surface.
    Hit {
        /// Fraction of the segment.
        time: f64,
        /// Where the box's centre is at contact.
        point: [f32; 3],
        /// Unit normal of the surface.
        normal: [f32; 3],
        /// Where a mover stops.
        end: [f32; 3],
    },
}

/// Wrong answers.
#[derive(Clone, Debug, Default)]
pub struct Wrong {
    /// How many.
    pub count: usize,
    /// The first of them, in words.
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

/// The truth about one size of a map.
#[derive(Debug)]
pub struct Judge {
    brushes: Rc<Brushes>,
    half_extents: [f64; 3],
    origins: Vec<[f64; 3]>,
    /// Where a body of this size is, because an entity is.
    seeds: Vec<[f64; 3]>,
    corners: Vec<[f64; 3]>,
    flood: OnceCell<Flood>,
}

impl Judge {
    /// The truth about boxes of these half extents in a map with these
    /// entities, whose solids are `solids`.
    pub fn new(entities: &[Entity], solids: &Solids, half_extents: [f64; 3]) -> Self {
        let brushes = Rc::new(solids.expanded(half_extents));
        let bare = solids.expanded([0.0; 3]);
        let seeds = places::seeds(entities, &bare, &brushes, half_extents);
        let origins = places::point_entities(entities).filter_map(Entity::origin).collect();
        let corners = solids.iter().flat_map(|solid| solid.polyhedron.points()).collect();
        Self { brushes, half_extents, origins, seeds, corners, flood: OnceCell::new() }
    }

    /// The expanded brushes.
    pub fn brushes(&self) -> &Brushes {
        &self.brushes
    }

    /// From where a point can be got to that no brush holds.
    pub fn reach(&self, point: [f64; 3]) -> Reach {
        self.flood().reach(point)
    }

    /// The flooded space, which takes a while the first time.
    pub fn flood(&self) -> &Flood {
        self.flood.get_or_init(|| Flood::new(Rc::clone(&self.brushes), &self.seeds))
    }
}

fn wide(point: [f32; 3]) -> [f64; 3] {
    point.map(f64::from)
}

#[cfg(test)]
mod tests;
