//! Rotation as Hipnotic's maps draw it: a `func_rotate_entity`, `func_rotate_door` or
//! `func_rotate_train` turns every `rotate_object` that it targets. An object turns about the
//! `info_rotate` that it targets, or else about the entity that turns it.
//!
//! Each object is played as a mover of its own, with the keys of the entity that turns it.

use glam::{DQuat, DVec3};
use obsp::{Map, MapEntity};

use super::keys;

/// Hipnotic's number: seconds in which a door turns.
const SECONDS: f64 = 2.0;

/// The classes that turn objects.
const TURNING: [&str; 3] = ["func_rotate_entity", "func_rotate_door", "func_rotate_train"];

/// The rotation about an axis by an angle in radians.
pub(super) fn turn(axis: DVec3, angle: f64) -> DQuat {
    let axis = axis * libm::sin(angle / 2.0);
    DQuat::from_xyzw(axis.x, axis.y, axis.z, libm::cos(angle / 2.0))
}

/// An object, and the entity that turns it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rotated<'a> {
    pub(super) by: &'a MapEntity,
    centre: Option<DVec3>,
}

impl<'a> Rotated<'a> {
    /// How an entity is turned; `None` if it is no `rotate_object`, or nothing targets it.
    pub(super) fn of(map: &'a Map, object: &MapEntity) -> Option<Self> {
        if object.classname() != "rotate_object" {
            return None;
        }
        let named = |entity: &MapEntity, key, name: Option<&str>| {
            name.is_some_and(|name| !name.is_empty() && entity.get(key) == Some(name))
        };
        let turns = |entity: &&MapEntity| {
            TURNING.contains(&entity.classname())
                && named(entity, "target", object.get("targetname"))
        };
        let by = map.entities().iter().find(turns)?;
        let is_centre = |entity: &&MapEntity| {
            entity.classname() == "info_rotate" && named(entity, "targetname", object.get("target"))
        };
        let centre = map.entities().iter().find(is_centre).unwrap_or(by);
        Some(Self { by, centre: centre.origin() })
    }

    /// The point about which the object turns; `None` for its own middle.
    pub(super) fn centre(&self) -> Option<DVec3> {
        self.centre
    }

    /// The axis and the angle in radians of a door's `angles`, of which the greatest counts.
    pub(super) fn turn(&self) -> (DVec3, f64) {
        greatest(keys::angles(self.by, "angles"))
    }

    /// The seconds in which a door turns.
    pub(super) fn seconds(&self) -> f64 {
        keys::positive(self.by, "speed", SECONDS)
    }

    /// The axis and the speed in radians per second of an entity's `rotate`, of which the greatest
    /// counts.
    pub(super) fn spin(&self) -> (DVec3, f64) {
        greatest(keys::angles(self.by, "rotate"))
    }
}

/// The axis and the angle in radians of the greatest of pitch, yaw and roll in degrees.
fn greatest(angles: [f64; 3]) -> (DVec3, f64) {
    let axes = [DVec3::Y, DVec3::Z, DVec3::X];
    let by_size = |one: &(f64, DVec3), other: &(f64, DVec3)| one.0.abs().total_cmp(&other.0.abs());
    let found = angles.into_iter().zip(axes).max_by(by_size);
    found.map_or((DVec3::Z, 0.0), |(angle, axis)| (axis, angle.to_radians()))
}
