//! Why a body is as it is: what it touches and along which plane, which stage of the cascade
//! decides each pair, the impulses, the obstacle that the guard stopped it at, and why it is awake
//! or asleep. The account is computed only when a game or a tool asks about a body. The obstacle
//! alone is recorded in advance, because it is known only while the body moves.

use glam::DVec3;

use super::World;
use crate::bodies::blocker::Blocker;
use crate::bodies::entities::{Entity, Stopped};
use crate::bodies::guard::Seeker;
use crate::bodies::sleep::{self, TOUCH};
use crate::collision::cascade::Body;
use crate::collision::cascade::deciding;
use crate::collision::separation::{Proximity, separate};
use crate::counters::{AwakeReason, Stage};
use crate::state::EntityId;

/// The condition on which a body falls asleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FallsAsleep {
    /// The body falls asleep after some ticks of rest: see [`Why::rests`].
    AtRest,
    /// The body is kinematic: it sleeps while its game gives it no velocity.
    WithoutVelocity,
    /// The body is a player on foot. Players on foot do not sleep.
    NeverPlayer,
    /// The body is a missile. Missiles have rules of their own for sleep.
    NeverMissile,
}

/// The obstacle at which the guard stopped a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoppedBy {
    /// The other body; `None` if the world stopped the body, or if the other body has left the
    /// match since.
    pub other: Option<EntityId>,
    /// The index of the world's solid; `None` for a body.
    pub solid: Option<u32>,
    /// Normal of the plane between the two, from the body to the obstacle.
    pub normal: DVec3,
    /// The share of its motion in this tick that the body had made, 0 to 1. The body may have gone
    /// on later in the tick, after the obstacle had moved.
    pub share: f64,
}

/// The account of one body after a tick.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    /// The body.
    pub id: EntityId,
    /// Whether the body sleeps.
    pub asleep: bool,
    /// The reason why the body was awake at the end of the tick, if it was awake.
    pub awake_because: AwakeReason,
    /// The bodies that fell asleep together with this body and wake with it, in ascending order of
    /// slot; empty while this body is awake.
    pub island: Vec<EntityId>,
    /// Upper bound of the speed of the body's surface, in units per second.
    pub surface_speed: f64,
    /// Three counts of ticks in a row: ticks in which the body's surface was slow, in which the
    /// body stayed where it was (a quarter of a tick if it balanced), and in which the solver or
    /// the guard held the body. The greatest count decides when the body sleeps, if it sleeps at
    /// rest.
    pub rests: [u16; 3],
    /// The condition on which the body falls asleep.
    pub falls_asleep: FallsAsleep,
    /// Number of ticks at which a count makes the body fall asleep.
    pub rest_needed: u16,
    /// Whether the solver or the guard holds the body in this tick.
    pub held: bool,
    /// The last obstacle at which the guard stopped the body in this tick. `None` if its whole
    /// motion was free, and right after a match was loaded. `None` as well for players on foot and
    /// missiles, which are stopped by other rules.
    pub stopped: Option<StoppedBy>,
    /// The bodies and solids that the body touches, the nearest first.
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
    /// Distance of the two along the normal, in units; zero if they overlap.
    pub gap: f64,
    /// The normal impulse of the solver in the last tick, in kg·units/s.
    pub impulse: f64,
    /// The stage of the cascade that decides the pair at its first meeting.
    pub stage: Stage,
}

impl FallsAsleep {
    fn of(entity: &Entity) -> Self {
        if entity.is_kinematic() {
            Self::WithoutVelocity
        } else if entity.missile().is_some() {
            Self::NeverMissile
        } else if entity.is_rigid() {
            Self::AtRest
        } else {
            Self::NeverPlayer
        }
    }

    /// The name under which the condition is reported.
    pub fn name(self) -> &'static str {
        match self {
            Self::AtRest => "at_rest",
            Self::WithoutVelocity => "without_velocity",
            Self::NeverPlayer => "never_player",
            Self::NeverMissile => "never_missile",
        }
    }
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
        self.space().visit_entities(&around, Seeker::of(entity), &mut |slot, other| {
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
            rests: [state.still_ticks, state.jitter_ticks / sleep::JITTER_WEIGHT, state.held_ticks],
            rest_needed: (sleep::STILL_SECONDS / self.context.seconds).ceil() as u16,
            held: state.held,
            falls_asleep: FallsAsleep::of(entity),
            stopped: entity.record.stopped.map(|stopped| self.stopped_by(stopped)),
            touching,
        })
    }

    /// The id of the blocking body, or the index of the blocking solid.
    fn named(&self, blocker: Blocker) -> (Option<EntityId>, Option<u32>) {
        match blocker {
            Blocker::Solid(index) => (None, Some(index)),
            Blocker::Entity(slot) => (self.entities.get(slot).map(|other| other.id), None),
        }
    }

    fn stopped_by(&self, Stopped { by, normal, share }: Stopped) -> StoppedBy {
        let (other, solid) = self.named(by);
        StoppedBy { other, solid, normal, share }
    }

    /// An account of an entity after the tick; `None` if it is not in the world.
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
        let impulse =
            pairs.flat_map(|pair| &pair.points).map(|point| f64::from(point.impulse[0])).sum();
        let (other_id, solid) = self.named(blocker);
        let stage = deciding(body, other);
        Some(Touching { other: other_id, solid, at, normal, gap, impulse, stage })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::{DQuat, DVec3};
    use obsp::model::{Model, shipped};

    use super::{FallsAsleep, Touching};
    use crate::test_maps::{block, compiled};
    use crate::{Config, EntityId, ModelId, PlayerKind, Stage, World};

    /// A floor, and the shipped models with a crate, `lift`, that a game drives.
    fn maps() -> (Arc<obsp::Map>, Arc<[Model]>) {
        let map = compiled(&block([-256, -256, -16], [256, 256, 0]), [-200, -200, 25], "");
        let text = include_str!("../../../../maps/models/crate.obj");
        let lift = Model::from_obj("lift", text).unwrap().as_kinematic();
        (map, shipped().into_iter().chain([lift]).collect())
    }

    /// A floor without anything on it, and the model of crates.
    fn floor() -> (World, ModelId) {
        let (map, models) = maps();
        let config = Config { tick_rate: 60, seed: 1, objects: 0, max_players: 2 };
        let world = World::new(map, models, config).unwrap();
        let model = model(&world, "crate");
        (world, model)
    }

    fn model(world: &World, name: &str) -> ModelId {
        let model = world.model_names().iter().position(|model| model == name).unwrap();
        ModelId(model as u8)
    }

    /// Two crates on a floor, one on the other: which one carries the other, and why they sleep.
    #[test]
    fn a_stack_tells_what_carries_it_and_that_it_sleeps_together() {
        let (mut world, model) = floor();
        let place = |world: &mut World, z: f64| {
            world.spawn_body(model, DVec3::new(0.0, 0.0, z), DQuat::IDENTITY).unwrap()
        };
        let lower = place(&mut world, 16.2);
        let upper = place(&mut world, 48.5);
        world.step(&[]);
        let falls = world.why(upper).unwrap();
        assert!(!falls.asleep && falls.island.is_empty() && falls.rests[0] <= 1, "{falls:?}");
        // Before they sleep, the impulses of the solver show the load of each.
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
        // A face of one of the boxes divides them.
        assert_eq!((ground.stage, load.stage), (Stage::Boxes, Stage::Boxes));
        assert!(ground.gap > 0.0 && ground.gap < 0.2, "{bears:?}");
        assert_eq!(bears.falls_asleep, FallsAsleep::AtRest);
        (0..120).for_each(|_| world.step(&[]));
        let sleeps = world.why(upper).unwrap();
        assert!(sleeps.asleep && sleeps.island == [lower], "{sleeps:?}");
        assert_eq!(sleeps.touching.len(), 1, "{sleeps:?}");
        // A sleeping body was not stopped in this tick.
        assert_eq!(sleeps.stopped, None);
    }

    /// A driven body meets the floor in the middle of its motion, then begins a motion at the
    /// floor, then makes a free one. The obstacle is neither saved nor part of the digest.
    #[test]
    fn a_body_tells_what_the_guard_stopped_it_with() {
        let (mut world, _) = floor();
        let lift = world.spawn_body(model(&world, "lift"), DVec3::Z * 26.0, DQuat::IDENTITY);
        let lift = lift.unwrap();
        assert_eq!(world.why(lift).unwrap().falls_asleep, FallsAsleep::WithoutVelocity);
        // It moves 20 units a tick, and the floor is 10 below it.
        world.set_velocity(lift, DVec3::Z * -1200.0, DVec3::ZERO).unwrap();
        world.step(&[]);
        let stop = world.why(lift).unwrap().stopped.expect("the floor is in the way of the lift");
        assert!(stop.other.is_none() && stop.solid.is_some(), "{stop:?}");
        assert!(stop.normal.z < -0.99 && (0.4..0.5).contains(&stop.share), "{stop:?}");
        let (map, models) = maps();
        let loaded = World::load(map, models, &world.save()).unwrap();
        assert_eq!(loaded.why(lift).unwrap().stopped, None);
        assert_eq!(loaded.digest(), world.digest());
        world.step(&[]);
        let stop = world.why(lift).unwrap().stopped.expect(
            "the floor is still in the way of the \
            lift",
        );
        assert!(stop.share < 0.1, "{stop:?}");
        world.set_velocity(lift, DVec3::Z * 600.0, DVec3::ZERO).unwrap();
        world.step(&[]);
        assert_eq!(world.why(lift).unwrap().stopped, None, "the way up is free");
    }

    /// A heap of tumbling bodies, some of which the guard stops while they turn. Each names the
    /// obstacle, and a plane that still divides the two where they stayed together.
    #[test]
    fn bodies_of_a_heap_tell_what_the_guard_stopped_them_with() {
        let (mut world, _) = floor();
        let names = ["u_block", "star", "l_block", "plank", "crate", "barrel"];
        let mut spawn = |number: usize| {
            let [x, y] = [number % 3, number / 3 % 2].map(|place| place as f64 * 90.0 - 90.0);
            let at = DVec3::new(x, y, 60.0 + (number / 6) as f64 * 90.0);
            let model = model(&world, names[number % names.len()]);
            let id = world.spawn_body(model, at, DQuat::from_rotation_x(number as f64)).unwrap();
            // The body is thrown towards the middle of the heap.
            let (linear, angular) = (DVec3::new(-x, -y, -200.0), DVec3::new(9.0, 7.0, 5.0));
            world.set_velocity(id, linear, angular).unwrap();
            id
        };
        let heap: Vec<EntityId> = (0..18).map(&mut spawn).collect();
        let [mut by_bodies, mut by_solids, mut together] = [0; 3];
        for _ in 0..240 {
            world.step(&[]);
            for why in heap.iter().map(|&id| world.why(id).unwrap()) {
                let Some(stop) = why.stopped else { continue };
                assert!((0.0..=1.0).contains(&stop.share), "{why:?}");
                assert!(stop.other.is_some() != stop.solid.is_some(), "{why:?}");
                assert_ne!(stop.other, Some(why.id));
                *if stop.solid.is_some() { &mut by_solids } else { &mut by_bodies } += 1;
                let is_it = |near: &&Touching| (near.other, near.solid) == (stop.other, stop.solid);
                // A body that turns fast is in another pose by the end of the tick. Concave bodies
                // touch in several places.
                let is_slow = why.surface_speed < 30.0;
                let near: Vec<&Touching> = why.touching.iter().filter(is_it).collect();
                if is_slow && !near.is_empty() {
                    assert!(near.iter().any(|near| near.normal.dot(stop.normal) > 0.9), "{why:?}");
                    together += 1;
                }
            }
        }
        println!("stopped by bodies {by_bodies}, by the world {by_solids}, together {together}");
        assert!(by_bodies > 10 && by_solids > 0 && together > 0);
    }

    /// Players on foot do not sleep, so the counts of ticks at rest say nothing about them.
    #[test]
    fn players_do_not_fall_asleep() {
        let (mut world, _) = floor();
        let player = world.add_player(PlayerKind::Box).unwrap();
        world.step(&[]);
        assert_eq!(world.why(player).unwrap().falls_asleep, FallsAsleep::NeverPlayer);
    }
}
