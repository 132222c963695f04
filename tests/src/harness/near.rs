//! Pairs of bodies that are built to be close to contact.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use obsp::model::{Model, shipped};
use obsp_sim::query::{At, Solid};

use super::{Random, own_map};
use crate::oracle::bodies::{Body, Shape, interpenetrate};

/// A rigid body, with the simulation's shape and the oracle's.
#[derive(Debug)]
pub struct Figure {
    /// The model's name.
    pub name: String,
    /// The simulation's shape.
    pub solid: Solid,
    /// The oracle's shape, from the model's file.
    pub truth: Arc<Shape>,
    /// Maximum distance of a point from the centre of mass, in units.
    pub radius: f64,
}

impl Figure {
    /// The shipped models, in the order of their [`obsp_sim::ModelId`]s.
    ///
    /// # Panics
    /// If a model's file cannot be read.
    pub fn shipped() -> Vec<Self> {
        let figure = |model: &Model| {
            let path = own_map(&format!("models/{}.obj", model.name()));
            let text = std::fs::read_to_string(path).expect("the model's source");
            Self::new(model, &text)
        };
        shipped().iter().map(figure).collect()
    }

    /// A box.
    ///
    /// # Panics
    /// If it has no volume.
    pub fn cuboid(name: &str, half: DVec3) -> Self {
        let mut text = String::new();
        for i in 0..8 {
            let side = |bit: i32, half: f64| if i & bit == 0 { -half } else { half };
            let (x, y, z) = (side(1, half.x), side(2, half.y), side(4, half.z));
            text += &format!("v {x} {y} {z}\n");
        }
        text += "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
        let model = Model::from_obj(name, &text).unwrap_or_else(|e| panic!("{name}: {e}"));
        Self::new(&model, &text)
    }

    fn new(model: &Model, text: &str) -> Self {
        Self {
            name: model.name().to_owned(),
            solid: Solid::new(model),
            truth: Shape::model(text),
            radius: model.radius(),
        }
    }

    /// The oracle's body in this pose.
    pub fn placed(&self, (position, orientation): At) -> Body {
        self.truth.posed(orientation, position)
    }
}

/// A random unit vector.
pub fn direction(random: &mut Random) -> DVec3 {
    let mut one = || random.between(-1.0, 1.0);
    DVec3::new(one(), one(), one()).try_normalize().unwrap_or(DVec3::Z)
}

/// A random rotation, a rotation about the vertical, or none. Bodies often rest flat, and features
/// that line up are the hard cases.
pub fn turn(random: &mut Random) -> DQuat {
    match random.below(4) {
        0 => DQuat::IDENTITY,
        1 => DQuat::from_rotation_z(random.between(0.0, std::f64::consts::TAU)),
        _ => DQuat::from_axis_angle(direction(random), random.between(0.0, std::f64::consts::PI)),
    }
}

/// The distance between the centres of `a` and `b` at which `b` first touches `a` by the oracle, to
/// within a millionth of a unit. `b` comes from far away, and `way` is its direction as seen from
/// `a`.
pub fn touching_distance(
    (a, at_a): (&Figure, At),
    (b, turn_b): (&Figure, DQuat),
    way: DVec3,
) -> f64 {
    let body = a.placed(at_a);
    let meets = |distance: f64| interpenetrate(&body, &b.placed((at_a.0 + way * distance, turn_b)));
    // The search goes from the outside in, so that `b` also enters hollows.
    let (mut free, mut held) = (a.radius + b.radius + 1.0, 0.0);
    let step = free / 16.0;
    while free - step > 0.0 && !meets(free - step) {
        free -= step;
    }
    if free - step > 0.0 {
        held = free - step;
    }
    while free - held > 1e-6 {
        let middle = 0.5 * (free + held);
        if meets(middle) { held = middle } else { free = middle }
    }
    free
}
