//! What a bot sees: the static world and movers, such as doors, are in the way of its sight.

use glam::DVec3;
use obsp::geometry::ConvexSolid;
use obsp::model::Model;
use obsp::{Map, Trace};
use obsp_sim::{EntityState, Kind};

use super::behavior::Perception;

/// Whether the static world leaves the line of sight between two points free.
pub(super) fn sees(map: &Map, from: DVec3, to: DVec3) -> bool {
    let Some(point) = map.size("point") else { return false };
    map.find_first_transition(point, from.as_vec3(), to.as_vec3()) == Trace::Clear
}

/// Whether neither the static world nor a mover is between two points. Crates and players hide
/// nobody.
pub(super) fn is_in_sight(perception: &Perception<'_>, from: DVec3, to: DVec3) -> bool {
    let hides = |other: &EntityState| {
        let Kind::Prop { model } = other.kind else { return false };
        let model = perception.models.get(usize::from(model.0));
        model.is_some_and(|model| model.is_kinematic() && is_between(other, model, [from, to]))
    };
    sees(perception.map, from, to) && !perception.others.iter().any(hides)
}

/// Whether a body of this model is on the straight way between two points.
fn is_between(body: &EntityState, model: &Model, way: [DVec3; 2]) -> bool {
    let inverse = body.orientation.inverse();
    let [from, to] = way.map(|point| inverse * (point - body.position));
    model.parts().iter().any(|part| is_crossed(part, from, to))
}

/// Whether a segment passes through a solid, which means that part of it is behind all planes of
/// the solid.
fn is_crossed(solid: &ConvexSolid, from: DVec3, to: DVec3) -> bool {
    let (mut enters, mut leaves) = (0.0_f64, 1.0_f64);
    for face in solid.faces() {
        let [before, after] = [from, to].map(|point| face.plane.signed_distance(point));
        if before > 0.0 && after > 0.0 {
            return false;
        }
        if before > 0.0 {
            enters = enters.max(before / (before - after));
        } else if after > 0.0 {
            leaves = leaves.min(before / (before - after));
        }
    }
    enters < leaves
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;
    use crate::behaviors::tests::{arena, prop_at};

    #[test]
    fn a_shut_door_hides_and_an_open_one_does_not() {
        let (map, nav) = arena();
        let leaf = Model::cuboid("leaf", DVec3::new(4.0, 40.0, 60.0)).unwrap();
        let models = [leaf.clone().as_kinematic()];
        let middle = DVec3::new(-400.0, -260.0, 60.0);
        let way = [middle - DVec3::X * 50.0, middle + DVec3::X * 50.0];
        let seen = |models: &[Model], at: DVec3, turn: f64| {
            let orientation = DQuat::from_rotation_z(turn);
            let others = [EntityState { orientation, ..prop_at(at) }];
            let perception = Perception {
                own: None,
                others: &others,
                pictures: &[],
                map: &map,
                models,
                nav: &nav,
            };
            is_in_sight(&perception, way[0], way[1])
        };
        assert!(!seen(&models, middle, 0.0), "it is shut");
        assert!(!seen(&models, middle + DVec3::Y * 39.0, 0.0), "a gap is beside it");
        assert!(seen(&models, middle + DVec3::Y * 41.0, 0.0), "it has slid away");
        let quarter = std::f64::consts::FRAC_PI_2;
        assert!(seen(&models, middle + DVec3::Y * 5.0, quarter), "it has turned");
        assert!(!seen(&models, middle + DVec3::Y * 3.0, quarter), "it is turned, and in the way");
        assert!(seen(&models, middle + DVec3::X * 60.0, 0.0), "it is behind");
        assert!(seen(&[leaf], middle, 0.0), "a loose body hides nobody");
        assert!(seen(&[], middle, 0.0), "of no model that is known");
    }
}
