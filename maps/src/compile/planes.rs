//! Canonical planes: two faces are coplanar if their planes have the same id.

use std::collections::HashMap;

use glam::DVec3;

use crate::geometry::Plane;

/// The compiler ignores distances below this, in units. It cuts off no thinner slices, and treats
/// planes that are closer than this on a face as one. This is half the resolution of `f32` at the
/// edge of the world, and a tenth of the 0.01 units that `mapc verify` allows.
pub(super) const TOLERANCE: f64 = 1e-3;

/// A plane of a [`PlaneTable`], with a facing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PlaneId(u32);

impl PlaneId {
    /// The index of the plane. Both facings of a plane have the same index.
    pub(super) fn index(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// The plane of this index, faced as the table stores it.
    pub(super) fn from_index(index: usize) -> Self {
        Self((index as u32) << 1)
    }

    /// This plane, facing the other way.
    pub(super) fn flipped(self) -> Self {
        Self(self.0 ^ 1)
    }

    pub(super) fn is_flipped(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Two planes whose normals differ by less than this are the same if the vertices of the added face
/// lie on both. Normals computed from different points of one plane differ by far less than this.
const NORMALS_AGREE: f64 = 1e-5;

/// All planes of a map. Each is stored once, with its leading normal component
/// positive.
#[derive(Default)]
pub(super) struct PlaneTable {
    planes: Vec<Plane>,
    /// The indices of planes, by their distance rounded down. The map is never iterated, so its
    /// order does not matter.
    by_distance: HashMap<i64, Vec<u32>>,
}

impl PlaneTable {
    /// The id of `plane`, or of a known plane that is within half the compiler's
    /// tolerance of all the face's `vertices`.
    pub(super) fn intern(&mut self, plane: &Plane, vertices: &[DVec3]) -> PlaneId {
        let plane = snapped(plane);
        // The first component above 0.4 decides the facing. There is one, because the greatest
        // component of a unit normal is at least 0.577. 0.4 is far from zero and from the sines of
        // common angles.
        let leading = plane.normal.to_array().into_iter().find(|c| c.abs() > 0.4);
        let flip = leading.is_some_and(|c| c < 0.0);
        let canonical = if flip { plane.flipped() } else { plane };
        let bucket = canonical.distance.floor() as i64;
        let known = [bucket, bucket - 1, bucket + 1].into_iter().find_map(|bucket| {
            self.by_distance.get(&bucket)?.iter().copied().find(|&i| {
                let known = &self.planes[i as usize];
                (known.normal - canonical.normal).abs().max_element() < NORMALS_AGREE
                    && vertices.iter().all(|&v| known.signed_distance(v).abs() < 0.5 * TOLERANCE)
            })
        });
        let index = known.unwrap_or_else(|| {
            let index = self.planes.len() as u32;
            self.planes.push(canonical);
            self.by_distance.entry(bucket).or_default().push(index);
            index
        });
        PlaneId(index << 1 | u32::from(flip))
    }

    pub(super) fn get(&self, id: PlaneId) -> Plane {
        let plane = self.planes[id.index()];
        if id.is_flipped() { plane.flipped() } else { plane }
    }
}

/// The plane, with its normal set to an axis if the two differ only by rounding.
fn snapped(plane: &Plane) -> Plane {
    let component = |c: f64| {
        if c.abs() < 1e-12 {
            0.0
        } else if (c.abs() - 1.0).abs() < 1e-12 {
            c.signum()
        } else {
            c
        }
    };
    let normal = plane.normal;
    let normal = DVec3::new(component(normal.x), component(normal.y), component(normal.z));
    Plane { normal, distance: plane.distance }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_plane_has_one_id_and_two_facings() {
        let mut table = PlaneTable::default();
        let plane = Plane { normal: DVec3::new(0.6, -0.8, 0.0), distance: 5.0 };
        let corner = [DVec3::new(3.0, -4.0, 100.0)];
        let id = table.intern(&plane, &corner);
        assert_eq!(table.get(id), plane);
        let back = table.intern(&plane.flipped(), &corner);
        assert!(back != id && back.index() == id.index());
        assert_eq!(table.get(back), plane.flipped());
        let beside = Plane { distance: 5.01, ..plane };
        assert_ne!(table.intern(&beside, &[DVec3::new(3.006, -4.008, 0.0)]).index(), id.index());
        let rounded = Plane { normal: DVec3::new(0.6 + 1e-9, -0.8, 0.0), distance: 5.0 };
        assert_eq!(table.intern(&rounded, &corner), id);
    }
}
