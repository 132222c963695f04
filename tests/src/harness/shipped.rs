//! Checks of every map that ships with the project.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;

use glam::{DQuat, DVec3, IVec3};
use obsp::Map;
use obsp::model::shipped;

use super::crowd::{FIRST_MODEL_SHAPE, STANDING_SHAPE, crowd_shapes};
use super::{compile, own_map};
use crate::oracle::bodies::{Audit, Placed};
use crate::oracle::brushes::Brushes;
use crate::oracle::map_text::{Entity, parse};

/// Height of the centre of a player's box (32 × 32 × 56 units) above a spawn point's origin, which
/// is 24 units above the feet.
const SPAWN_RISE: f64 = 4.0;

/// Step of the flood, in units: half the thickness of the thinnest wall, so that no step passes
/// through a wall.
const FLOOD_STEP: i32 = 16;

/// A map in `maps/`: its source and its compiled map.
#[derive(Debug)]
pub struct ShippedMap {
    name: String,
    entities: Vec<Entity>,
    world: Map,
}

impl ShippedMap {
    /// Reads and compiles `maps/NAME.map`.
    ///
    /// # Panics
    /// If there is no such map, or it does not compile.
    pub fn read(name: &str) -> Self {
        let path = source(name);
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let entities = parse(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Self { name: name.to_owned(), entities, world: compile(&path) }
    }

    /// The world compiled from the source.
    pub fn world(&self) -> &Map {
        &self.world
    }

    /// Every entity of the source, as the oracle reads it.
    pub fn entities(&self) -> &[Entity] {
        &self.entities
    }

    /// The entities of a class.
    pub fn of_class<'a>(&'a self, class: &'a str) -> impl Iterator<Item = &'a Entity> {
        self.entities.iter().filter(move |entity| entity.get("classname") == Some(class))
    }

    /// Asserts that the committed `.obsp` is the one compiled from the source, and no larger than
    /// `limit` bytes.
    ///
    /// # Panics
    /// If the file is out of date or too large. The message has the command that renews it.
    pub fn assert_current(&self, limit: usize) {
        let path = own_map(&format!("{}.obsp", self.name));
        let committed = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let now = self.world.to_bytes();
        assert!(
            committed == now,
            "maps/{name}.obsp ({} bytes) differs from maps/{name}.map as compiled now ({} bytes). If \
             the map, maps/spaces.toml or the compiler was changed on purpose, renew it with: \
             cargo run --release --bin mapc -- compile maps/{name}.map",
            committed.len(),
            now.len(),
            name = self.name,
        );
        assert!(now.len() <= limit, "{}: {} bytes, above {limit}", path.display(), now.len());
    }

    /// Asserts that there are at least `least` spawn points. A standing player must have room at
    /// each of them, with two units to spare on every side, while players stand at all the others.
    ///
    /// # Panics
    /// If a spawn point has no room. The message names it.
    pub fn assert_spawns_have_room(&self, least: usize) {
        let spawns: Vec<DVec3> = self.spawn_centres().collect();
        assert!(spawns.len() >= least, "{}: only {} spawn points", self.name, spawns.len());
        let standing = self.world.size("standing").expect("the map has the size `standing`");
        let roomy = Brushes::new(&self.entities, [18.0, 18.0, 30.0]);
        for (i, &centre) in spawns.iter().enumerate() {
            let holder = roomy.holder(centre.to_array());
            assert_eq!(holder, None, "{}: spawn {centre} is in the brush of this line", self.name);
            assert!(!self.world.is_solid(standing, centre.as_vec3()), "spawn {centre} is in solid");
            for other in &spawns[..i] {
                let apart = (*other - centre).abs();
                let apart = apart.x > 32.0 || apart.y > 32.0 || apart.z > 56.0;
                assert!(apart, "{}: spawn {centre} overlaps another", self.name);
            }
        }
    }

    /// Asserts that there are at least `least` props, all of shipped models, and that none
    /// overlaps the world, another prop or a player at a spawn point.
    ///
    /// # Panics
    /// If a prop is missing or overlaps something. The message has the overlaps.
    pub fn assert_props_are_free(&self, least: usize) {
        let models = shipped();
        let props: Vec<&Entity> = self.of_class("prop").collect();
        assert!(props.len() >= least, "{}: only {} props", self.name, props.len());
        let props = props.into_iter().map(|prop| {
            let name = prop.get("model").expect("a prop has a model");
            let model = models.iter().position(|m| m.name() == name).expect("the model ships");
            let degrees: f64 = prop.get("angle").map_or(0.0, |a| a.parse().expect("degrees"));
            let orientation = DQuat::from_rotation_z(degrees.to_radians());
            Placed { id: 0, shape: FIRST_MODEL_SHAPE + model, orientation, position: origin(prop) }
        });
        // All players may spawn before a prop has moved.
        let players = self.spawn_centres().map(|position| Placed {
            id: 0,
            shape: STANDING_SHAPE,
            orientation: DQuat::IDENTITY,
            position,
        });
        let mut things: Vec<Placed> = props.chain(players).collect();
        for (id, thing) in things.iter_mut().enumerate() {
            thing.id = id as u64;
        }
        let overlaps = Audit::new(&self.entities, crowd_shapes(&models)).judge(&things);
        assert!(overlaps.is_empty(), "{}: {overlaps:?} among {things:#?}", self.name);
    }

    /// Asserts that there are at least `least` triggers. Each must have one brush and one target,
    /// and the target must exist.
    ///
    /// # Panics
    /// If a trigger or a target is missing. The message has the target.
    pub fn assert_triggers_lead_somewhere(&self, least: usize) {
        let class = |entity: &Entity| entity.get("classname").unwrap_or("").to_owned();
        let triggers = || self.entities.iter().filter(|e| class(e).starts_with("trigger_"));
        for trigger in triggers() {
            let target = trigger.get("target").expect("a trigger has a target");
            let ends = self.entities.iter().filter(|e| e.get("targetname") == Some(target)).count();
            assert_eq!((ends, trigger.brushes.len()), (1, 1), "{}: {target}", self.name);
        }
        assert!(triggers().count() >= least, "{}: only {} triggers", self.name, triggers().count());
    }

    /// Asserts that a crouching player who could fly would reach all spawn points from the first
    /// one, and could not leave the map.
    ///
    /// # Panics
    /// If a spawn point cannot be reached, or the map is open. The message has the place.
    pub fn assert_sealed_and_connected(&self) {
        let size = self.world.size("crouching").expect("the map has the size `crouching`");
        let centres: Vec<DVec3> = self.spawn_centres().collect();
        let start = centres.first().expect("the map has a spawn point").round().as_ivec3();
        let bounds = self.world.bounds();
        let (low, high) = (bounds.min.floor().as_ivec3(), bounds.max.ceil().as_ivec3());
        let mut reached = BTreeSet::from([start.to_array()]);
        let mut open = VecDeque::from([start]);
        while let Some(at) = open.pop_front() {
            for axis in [IVec3::X, IVec3::Y, IVec3::Z] {
                for next in [at + axis * FLOOD_STEP, at - axis * FLOOD_STEP] {
                    if self.world.is_solid(size, next.as_vec3()) {
                        continue;
                    }
                    let inside = next.cmpgt(low).all() && next.cmplt(high).all();
                    assert!(
                        inside,
                        "{}: the map leaks: a way from {start} leads out at {next}",
                        self.name
                    );
                    if reached.insert(next.to_array()) {
                        open.push_back(next);
                    }
                }
            }
        }
        // A spawn point counts as reached if the flood has a point within a step of the centre of
        // its player's box.
        for centre in centres {
            let near =
                reached.range([centre.x as i32 - FLOOD_STEP, i32::MIN, i32::MIN]..).any(|&point| {
                    (DVec3::from(point.map(f64::from)) - centre).abs().max_element() <= 16.0
                });
            assert!(near, "{}: spawn {centre} cannot be reached from the first spawn", self.name);
        }
    }

    fn spawn_centres(&self) -> impl Iterator<Item = DVec3> {
        self.of_class("info_player_deathmatch").map(|spawn| origin(spawn) + DVec3::Z * SPAWN_RISE)
    }
}

fn source(name: &str) -> PathBuf {
    own_map(&format!("{name}.map"))
}

fn origin(entity: &Entity) -> DVec3 {
    DVec3::from_array(
        entity.origin().unwrap_or_else(|| panic!("this entity has no origin: {entity:?}")),
    )
}
