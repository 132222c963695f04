//! A compiled map as a subject of the oracle, for `mapc verify` and the tests.

use glam::{Mat3, Quat, Vec3};
use oracle::sweep::Body;
use oracle::verify::{Answer, Caster, Subject, Sum};

use crate::body::{Cuboid, Cylinder, Sphere};
use crate::{Expansion, Map, SURFACE_DISTANCE, SizeId, Trace};

/// One size of a compiled map.
#[derive(Clone, Copy, Debug)]
pub struct OneSize<'a> {
    /// The map.
    pub map: &'a Map,
    /// The size.
    pub size: SizeId,
}

impl Subject for OneSize<'_> {
    fn is_solid(&self, point: [f32; 3]) -> bool {
        self.map.is_solid(self.size, point.into())
    }

    fn trace(&self, start: [f32; 3], end: [f32; 3]) -> Answer {
        match self.map.find_first_transition(self.size, start.into(), end.into()) {
            Trace::Clear => Answer::Clear,
            Trace::StartSolid => Answer::StartSolid,
            Trace::Hit(hit) => Answer::Hit {
                time: hit.time.into(),
                point: hit.point.into(),
                normal: hit.normal.into(),
                end: hit.end.into(),
            },
        }
    }

    fn surface_distance(&self) -> f64 {
        SURFACE_DISTANCE.into()
    }
}

/// The bodies of other shapes that are cast through a compiled map.
#[derive(Clone, Copy, Debug)]
pub struct Bodies<'a>(pub &'a Map);

impl Caster for Bodies<'_> {
    /// # Panics
    /// If the body is smaller than the smallest body that can be cast, or larger than the largest.
    fn cast(&self, body: &Body, start: [f32; 3], end: [f32; 3]) -> Option<(f64, [f32; 3])> {
        const CASTABLE: &str = "the oracle's bodies are in range";
        let (a, b) = (start.into(), end.into());
        let trace = match *body {
            Body::Ball(radius) => self.0.cast(&Sphere::new(radius as f32).expect(CASTABLE), a, b),
            Body::Cylinder(radius, half_height) => {
                let cylinder = Cylinder::new(radius as f32, half_height as f32);
                self.0.cast(&cylinder.expect(CASTABLE), a, b)
            }
            Body::Cuboid(sides) => {
                let [x, y, z] = sides.map(|side| Vec3::from(side.map(|c| c as f32)));
                let half_extents = Vec3::new(x.length(), y.length(), z.length());
                let axes = Mat3::from_cols(x.normalize(), y.normalize(), z.normalize());
                let cuboid = Cuboid::new(half_extents).expect(CASTABLE);
                let turned = cuboid.turned(Quat::from_mat3(&axes)).expect(CASTABLE);
                self.0.cast(&turned, a, b)
            }
        };
        match trace {
            Trace::Clear => None,
            Trace::StartSolid => Some((0.0, start)),
            Trace::Hit(hit) => Some((hit.time.into(), hit.end.into())),
        }
    }
}

/// The expanded brushes of a size, as the oracle judges them.
pub fn sums(expansion: &Expansion) -> Vec<Sum> {
    let sum = |(solid, &line): (&crate::geometry::ConvexSolid, &u64)| Sum {
        line: line as usize,
        planes: solid.faces().iter().map(|f| (f.plane.normal.into(), f.plane.distance)).collect(),
        corners: solid.vertices().iter().map(|&corner| corner.into()).collect(),
    };
    expansion.solids.iter().zip(&expansion.lines).map(sum).collect()
}
