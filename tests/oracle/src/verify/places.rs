//! The choice of points to query and of positions to start from.

use super::{Judge, Subject, shell, wide};
use crate::Random;
use crate::brushes::{Brushes, Judgement};
use crate::flood::Reach;
use crate::map_text::Entity;

/// Heights of an entity's origin above the floor, in units: players' origins are 24 units above
/// it, items' are on it.
const FEET: [f64; 2] = [24.0, 0.0];

/// Distance from an entity within which points near it are chosen, in units.
const ABOUT: f64 = 64.0;

/// Attempts to find a free position.
const TRIES: usize = 10_000;

/// The entities without brushes, which have a position.
pub(super) fn point_entities(entities: &[Entity]) -> impl Iterator<Item = &Entity> {
    entities.iter().filter(|entity| entity.brushes.is_empty())
}

/// Centres of boxes at the map's entities.
#[derive(Debug, Default)]
pub(super) struct Seeds {
    /// Centres at entities that touch no brush.
    pub(super) certain: Vec<[f64; 3]>,
    /// Centres at entities that touch a brush and may be on either side of it.
    pub(super) uncertain: Vec<[f64; 3]>,
}

impl Seeds {
    /// Centres of boxes at the entities' origins. If a box has no room at an origin, the box that
    /// stands on the entity's floor is tried. It must hold the origin, with nothing between the
    /// origin and its centre.
    pub(super) fn new(
        entities: &[Entity],
        bare: &Brushes,
        expanded: &Brushes,
        half_extents: [f64; 3],
    ) -> Self {
        let mut seeds = Self::default();
        for origin in point_entities(entities).filter_map(Entity::origin) {
            let [x, y, z] = origin;
            let upright = FEET.map(|feet| [x, y, z - feet + half_extents[2]]);
            let free = |&&centre: &&[f64; 3]| {
                let holds = (z - centre[2]).abs() <= half_extents[2];
                holds
                    && !bare.holds(origin)
                    && bare.entry_with_margin(origin, centre, 0.0).is_none()
                    && !expanded.holds(centre)
            };
            let found = [origin].iter().chain(&upright).find(free).copied();
            // An origin within the shell of a brush may be on either side of it.
            let certain = bare.judge(origin, shell(&[origin])) == Judgement::Empty;
            let seeds = if certain { &mut seeds.certain } else { &mut seeds.uncertain };
            seeds.extend(found);
        }
        seeds
    }
}

impl Judge {
    /// A random point. A third of the points are anywhere in and around the map, a third near its
    /// entities, and a third near corners of expanded brushes, where planes meet and mistakes are
    /// most likely.
    pub(super) fn any_point(&self, random: &mut Random) -> [f32; 3] {
        let (min, max) = self.brushes.bounds();
        let point = match random.below(3) {
            0 if !self.origins.is_empty() => self.about_an_entity(random),
            1 if !self.corners.is_empty() => {
                let corner = self.corners[random.below(self.corners.len())];
                [0, 1, 2].map(|i| {
                    let side = [-1.0, 0.0, 1.0][random.below(3)] * self.half_extents[i];
                    corner[i] + side + random.between(-2.0, 2.0)
                })
            }
            _ => [0, 1, 2].map(|i| random.between(min[i] - 48.0, max[i] + 48.0)),
        };
        point.map(|x| x as f32)
    }

    fn about_an_entity(&self, random: &mut Random) -> [f64; 3] {
        let origin = self.origins[random.below(self.origins.len())];
        origin.map(|x| x + random.between(-ABOUT, ABOUT))
    }

    /// An empty position to start from, mostly near entities; `None` if none is found. Space that
    /// is solid for the subject is skipped, unless an entity reaches it.
    pub(super) fn start(&self, subject: &dyn Subject, random: &mut Random) -> Option<[f32; 3]> {
        (0..TRIES).find_map(|_| {
            let point = if self.origins.is_empty() || random.one_in(8) {
                self.any_point(random)
            } else {
                self.about_an_entity(random).map(|x| x as f32)
            };
            let shell = shell(&[wide(point)]);
            let empty = self.brushes.judge(wide(point), shell) == Judgement::Empty;
            let open = || !subject.is_solid(point) || self.reach(wide(point)) == Reach::Entity;
            (empty && open()).then_some(point)
        })
    }
}
