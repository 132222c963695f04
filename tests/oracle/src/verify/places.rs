//! Where questions are asked.

use super::{Judge, SHELL, Subject, wide};
use crate::Random;
use crate::brushes::{Brushes, Judgement};
use crate::flood::Reach;
use crate::map_text::Entity;

/// From an entity's origin down to the feet of who stands there: players'
/// origins are 24 above the floor, items lie on it.
const FEET: [f64; 2] = [24.0, 0.0];

/// How far about entities questions are asked, in units: where the game is
/// played.
const ABOUT: f64 = 64.0;

/// Tries to find a place before there is none.
const TRIES: usize = 10_000;

/// Entities that are somewhere, rather than being made of brushes.
pub(super) fn point_entities(entities: &[Entity]) -> impl Iterator<Item = &Entity> {
    entities.iter().filter(|entity| entity.brushes.is_empty())
}

/// Centres of boxes that are where the map's entities are: about the origin
/// itself or, if there is no room, upright upon the same floor with nothing
/// between the origin and the box's centre.
pub(super) fn seeds(
    entities: &[Entity],
    bare: &Brushes,
    expanded: &Brushes,
    half_extents: [f64; 3],
) -> Vec<[f64; 3]> {
    let seed = |origin: [f64; 3]| {
        let [x, y, z] = origin;
        let upright = FEET.map(|feet| [x, y, z - feet + half_extents[2]]);
        let free = |&&centre: &&[f64; 3]| {
            !bare.holds(origin)
                && bare.entry_with_margin(origin, centre, 0.0).is_none()
                && !expanded.holds(centre)
        };
        [origin].iter().chain(&upright).find(free).copied()
    };
    point_entities(entities).filter_map(Entity::origin).filter_map(seed).collect()
}

impl Judge {
    /// A third of the points anywhere in and around the map, a third about its
    /// entities, and a third near corners of expanded brushes, where planes
    /// meet and mistakes gather.
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

    /// An empty place to start from, mostly where the game is played; `None`
    /// if there seems to be none. What the subject has filled is passed over,
    /// unless an entity gets there.
    pub(super) fn start(&self, subject: &dyn Subject, random: &mut Random) -> Option<[f32; 3]> {
        (0..TRIES).find_map(|_| {
            let point = if self.origins.is_empty() || random.one_in(8) {
                self.any_point(random)
            } else {
                self.about_an_entity(random).map(|x| x as f32)
            };
            let empty = self.brushes.judge(wide(point), SHELL) == Judgement::Empty;
            let open = || !subject.is_solid(point) || self.reach(wide(point)) == Reach::Entity;
            (empty && open()).then_some(point)
        })
    }
}
