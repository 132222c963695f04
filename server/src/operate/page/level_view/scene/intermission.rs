//! The places from which the end of a round is seen: the cameras that a map names.

use glam::DVec3;
use obsp::{Map, MapEntity};
use obsp_sim::direction_of;
use serde::Serialize;

/// The classes of these cameras: in Quake and Half-Life, and in Quake II and Quake III.
const CLASSES: [&str; 2] = ["info_intermission", "info_player_intermission"];

/// A camera that nobody moves.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Intermission {
    /// Its place, in units.
    eye: [f64; 3],
    /// The direction in which it looks, and the one that is up in its picture: unit vectors.
    ahead: [f64; 3],
    up: [f64; 3],
}

/// The cameras of a map, in the order of its entities. A camera without a place is left out.
pub(super) fn of(map: &Map) -> Vec<Intermission> {
    let entities = map.entities();
    let cameras = entities.iter().filter(|entity| CLASSES.contains(&entity.classname()));
    let camera = |entity: &MapEntity| {
        let eye = entity.origin()?;
        let target = target_of(entity, entities).and_then(|at| (at - eye).try_normalize());
        let [pitch, yaw, roll] = target.map_or_else(|| angles_of(entity), towards);
        let [(sp, cp), (sy, cy), (sr, cr)] = [pitch, yaw, roll].map(f64::sin_cos);
        let ahead = [cp * cy, cp * sy, -sp];
        let up = [cr * sp * cy + sr * sy, cr * sp * sy - sr * cy, cr * cp];
        Some(Intermission { eye: eye.to_array(), ahead, up })
    };
    cameras.filter_map(camera).collect()
}

/// The place at which a camera looks: that of the entity that its `target` names.
fn target_of(camera: &MapEntity, entities: &[MapEntity]) -> Option<DVec3> {
    let name = camera.get("target").filter(|name| !name.is_empty())?;
    entities.iter().find(|entity| entity.get("targetname") == Some(name))?.origin()
}

/// The pitch, yaw and roll of a direction, in radians. The roll is zero.
fn towards(ahead: DVec3) -> [f64; 3] {
    [(-ahead.z).atan2(ahead.x.hypot(ahead.y)), ahead.y.atan2(ahead.x), 0.0]
}

/// Pitch (downwards), yaw and roll in radians: the numbers of `mangle` or `angles` in degrees, as
/// Quake reads them, or the direction of `angle`. Numbers that are missing or not finite are zero.
fn angles_of(camera: &MapEntity) -> [f64; 3] {
    let Some(degrees) = camera.get("mangle").or_else(|| camera.get("angles")) else {
        return towards(direction_of(camera));
    };
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let mut numbers = degrees.split_ascii_whitespace().map(number);
    [(); 3].map(|()| numbers.next().flatten().unwrap_or(0.0).to_radians())
}

#[cfg(test)]
mod tests {
    use obsp::{CompileOptions, Source, Spaces};

    use super::*;

    const FLOOR: &str = "{\n( 64 0 0 ) ( 64 0 1 ) ( 64 1 0 ) a 0 0 0 1 1\n\
                         ( -64 0 0 ) ( -64 1 0 ) ( -64 0 1 ) a 0 0 0 1 1\n\
                         ( 0 64 0 ) ( 1 64 0 ) ( 0 64 1 ) a 0 0 0 1 1\n\
                         ( 0 -64 0 ) ( 0 -64 1 ) ( 1 -64 0 ) a 0 0 0 1 1\n\
                         ( 0 0 0 ) ( 0 1 0 ) ( 1 0 0 ) a 0 0 0 1 1\n\
                         ( 0 0 -16 ) ( 1 0 -16 ) ( 0 1 -16 ) a 0 0 0 1 1\n}\n";

    /// The cameras of a map with these entities, as lists of keys and values.
    fn cameras(entities: &[&[(&str, &str)]]) -> Vec<Intermission> {
        let keys = |keys: &&[(&str, &str)]| {
            keys.iter().map(|(key, value)| format!("\"{key}\" \"{value}\"\n")).collect::<String>()
        };
        let entities: String =
            entities.iter().map(|one| format!("{{\n{}}}\n", keys(one))).collect();
        let text = format!("{{\n\"classname\" \"worldspawn\"\n{FLOOR}}}\n{entities}");
        let source = Source::from_text("drawing", text);
        let options = CompileOptions::default();
        let compiled = obsp::compile(&source, &Spaces::default(), &options, &mut |_, _, _| {});
        of(&compiled.unwrap().map)
    }

    fn close(found: [f64; 3], wanted: [f64; 3]) -> bool {
        DVec3::from(found).distance(wanted.into()) < 1e-3
    }

    #[test]
    fn a_camera_looks_along_its_angles_or_at_its_target() {
        let class = ("classname", "info_intermission");
        let at = ("origin", "10 20 30");
        let half = 0.5_f64.sqrt();
        for (keys, ahead, up) in [
            (vec![], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]),
            (vec![("mangle", "0 90 0")], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
            // A positive pitch is downwards, and a positive roll leans the head to the right.
            (vec![("mangle", "45 0 0")], [half, 0.0, -half], [half, 0.0, half]),
            (vec![("mangle", "0 0 90")], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]),
            (vec![("mangle", "90 180 0")], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]),
            (vec![("angles", "0 180 0")], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]),
            (vec![("mangle", "0 90 0"), ("angles", "0 180 0")], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
            (vec![("angle", "270")], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]),
            (vec![("angle", "-1")], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]),
            (vec![("mangle", "NaN 90 1e999")], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
            (vec![("mangle", "")], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]),
            (vec![("target", "aim"), ("mangle", "0 90 0")], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]),
            (vec![("target", "nothing"), ("mangle", "0 90 0")], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
        ] {
            let keys = [vec![class, at], keys].concat();
            let aim = [("classname", "info_null"), ("targetname", "aim"), ("origin", "10 20 -9")];
            let found = cameras(&[&keys, &aim]);
            let [camera] = &found[..] else { panic!("{found:?}") };
            assert_eq!(camera.eye, [10.0, 20.0, 30.0]);
            assert!(close(camera.ahead, ahead) && close(camera.up, up), "{keys:?}: {camera:?}");
        }
    }

    #[test]
    fn cameras_without_a_place_and_other_entities_are_left_out() {
        let found = cameras(&[
            &[("classname", "info_intermission")],
            &[("classname", "info_intermission"), ("origin", "1 2")],
            &[("classname", "info_player_start"), ("origin", "0 0 40")],
            &[("classname", "info_player_intermission"), ("origin", "1 2 3")],
            &[("classname", "info_intermission"), ("origin", "4 5 6")],
        ]);
        let eyes: Vec<_> = found.iter().map(|camera| camera.eye).collect();
        assert_eq!(eyes, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    }
}
