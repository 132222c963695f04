//! Which entities a tick leaves out: no result depends on it.

use super::*;
use crate::command::{Buttons, Command};
use crate::random::Random;
use crate::traits::CollisionLayers;
use crate::{ForceSpan, LinearMove, MissileMotion, PlayerKind, Swing};

/// The kinds of changes that [`World::disturb_any`] makes.
const KINDS: usize = 20;

impl World {
    /// Makes all entities active, so that the next tick leaves out none.
    fn activate_all(&mut self) {
        for slot in 0..self.entities.slot_count() as u16 {
            let _ = self.entities.get_mut(slot);
        }
    }

    /// Changes a random entity, in a random way. Returns the kind of the change, if it was made.
    fn disturb_any(&mut self, random: &mut Random) -> Option<usize> {
        let ids: Vec<EntityId> = self.entities.iter().map(|entity| entity.id).collect();
        let mut any = || ids[random.below(ids.len() as u64) as usize];
        let (mut id, other) = (any(), any());
        let mut number = |reach: f64| random.between(-reach, reach);
        let at = DVec3::new(number(450.0), number(450.0), 200.0 + number(180.0));
        let by = DVec3::new(number(300.0), number(300.0), number(300.0));
        let turn = DQuat::IDENTITY;
        let model = self.shipped_model(["crate", "barrel", "slab"][random.below(3) as usize]);
        let place = self.entities.find(id)?.placement().map(|at| at.pose().position);
        let kind = random.below(KINDS as u64) as usize;
        if (16..19).contains(&kind) {
            let players = self.players();
            id = players[random.below(players.len() as u64) as usize];
        }
        let is_done = match kind {
            0 => self.spawn_body(model, at, turn).is_ok(),
            1 => self.remove(id).is_ok(),
            2 => self.teleport(id, at, turn).is_ok(),
            3 => self.set_velocity(id, by, DVec3::ZERO).is_ok(),
            4 => self.set_velocity(id, DVec3::ZERO, DVec3::ZERO).is_ok(),
            5 => self.apply_impulse(id, by * 20.0, at).is_ok(),
            6 => self.make_intangible(id).is_ok(),
            7 => self.place(id, at, turn).is_ok(),
            8 => self.attach(id, other, by, turn).is_ok(),
            9 => self.detach(id).is_ok(),
            10 => self.set_layers(id, CollisionLayers { layers: 2, mask: 2 }).is_ok(),
            11 => self.set_layers(id, CollisionLayers::DEFAULT).is_ok(),
            12 => {
                let shot = self.shipped_model("shot");
                self.spawn_missile(shot, MissileMotion::Bouncing, at, by).is_ok()
            }
            13 => self.move_linear(id, LinearMove { goal: at, speed: 200.0, delay: 20 }).is_ok(),
            14 => place.is_some_and(|place| {
                self.swing(id, Swing { place, way: by * 0.2, ticks: 30, at: 0 }).is_ok()
            }),
            15 => self.set_surface_velocity(id, by * 0.2).is_ok(),
            16 => self.set_velocity(id, by, DVec3::ZERO).is_ok(),
            17 => self.take_out(id).is_ok(),
            18 => self.bring_back(id).is_ok(),
            _ => self.add_force(id, by * 3e3, ForceSpan::Tick).is_ok(),
        };
        is_done.then_some(kind)
    }

    /// The slots of the entities that the next tick leaves out.
    fn left_out(&self) -> Vec<u16> {
        let slots = self.entities.iter().map(|entity| entity.id.slot);
        slots.filter(|&slot| !self.entities.active_slots().contains(slot)).collect()
    }
}

/// Compares a busy match with one that never leaves out an entity. The busy match is saved and
/// restored every 50 ticks.
#[test]
fn a_tick_that_leaves_out_what_rests_ends_like_one_that_leaves_out_nothing() {
    let slab = Model::cuboid("slab", DVec3::new(32.0, 32.0, 8.0)).expect("a model");
    let shot = Model::cuboid("shot", DVec3::splat(3.0)).expect("a model");
    let own = [slab.as_kinematic(), shot.as_missile()];
    let models: Arc<[Model]> = shipped().into_iter().chain(own).collect();
    let (mut made, mut left_out, mut ticks_at_rest) = ([0; KINDS], 0, 0);
    for seed in 0..4 {
        let mut world = World::new(room(), Arc::clone(&models), CONFIG).expect("a room");
        let mut random = Random::new(seed);
        for kind in [PlayerKind::Box, PlayerKind::Box, PlayerKind::Hovertank] {
            world.join_as(kind).expect("there is room");
        }
        for index in 0..60 {
            let at = DVec3::new(f64::from(index % 12) * 70.0 - 400.0, 300.0, 20.0);
            let at = at - DVec3::Y * f64::from(index / 12) * 120.0;
            let model = world.shipped_model(["crate", "barrel", "slab"][index as usize % 3]);
            let _ = world.spawn_body(model, at, DQuat::IDENTITY);
        }
        let mut judge = world.clone();
        for tick in 0..900 {
            // A budget of nothing lets bodies skip ticks. In the last part nothing happens, so that
            // the match comes to rest.
            let budget = Some(if tick / 100 % 3 == 1 { 0 } else { 1000 });
            let changes = if tick < 600 { random.below(4) } else { 0 };
            let begun = random.state();
            let buttons = if random.below(2) == 0 { Buttons::CROUCH } else { Buttons::default() };
            let forward = if tick < 600 { 127 } else { 0 };
            let command =
                Command { forward, yaw: (300 * tick) as u16, buttons, ..Command::default() };
            let players = world.players();
            let commands: Vec<_> = players.into_iter().map(|player| (player, command)).collect();
            judge.activate_all();
            for (world, is_judge) in [(&mut judge, true), (&mut world, false)] {
                random = Random::new(begun);
                world.set_budget(budget);
                for kind in (0..changes).filter_map(|_| world.disturb_any(&mut random)) {
                    made[kind] += usize::from(is_judge);
                }
                world.step(&commands);
            }
            if tick % 50 == 49 {
                let saved = world.save();
                assert_eq!(saved, judge.save(), "seed {seed}, tick {tick}");
                world.restore(&saved).expect("a saved match can be loaded");
            }
            assert_eq!(world.digest(), judge.digest(), "seed {seed}, tick {tick}");
            assert_eq!(world.counters().limbo, judge.counters().limbo);
            let placed = world.entities.iter().filter(|entity| entity.placement().is_some());
            assert_eq!(world.counters().entities, placed.count() as u64);
            assert_eq!(world.counters().awake_because, judge.counters().awake_because);
            let slots = world.left_out();
            let rests = |slot: &u16| !world.entities.mobility(*slot).is_guarded();
            assert!(slots.iter().all(rests), "seed {seed}, tick {tick}: {slots:?}");
            let asleep = world.entities.iter().filter(|entity| entity.sleep.asleep).count();
            left_out += slots.len();
            ticks_at_rest += usize::from(asleep > 20 && slots.len() > asleep * 9 / 10);
        }
    }
    assert!(made.iter().all(|count| *count > 0), "{made:?}");
    assert!(left_out > 50_000 && ticks_at_rest > 500, "{left_out}, {ticks_at_rest}");
}
