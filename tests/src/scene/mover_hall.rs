//! A hall full of movers: doors, lifts, trains, crushers and gates that turn, each set off again and
//! again at a phase of its own, among bodies and players. No mover waits for a player. So the
//! course of each mover through an empty hall is known beforehand, and another engine can be given
//! the same courses.

use glam::{DQuat, DVec3};
use obsp::Map;
use obsp::geometry::Aabb;
use obsp::model::{Model, shipped};
use obsp_game::quake::{self, Entities, Family};
use obsp_game::{Game, WorldMut};
use obsp_sim::{CollisionLayers, EntityId, Kind};
use serde::{Deserialize, Serialize};

use crate::harness::{MapBuilder, Random};

/// Maximum number of movers that a hall has room for.
pub const MOST_MOVERS: usize = 64;

/// Movers in a row, and the side of the square of floor for each of them, in units.
const COLUMNS: usize = 8;
const CELL: i32 = 280;

/// Half of the hall's side, and the height of its walls, in units.
const HALF: i32 = 1280;
const WALL: i32 = 640;

/// Spawn points along two of the walls.
const SPAWNS: i32 = 32;

/// The class of the gates, which only this game handles.
const GATE: &str = "hall_gate";

/// The layer of the movers, which pass through each other.
const LAYER: u32 = 1 << (CollisionLayers::COUNT - 1);
const LAYERS: CollisionLayers = CollisionLayers { layers: LAYER, mask: !LAYER };

/// The `.map` text of a hall with this number of movers, in turn lifts, doors, crushers, trains and
/// gates.
///
/// # Panics
/// If there are more than [`MOST_MOVERS`].
pub fn mover_hall(movers: usize) -> MapBuilder {
    assert!(movers <= MOST_MOVERS, "a hall has no room for {movers} movers");
    let (out, top) = (HALF + 32, WALL);
    let mut hall = MapBuilder::default()
        .block([-out, -out, -32], [out, out, 0])
        .block([-out, -out, top], [out, out, top + 32])
        .block([-out, -HALF, 0], [-HALF, HALF, top])
        .block([HALF, -HALF, 0], [out, HALF, top])
        .block([-out, -out, 0], [out, -HALF, top])
        .block([-out, HALF, 0], [out, out, top]);
    for spawn in 0..SPAWNS {
        let y = if spawn % 2 == 0 { -1220 } else { 1220 };
        hall = hall.spawn_point([-1200 + 160 * (spawn / 2), y, 0]);
    }
    for number in 0..movers {
        let (row, column) = (number / COLUMNS, number % COLUMNS);
        let place = [column, row].map(|cell| -1100 + CELL * cell as i32);
        hall = add_mover(hall, number, place);
    }
    hall
}

fn add_mover(hall: MapBuilder, number: usize, [x, y]: [i32; 2]) -> MapBuilder {
    let speed = (60 + 37 * number % 240).to_string();
    let wait = ["0.2", "0.5", "1"][number % 3];
    let name = format!("mover{number}");
    let corner = format!("corner{number}");
    let mut keys = vec![("targetname", name.as_str()), ("speed", &speed), ("dmg", "0")];
    let own = |z, height| ([x, y, z], [x + 128, y + 128, z + height]);
    // Each row begins with another kind.
    let (own_keys, (min, max)): (&[(&str, &str)], _) = match (number + number / COLUMNS) % 5 {
        0 => (&[("classname", "func_plat"), ("height", "120")], own(120, 16)),
        1 => {
            keys.push(("wait", wait));
            (&[("classname", "func_door"), ("angle", "0"), ("lip", "-100")], own(0, 96))
        }
        // The crusher presses on whatever is below it, and goes back when it is set off again.
        2 => (
            &[
                ("classname", "func_door"),
                ("angle", "-2"),
                ("lip", "-76"),
                ("wait", "-1"),
                ("spawnflags", "32"),
            ],
            own(100, 24),
        ),
        3 => {
            let other = format!("{corner}b");
            let ends = [(&corner, &other, [x, y, 140]), (&other, &corner, [x + 90, y, 70])];
            let hall = ends.iter().fold(hall, |hall, (name, next, at)| {
                let origin = format!("{} {} {}", at[0], at[1], at[2]);
                hall.entity(&[
                    ("classname", "path_corner"),
                    ("targetname", name),
                    ("target", next),
                    ("origin", &origin),
                ])
            });
            keys.extend([("classname", "func_train"), ("target", corner.as_str())]);
            let (min, max) = own(140, 16);
            return hall.volume(&keys, min, max);
        }
        _ => (&[("classname", GATE)], ([x - 16, y + 56, 8], [x + 144, y + 72, 104])),
    };
    keys.extend(own_keys);
    hall.volume(&keys, min, max)
}

/// The game of the hall: nobody is hurt, and everything is set off again and again.
#[derive(Clone, Debug)]
pub struct MoverHall;

/// The state of the hall's game.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HallState {
    entities: Entities,
    /// The movers of the families.
    movers: Vec<EntityId>,
    gates: Vec<EntityId>,
}

impl HallState {
    /// The bodies of all movers: those of the families first, and then the gates.
    pub fn movers(&self) -> impl Iterator<Item = EntityId> {
        self.movers.iter().chain(&self.gates).copied()
    }
}

impl Game for MoverHall {
    type State = HallState;

    fn models(&self) -> Vec<Model> {
        shipped()
    }

    fn brush_models(&self, map: &Map) -> Vec<Model> {
        let mut models = quake::brush_models(map, Family::ALL);
        let gates = map.entities().iter().filter(|entity| entity.classname() == GATE);
        models.extend(gates.filter_map(|gate| map.model_of(gate).ok()));
        models
    }

    fn classes(&self) -> Vec<String> {
        let mut classes = quake::classes(Family::ALL);
        classes.push(GATE.to_owned());
        classes
    }

    fn set_up(&self, world: &mut WorldMut<'_>) -> HallState {
        let entities = Entities::set_up(world, Family::ALL);
        let map = std::sync::Arc::clone(world.map());
        let gates = map.entities().iter().filter(|entity| entity.classname() == GATE);
        let gates = gates.filter_map(|gate| {
            let bounds = gate.solids().iter().fold(Aabb::EMPTY, |all, it| all.union(*it.bounds()));
            make_way(world, &bounds.inflated(1.0));
            let drawn = world.model_of(gate)?;
            let body = world.spawn_body(drawn.model, drawn.place, DQuat::IDENTITY).ok()?;
            world.set_layers(body, LAYERS).ok()?;
            Some(body)
        });
        let gates = gates.collect();
        let movers = entities.movers().collect();
        HallState { entities, movers, gates }
    }

    fn tick(&self, state: &mut HallState, world: &mut WorldMut<'_>) {
        state.entities.tick(world);
        let tick = world.tick();
        for (number, body) in state.movers.iter().enumerate() {
            if beat(number, tick).is_some() {
                state.entities.set_off_body(world, *body, None);
            }
        }
        for (number, body) in state.gates.iter().enumerate() {
            // Gates and movers have phases of their own.
            let Some(beat) = beat(MOST_MOVERS + number, tick) else { continue };
            let axis = if number % 2 == 0 { DVec3::Z } else { DVec3::X };
            let speed = 0.5 + 0.25 * (number % 7) as f64;
            let turn = [speed, -speed, 0.0, -speed, speed][beat as usize % 5];
            // A gate that fell out of the hall does not turn.
            let _ = world.set_velocity(*body, DVec3::ZERO, axis * turn);
        }
    }
}

/// How often a mover has been set off before, if it is set off in this tick.
fn beat(number: usize, tick: u64) -> Option<u64> {
    let mut random = Random::new(number as u64 + 1);
    let period = 90 + random.below(240) as u64;
    let phase = random.below(period as usize) as u64;
    let since = tick.checked_sub(phase)?;
    since.is_multiple_of(period).then_some(since / period)
}

/// Puts the bodies in a box elsewhere.
fn make_way(world: &mut WorldMut<'_>, bounds: &Aabb) {
    for id in world.overlapping_box(bounds) {
        let Some(entity) = world.entity(id) else { continue };
        let Kind::Prop { model } = entity.kind else { continue };
        if world.remove(id).is_ok() {
            // Nothing is in the gate's place yet. A place above it keeps the body from coming back.
            let beside = entity.position.with_z(bounds.max.z + 40.0);
            let _ = world.spawn_body_near(model, beside, entity.orientation);
        }
    }
}
