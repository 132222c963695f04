//! Volumes of the map that act on a player inside: jump pads (`trigger_push`) and
//! teleporters (`trigger_teleport`), with the keys of Quake and Quake III.
//!
//! Clients predict these triggers by the map alone. So a trigger that acts only at times, or at
//! random, is left to the game ([`is_game_trigger`]).

use glam::{DVec3, Vec3};
use obsp::geometry::{Aabb, ConvexSolid};
use obsp::{MapEntity, SizeId};

use crate::arena::direction::direction_of;
use crate::arena::spawn::standing_centre;
use crate::conventions::yaw_of;

/// Quake's `speed` of a pad is in tens of units per second.
const PUSH_SCALE: f64 = 10.0;

/// The value of `speed` for a pad without that key, as in Quake.
const PUSH_SPEED: f64 = 1000.0;

/// The flag of a pad that pushes once.
const PUSHES_ONCE: u32 = 1;

/// The flag of a teleporter through which players keep their speed. Quake and the games after it
/// use the lower flags for other things.
const KEEPS_SPEED: u32 = 32;

/// Classes of destinations. A teleporter that names several destinations sends players to any of
/// them.
const DESTINATIONS: [&str; 2] = ["info_teleport_destination", "misc_teleporter_dest"];

/// The effect of a trigger on a player inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Effect {
    /// Sets the velocity, in units per second.
    Push(DVec3),
    /// Moves the player to a place and sets the velocity along a heading.
    Teleport {
        /// Centre of the standing box.
        to: Vec3,
        /// The heading.
        yaw: u16,
        /// Whether the player keeps the horizontal speed.
        keeps_speed: bool,
    },
}

/// The effect of a trigger, before the gravity of players is known.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// An effect that does not depend on gravity.
    Constant(Effect),
    /// Throws along the ballistic path whose highest point is at `way` from the pad. Without
    /// gravity the pad throws in a straight line along `way`, at `speed`.
    Throw { way: DVec3, speed: f64 },
}

impl Action {
    fn effect(self, gravity: f64) -> Effect {
        match self {
            Self::Constant(effect) => effect,
            Self::Throw { way, speed } if gravity <= 0.0 => {
                Effect::Push(way.normalize_or(DVec3::Z) * speed)
            }
            Self::Throw { way, .. } => {
                let time = (2.0 * way.z.max(1.0) / gravity).sqrt();
                Effect::Push((way / time).with_z(gravity * time))
            }
        }
    }
}

/// All triggers of a map, in the map's order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Triggers(Vec<(ConvexSolid, Action)>);

impl Triggers {
    /// The triggers of `map`, for players of the size `standing`.
    pub(crate) fn new(map: &obsp::Map, standing: SizeId) -> Self {
        let mut triggers = Vec::new();
        for entity in map.entities() {
            if is_game_trigger(map, entity) {
                continue;
            }
            for solid in entity.solids() {
                let action = match entity.classname() {
                    "trigger_push" => push(map, entity, solid),
                    "trigger_teleport" => {
                        let to = destinations(map, entity).first().copied();
                        to.and_then(|to| arrival(map, standing, to, keeps_speed(entity)))
                            .map(Action::Constant)
                    }
                    _ => None,
                };
                triggers.extend(action.map(|action| (solid.clone(), action)));
            }
        }
        Self(triggers)
    }

    /// The effect of the first trigger that a box overlaps at the end of its way. If the box
    /// overlaps none, the effect of the first trigger on the way. A fast player passes a thin
    /// trigger within a tick. `gravity` is the gravity of players.
    pub(crate) fn on_way(
        &self,
        way: [DVec3; 2],
        half_extents: DVec3,
        gravity: f64,
    ) -> Option<Effect> {
        let [from, to] = way;
        let around = |centre| Aabb::from_centre(centre, half_extents);
        let swept = around(from).union(around(to));
        let near = || self.0.iter().filter(|(solid, _)| solid.bounds().overlaps(&swept));
        let inside = |solid: &ConvexSolid, at| entry(solid, [at, at], half_extents).is_some();
        let at_end = near().find(|(solid, _)| inside(solid, to));
        let passed = || {
            let outside = near().filter(|(solid, _)| !inside(solid, from));
            let entered = outside
                .filter_map(|trigger| Some((entry(&trigger.0, way, half_extents)?, trigger)));
            entered.min_by(|(first, _), (second, _)| first.total_cmp(second)).map(|(_, met)| met)
        };
        let (_, action) = at_end.or_else(passed)?;
        Some(action.effect(gravity))
    }
}

/// The share of its way after which a box overlaps `solid`; `None` if the box overlaps it nowhere
/// on its way.
pub(crate) fn entry(
    solid: &ConvexSolid,
    [from, to]: [DVec3; 2],
    half_extents: DVec3,
) -> Option<f64> {
    let bounds = solid.bounds();
    let sides = [DVec3::X, DVec3::Y, DVec3::Z]
        .into_iter()
        .flat_map(|axis| [(axis, axis.dot(bounds.max)), (-axis, -axis.dot(bounds.min))]);
    let faces = solid.faces().iter().map(|face| (face.plane.normal, face.plane.distance));
    let (mut enters, mut leaves) = (0.0_f64, 1.0_f64);
    for (normal, distance) in sides.chain(faces) {
        let reach = distance + normal.abs().dot(half_extents);
        let [first, last] = [from, to].map(|centre| normal.dot(centre) - reach);
        match (first < 0.0, last < 0.0) {
            (true, true) => {}
            (false, false) => return None,
            (false, true) => enters = enters.max(first / (first - last)),
            (true, false) => leaves = leaves.min(first / (first - last)),
        }
    }
    (enters < leaves).then_some(enters)
}

/// Whether a pad or a teleporter is left to the game, because clients cannot predict it by the map
/// alone: it has a name, by which it is set off; it pushes only once; or it is a teleporter with
/// several destinations. Such a trigger does nothing by itself. [`World::pad_velocity`] and
/// [`World::teleport_to`] are its effects.
///
/// [`World::pad_velocity`]: crate::World::pad_velocity
/// [`World::teleport_to`]: crate::World::teleport_to
///
/// ```
/// let map = obsp::Map::load("../../maps/arena.obsp".as_ref())?;
/// assert!(!map.entities().iter().any(|entity| obsp_sim::is_game_trigger(&map, entity)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn is_game_trigger(map: &obsp::Map, entity: &MapEntity) -> bool {
    let is_named = entity.get("targetname").is_some_and(|name| !name.is_empty());
    match entity.classname() {
        "trigger_push" => is_named || flags(entity) & PUSHES_ONCE != 0,
        "trigger_teleport" => is_named || destinations(map, entity).len() > 1,
        _ => false,
    }
}

/// The destinations that a teleporter's `target` names: all entities of that name and of a
/// destination's class. If there are none, the first entity of that name that has a place. Empty if
/// there is none either.
///
/// ```
/// let map = obsp::Map::load("../../maps/arena.obsp".as_ref())?;
/// for entity in map.entities().iter().filter(|entity| entity.classname() == "trigger_teleport") {
///     assert_eq!(obsp_sim::destinations(&map, entity).len(), 1);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn destinations<'a>(map: &'a obsp::Map, teleporter: &MapEntity) -> Vec<&'a MapEntity> {
    let Some(name) = teleporter.get("target") else { return Vec::new() };
    let named = || {
        map.entities()
            .iter()
            .filter(move |other| other.get("targetname") == Some(name) && other.origin().is_some())
    };
    let usual: Vec<&MapEntity> =
        named().filter(|other| DESTINATIONS.contains(&other.classname())).collect();
    if usual.is_empty() { named().take(1).collect() } else { usual }
}

/// Whether players keep their speed through a teleporter: the flag 32.
///
/// ```
/// let map = obsp::Map::load("../../maps/arena.obsp".as_ref())?;
/// assert!(!map.entities().iter().any(obsp_sim::keeps_speed));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn keeps_speed(teleporter: &MapEntity) -> bool {
    flags(teleporter) & KEEPS_SPEED != 0
}

fn flags(entity: &MapEntity) -> u32 {
    entity.get("spawnflags").and_then(|flags| flags.trim().parse().ok()).unwrap_or(0)
}

/// The entity that the key `target` of `entity` names.
fn target<'a>(map: &'a obsp::Map, entity: &MapEntity) -> Option<&'a MapEntity> {
    let name = entity.get("target")?;
    map.entities().iter().find(|other| other.get("targetname") == Some(name))
}

/// The velocity that a pad gives players of this gravity; `None` for an entity that is not a pad.
pub(crate) fn pad_velocity(map: &obsp::Map, pad: &MapEntity, gravity: f64) -> Option<DVec3> {
    let solid = pad.solids().first().filter(|_| pad.classname() == "trigger_push")?;
    match push(map, pad, solid)?.effect(gravity) {
        Effect::Push(velocity) => Some(velocity),
        Effect::Teleport { .. } => None,
    }
}

/// The action of a jump pad. A pad with a target throws along the ballistic path whose highest
/// point is the target, as in Quake III. A pad without a target pushes at `speed` along `angles` or
/// `angle`, as in Quake.
fn push(map: &obsp::Map, entity: &MapEntity, solid: &ConvexSolid) -> Option<Action> {
    let speed = entity.get("speed").and_then(|speed| speed.parse().ok()).unwrap_or(PUSH_SPEED);
    let speed = speed * PUSH_SCALE;
    let is_finite = |velocity: DVec3| velocity.length_squared().is_finite();
    if let Some(highest) = target(map, entity).and_then(MapEntity::origin) {
        let way = highest - solid.bounds().centre();
        // With finite numbers the velocity of the throw is finite for every gravity that is
        // allowed.
        return (is_finite(way) && f64::is_finite(speed)).then_some(Action::Throw { way, speed });
    }
    let velocity = direction_of(entity) * speed;
    is_finite(velocity).then_some(Action::Constant(Effect::Push(velocity)))
}

/// The arrival of a player at a destination; `None` if the destination has no place, or is inside
/// the world.
pub(crate) fn arrival(
    map: &obsp::Map,
    standing: SizeId,
    destination: &MapEntity,
    keeps_speed: bool,
) -> Option<Effect> {
    let yaw = yaw_of(destination.angle().unwrap_or(0.0));
    let to = standing_centre(map, standing, destination.origin()?)?.as_vec3();
    Some(Effect::Teleport { to, yaw, keeps_speed })
}
