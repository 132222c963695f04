//! Sweeps of a shape through the world, which find the first thing that the shape meets.

use glam::{DQuat, DVec3};
use obsp::{ClippedSegment, clip_to_extent};

use super::World;
use crate::bodies::guard::Seeker;
use crate::collision::cascade::{Body, first_impact};
use crate::collision::distances::MARGIN;
use crate::collision::pose::{Pose, unit};
use crate::collision::shape::Shape;
use crate::collision::time_of_impact::TimeOfImpact;
use crate::context::StepContext;
use crate::state::{EntityId, ModelId, Posture};

/// The end of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepHit {
    /// The last free position of the shape, in units.
    pub at: DVec3,
    /// Share of the motion that is free; 1 if the shape meets nothing, 0 if it starts in
    /// something.
    pub fraction: f64,
    /// Unit normal of the surface that the shape meets, towards the shape; zero if it meets
    /// nothing.
    pub normal: DVec3,
    /// The entity that the shape meets; `None` if it meets the map, or nothing.
    pub entity: Option<EntityId>,
    /// Whether the shape starts in something or beyond the extent of worlds. The value is `true` as
    /// well if there is no such shape, or a number is not finite.
    pub start_solid: bool,
}

/// A shape to sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SweptShape {
    /// A box of these half extents in units, along the axes of its orientation: from a
    /// thousandth of a unit to [`obsp::UNIVERSE`].
    Box(DVec3),
    /// The box of a player.
    Player(Posture),
    /// A model.
    Model(ModelId),
}

/// Longest motion, in units, that one search covers. Times of impact are shares of a motion, so in
/// a longer motion the shape would stop farther from the obstacle.
const LONGEST: f64 = 512.0;

/// Maximum number of searches of a sweep. Each blocked search leads to another one, nearer to the
/// obstacle. A shape that grazes a body's edge may need dozens.
const MAX_SEARCHES: u32 = 64;

/// The obstacle of a motion.
#[derive(Clone, Copy)]
struct Met {
    /// Share of the motion that is free.
    time: f64,
    normal: DVec3,
    entity: Option<u16>,
    overlapping: bool,
}

impl World {
    /// Sweeps a shape in a straight line, without turning, until it meets something. The
    /// entity `ignored` is left out. The line of its centre is clipped like that of
    /// [`World::cast_ray`]. [`SweepHit::fraction`] is zero if the shape starts in something, if
    /// there is no such model, if the box has no volume, or if a number is not finite.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::{DQuat, DVec3};
    /// # use obsp_sim::{Config, SweptShape, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// // A box of 16 units a side, down to the floor.
    /// let from = DVec3::new(-400.0, -320.0, 100.0);
    /// let to = from - DVec3::Z * 200.0;
    /// let shape = SweptShape::Box(DVec3::splat(8.0));
    /// let hit = world.sweep(shape, DQuat::IDENTITY, [from, to], None);
    /// assert!((hit.at.z - 8.0).abs() < 0.2 && hit.normal.z > 0.99);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sweep(
        &self,
        shape: SweptShape,
        orientation: DQuat,
        [from, to]: [DVec3; 2],
        ignored: Option<EntityId>,
    ) -> SweepHit {
        let counts = |id: EntityId| ignored.is_none_or(|ignored| ignored.slot != id.slot);
        self.sweep_where(shape, orientation, [from, to], counts)
    }

    /// Sweeps a shape like [`World::sweep`], but without the entities for which `counts` is false.
    /// The map always counts.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::{DQuat, DVec3};
    /// # use obsp_sim::{Config, PlayerKind, SweptShape, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// // A probe that starts in one of two players, and leaves both out.
    /// let place = DVec3::new(-400.0, -320.0, 40.0);
    /// let both = [DVec3::ZERO, DVec3::X * 64.0].map(|beside| {
    ///     world.add_player_at(PlayerKind::Box, place + beside, 0).expect("there is room")
    /// });
    /// let ends = [place, place + DVec3::X * 64.0];
    /// let shape = SweptShape::Box(DVec3::splat(2.0));
    /// let hit = world.sweep_where(shape, DQuat::IDENTITY, ends, |id| !both.contains(&id));
    /// assert_eq!(hit.fraction, 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sweep_where(
        &self,
        shape: SweptShape,
        orientation: DQuat,
        [from, to]: [DVec3; 2],
        counts: impl Fn(EntityId) -> bool,
    ) -> SweepHit {
        let nothing = SweepHit {
            at: from,
            fraction: 0.0,
            normal: DVec3::ZERO,
            entity: None,
            start_solid: true,
        };
        let Some(ClippedSegment { end, share }) = clip_to_extent(from, to) else { return nothing };
        let Some(orientation) = unit(orientation) else { return nothing };
        let own;
        let shape = match shape {
            SweptShape::Player(posture) => {
                Some(&self.arena.shapes[self.arena.shapes.of_posture(posture)])
            }
            SweptShape::Model(model) => {
                self.arena.shapes.of_model(model).map(|id| &self.arena.shapes[id])
            }
            SweptShape::Box(half_extents) => {
                own = Shape::probe(half_extents);
                own.as_ref()
            }
        };
        let Some(shape) = shape else { return nothing };
        let ends = [from, end].map(|position| Pose { position, orientation });
        let (at, met) = self.swept(shape, ends, &counts);
        let Some(met) = met else {
            return SweepHit { at: end, fraction: 1.0, start_solid: false, ..nothing };
        };
        let entity = met.entity.and_then(|slot| self.entities.get(slot)).map(|entity| entity.id);
        let (time, normal, start_solid) = (met.time * share, met.normal, met.overlapping);
        SweepHit { at, fraction: time, normal, entity, start_solid }
    }

    /// The last free position of a motion, and the obstacle that blocks it. A long motion that is
    /// blocked is searched again from its last free position, until the rest is short.
    fn swept(
        &self,
        shape: &Shape,
        [start, end]: [Pose; 2],
        counts: &dyn Fn(EntityId) -> bool,
    ) -> (DVec3, Option<Met>) {
        let whole = start.position.distance(end.position);
        let along = |way: f64| {
            let time = if whole > 0.0 { way / whole } else { 1.0 };
            Pose { position: start.position.lerp(end.position, time), ..start }
        };
        let mut context = self.context.share();
        let (mut free, mut ahead) = (0.0, whole);
        let mut blocked = None;
        for search in 0..MAX_SEARCHES {
            let until = if whole - free <= ahead { whole } else { free + ahead };
            let first = if search == 0 { start } else { along(free) };
            let last = if until == whole { end } else { along(until) };
            let body = Body::moving(shape, first, last);
            let Some(met) = self.first_met(&body, counts, &mut context) else {
                if until == whole {
                    return (end.position, None);
                }
                (free, ahead) = (until, whole);
                continue;
            };
            let way = until - free;
            if search == 0 && (met.overlapping || way <= LONGEST) {
                return (body.motion.at(met.time).position, Some(met));
            }
            free += way * met.time;
            let time = free / whole;
            blocked = Some(Met { time, overlapping: false, ..met });
            if met.overlapping || way <= LONGEST {
                break;
            }
            ahead = LONGEST;
        }
        (along(free).position, blocked)
    }

    /// The first thing that a moving body meets, without the entities for which `counts` is false.
    fn first_met(
        &self,
        body: &Body,
        counts: &dyn Fn(EntityId) -> bool,
        context: &mut StepContext,
    ) -> Option<Met> {
        let mut first: Option<Met> = None;
        let mut meet = |entity: Option<u16>, obstacle: &Body| {
            let met = match first_impact(body, obstacle, (0.0, 1.0), MARGIN, None, context) {
                TimeOfImpact::Free => return,
                TimeOfImpact::Overlapping => {
                    Met { time: 0.0, normal: DVec3::ZERO, entity, overlapping: true }
                }
                TimeOfImpact::Blocked(impact) => {
                    Met { time: impact.time, normal: -impact.axis, entity, overlapping: false }
                }
            };
            if met.overlapping || first.is_none_or(|first| met.time < first.time) {
                first = Some(met);
            }
        };
        let reach = body.speedbox().inflated(MARGIN);
        self.space().visit_solids(&reach, |_, solid| meet(None, &solid));
        self.space().visit_entities(&reach, Seeker::QUERY, &mut |slot, other| {
            if self.id_in(Some(slot)).is_some_and(counts) {
                meet(Some(slot), &other);
            }
        });
        first
    }
}
