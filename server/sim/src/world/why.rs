//! Why a body is as it is: what it touches and by which plane, which stage of the cascade
//! decides that, the impulses, and why it is awake or asleep. Asked by people, of one body at
//! a time: the simulation keeps no record of it.

use glam::DVec3;

use super::World;
use crate::bodies::blocker::Blocker;
use crate::bodies::entities::Entity;
use crate::bodies::sleep::{self, AwakeReason, TOUCH};
use crate::collision::cascade::Body;
use crate::collision::separation::{Proximity, separate};
use crate::counters::Stage;
use crate::query::deciding;
use crate::state::EntityId;

/// The account of one body after a tick.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    /// The body.
    pub id: EntityId,
    /// Whether it sleeps.
    pub asleep: bool,
    /// Why it was awake at the end of the tick, if it was.
    pub awake_because: AwakeReason,
    /// The bodies that fell asleep together with it and wake together with it, in ascending
    /// order of slot; none while it is awake.
    pub island: Vec<EntityId>,
    /// Upper bound of the speed of its surface, in units per second.
    pub surface_speed: f64,
    /// Ticks in a row in which its surface was slow, in which it stayed where it was, and in
    /// which the solver or the guard held it: the longest of them lets it sleep.
    pub rests: [u16; 3],
    /// How many ticks of the first kind it takes to fall asleep.
    pub rest_needed: u16,
    /// Whether the solver or the guard holds it in this tick.
    pub held: bool,
    /// All that it touches: the nearest first.
    pub touching: Vec<Touching>,
}

/// Something that a body touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touching {
    /// The other body; `None` for the world.
    pub other: Option<EntityId>,
    /// The index of the world's solid; `None` for a body.
    pub solid: Option<u32>,
    /// The nearest point of the body, in units.
    pub at: DVec3,
    /// Normal of the plane between the two, from the body to the other.
    pub normal: DVec3,
    /// Their distance along it, in units; zero if they overlap.
    pub gap: f64,
    /// The normal impulse of the solver in the last tick, in kilogram units per second.
    pub impulse: f64,
    /// The stage of the cascade that decides the pair when it meets for the first time.
    pub stage: Stage,
}

impl World {
    /// Why an entity is as it is; `None` if it is not in the world.
    pub fn why(&self, id: EntityId) -> Option<Why> {
        let entity = self.entities.find(id)?;
        let body = self.space().standing(entity)?;
        let around = entity.placement()?.bounds().inflated(TOUCH);
        let mut touching = Vec::new();
        self.space().visit_solids(&around, |index, solid| {
            touching.extend(self.touch(entity, &body, Blocker::Solid(index), &solid));
        });
        self.space().visit_entities(&around, Some(id.slot), &mut |slot, other| {
            touching.extend(self.touch(entity, &body, Blocker::Entity(slot), &other));
        });
        touching.sort_by(|a: &Touching, b| a.gap.total_cmp(&b.gap));
        let state = &entity.sleep;
        let together = |other: &&Entity| {
            state.asleep && other.sleep.asleep && other.sleep.island == state.island
        };
        let island = self.entities.iter().filter(together).map(|other| other.id);
        Some(Why {
            id,
            asleep: state.asleep,
            awake_because: state.awake_because,
            island: island.filter(|other| *other != id).collect(),
            surface_speed: sleep::surface_speed(entity, &self.arena.shapes),
            rests: [state.still_ticks, state.jitter_ticks, state.held_ticks],
            rest_needed: (sleep::STILL_SECONDS / self.context.seconds).ceil() as u16,
            held: state.held,
            touching,
        })
    }

    /// How a body and something near it touch; `None` if they do not.
    fn touch(
        &self,
        entity: &Entity,
        body: &Body,
        blocker: Blocker,
        other: &Body,
    ) -> Option<Touching> {
        let mut nearest = (f64::INFINITY, DVec3::ZERO, DVec3::Z);
        for theirs in other.parts_at_start() {
            for ours in body.parts_at_start() {
                let toward = theirs.centre() - ours.centre();
                let found = match separate(&ours, &theirs, toward) {
                    Proximity::Apart(found) => (found.gap, found.on_a, found.axis),
                    Proximity::Overlapping => (0.0, ours.centre(), toward.normalize_or(DVec3::Z)),
                };
                if found.0 < nearest.0 {
                    nearest = found;
                }
            }
        }
        let (gap, at, normal) = nearest;
        if gap > TOUCH {
            return None;
        }
        let own = entity.id.slot;
        let between = |body: u16, met: Blocker| {
            let reverse = met == Blocker::Entity(own) && blocker == Blocker::Entity(body);
            body == own && met == blocker || reverse
        };
        let pairs = self.pairs.iter().filter(|pair| between(pair.key.body, pair.key.other));
        let impulse = pairs.flat_map(|pair| &pair.points).map(|point| point.impulse[0]).sum();
        let (other_id, solid) = match blocker {
            Blocker::Solid(index) => (None, Some(index)),
            Blocker::Entity(slot) => (self.entities.get(slot).map(|other| other.id), None),
        };
        let stage = deciding(body, other);
        Some(Touching { other: other_id, solid, at, normal, gap, impulse, stage })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::DQuat;
    use obsp::model::shipped;

    use crate::test_maps::{block, compiled};
    use crate::{Config, Stage, World};

    /// Two crates on a floor, one on the other: who carries whom, and why they sleep.
    #[test]
    fn a_stack_tells_what_carries_it_and_that_it_sleeps_together() {
        let map = compiled(&block([-256, -256, -16], [256, 256, 0]), [-200, -200, 25], "");
        let config = Config { tick_rate: 60, seed: 1, objects: 0, max_players: 2 };
        let mut world = World::new(Arc::clone(&map), shipped().into(), config).unwrap();
        let model = world.model_names().iter().position(|name| name == "crate").unwrap();
        let model = crate::ModelId(model as u8);
        let place = |world: &mut World, z: f64| {
            world.spawn_body(model, glam::DVec3::new(0.0, 0.0, z), DQuat::IDENTITY).unwrap()
        };
        let lower = place(&mut world, 16.2);
        let upper = place(&mut world, 48.5);
        world.step(&[]);
        let falls = world.why(upper).unwrap();
        assert!(!falls.asleep && falls.island.is_empty() && falls.rests[0] <= 1, "{falls:?}");
        // Before they sleep the solver tells what each bears.
        let bears = (0..60).find_map(|_| {
            world.step(&[]);
            let now = world.why(lower)?;
            let loaded = now.touching.iter().all(|touching| touching.impulse > 0.0);
            (loaded && now.touching.len() == 2).then_some(now)
        });
        let bears = bears.expect("the lower crate bears the upper one");
        let of = |solid: bool| bears.touching.iter().find(|t| t.solid.is_some() == solid).unwrap();
        let (ground, load) = (of(true), of(false));
        assert!(ground.normal.z < -0.99 && load.normal.z > 0.99, "{bears:?}");
        assert_eq!(load.other, Some(upper));
        // A face of either box divides them.
        assert_eq!((ground.stage, load.stage), (Stage::Boxes, Stage::Boxes));
        assert!(ground.gap > 0.0 && ground.gap < 0.2, "{bears:?}");
        (0..120).for_each(|_| world.step(&[]));
        let sleeps = world.why(upper).unwrap();
        assert!(sleeps.asleep && sleeps.island == [lower], "{sleeps:?}");
        assert_eq!(sleeps.touching.len(), 1, "{sleeps:?}");
    }
}
