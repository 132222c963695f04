//! Volumes of the map that act on a player inside: jump pads (`trigger_push`) and
//! teleporters (`trigger_teleport`), with the keys of Quake and Quake III.

use glam::{DVec3, Vec3};
use obsp::geometry::{Aabb, ConvexSolid};
use obsp::{MapEntity, SizeId};

use crate::arena::spawn::standing_centre;
use crate::conventions::{GRAVITY, heading, yaw_of};

/// Quake's `speed` of a pad is in tens of units per second.
const PUSH_SCALE: f64 = 10.0;

/// The `speed` of a pad without that key, as in Quake.
const PUSH_SPEED: f64 = 1000.0;

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
    },
}

/// All triggers of a map, in its order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Triggers(Vec<(ConvexSolid, Effect)>);

impl Triggers {
    /// The triggers of `map`, for players of the size `standing`.
    pub(crate) fn new(map: &obsp::World, standing: SizeId) -> Self {
        let mut triggers = Vec::new();
        for entity in map.entities() {
            for solid in entity.solids() {
                let effect = match entity.classname() {
                    "trigger_push" => push(map, entity, solid),
                    "trigger_teleport" => teleport(map, standing, entity),
                    _ => None,
                };
                triggers.extend(effect.map(|effect| (solid.clone(), effect)));
            }
        }
        Self(triggers)
    }

    /// The first trigger that a box around `centre` reaches into.
    pub(crate) fn at(&self, centre: DVec3, half_extents: DVec3) -> Option<Effect> {
        let bounds = Aabb::from_centre(centre, half_extents);
        let reaches = |solid: &ConvexSolid| {
            solid.bounds().overlaps(&bounds)
                && solid.faces().iter().all(|face| {
                    let nearest = face.plane.normal.abs().dot(half_extents);
                    face.plane.signed_distance(centre) - nearest < 0.0
                })
        };
        self.0.iter().find(|(solid, _)| reaches(solid)).map(|(_, effect)| *effect)
    }
}

/// The entity that `target` of `entity` names.
fn target<'a>(map: &'a obsp::World, entity: &MapEntity) -> Option<&'a MapEntity> {
    let name = entity.get("target")?;
    map.entities().iter().find(|other| other.get("targetname") == Some(name))
}

/// With a target, the ballistic path whose highest point is there (as in Quake III);
/// without, `speed` along `angle`, where -1 is up and -2 down (as in Quake).
fn push(map: &obsp::World, entity: &MapEntity, solid: &ConvexSolid) -> Option<Effect> {
    if let Some(highest) = target(map, entity).and_then(MapEntity::origin) {
        let from = solid.bounds().centre();
        let height = (highest.z - from.z).max(1.0);
        let time = (2.0 * height / GRAVITY).sqrt();
        let across = (highest - from) / time;
        return thrown(DVec3::new(across.x, across.y, GRAVITY * time));
    }
    let speed = entity.get("speed").and_then(|speed| speed.parse().ok()).unwrap_or(PUSH_SPEED);
    let direction = match entity.get("angle").map(str::trim) {
        Some("-1") => DVec3::Z,
        Some("-2") => -DVec3::Z,
        _ => heading(yaw_of(entity.angle().unwrap_or(0.0))).extend(0.0),
    };
    thrown(direction * speed * PUSH_SCALE)
}

/// A push with this velocity; `None` if it is not finite.
fn thrown(velocity: DVec3) -> Option<Effect> {
    velocity.length_squared().is_finite().then_some(Effect::Push(velocity))
}

fn teleport(map: &obsp::World, standing: SizeId, entity: &MapEntity) -> Option<Effect> {
    let destination = target(map, entity)?;
    let yaw = yaw_of(destination.angle().unwrap_or(0.0));
    let to = standing_centre(map, standing, destination.origin()?).as_vec3();
    Some(Effect::Teleport { to, yaw })
}
