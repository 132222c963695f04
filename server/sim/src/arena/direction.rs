//! Directions in the keys of a map's entities.

use glam::DVec3;
use obsp::MapEntity;

use crate::command::Command;

/// Heading steps of a degree.
const STEPS: f64 = 65_536.0 / 360.0;

/// A component of a direction that is smaller than this counts as zero: the computed cosine of a
/// right angle is not exactly zero.
const RIGHT_ANGLE: f64 = 1e-9;

/// The direction of an entity's key `angles` or `angle` as a unit vector, as Quake reads them. The
/// first number of `angles` is the pitch in degrees, downwards, and the second is the heading in
/// degrees, counter-clockwise from +X. `angle` is a heading. A heading of -1 without a pitch is up,
/// and -2 is down. Numbers that are missing or not finite are zero.
pub fn direction_of(entity: &MapEntity) -> DVec3 {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let [pitch, yaw] = match entity.get("angles") {
        Some(angles) => {
            let mut numbers = angles.split_ascii_whitespace().map(number);
            [(); 2].map(|()| numbers.next().flatten().unwrap_or(0.0))
        }
        None => [0.0, entity.get("angle").and_then(|angle| number(angle.trim())).unwrap_or(0.0)],
    };
    if pitch == 0.0 && yaw == -1.0 {
        return DVec3::Z;
    }
    if pitch == 0.0 && yaw == -2.0 {
        return -DVec3::Z;
    }
    let yaw = ((yaw % 360.0) * STEPS).round() as i64 as u16;
    let pitch = (-pitch.clamp(-90.0, 90.0) * STEPS).round() as i16;
    let aim = Command { yaw, pitch, ..Command::default() }.aim();
    DVec3::from_array(aim.to_array().map(|part| if part.abs() < RIGHT_ANGLE { 0.0 } else { part }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_maps::{block, compiled};

    fn direction(key: &str, value: &str) -> DVec3 {
        let keys = format!("\"classname\" \"trigger_push\"\n\"{key}\" \"{value}\"");
        let floor = block([-64, -64, -16], [64, 64, 0]);
        let map = compiled(&floor, [0, 0, 30], &format!("{{\n{keys}\n}}\n"));
        direction_of(map.entities().last().expect("the map has entities"))
    }

    #[test]
    fn a_direction_is_exact_along_the_axes() {
        for (key, value, expected) in [
            ("angle", "0", DVec3::X),
            ("angle", "90", DVec3::Y),
            ("angle", "180", -DVec3::X),
            ("angle", "270", -DVec3::Y),
            ("angle", "-90", -DVec3::Y),
            ("angle", "-1", DVec3::Z),
            ("angle", " -2 ", -DVec3::Z),
            ("angles", "0 90 0", DVec3::Y),
            ("angles", "-90 0 0", DVec3::Z),
            ("angles", "90 0 0", -DVec3::Z),
            ("angles", "0 -1 0", DVec3::Z),
            ("angle", "word", DVec3::X),
            ("angle", "NaN", DVec3::X),
            ("angles", "inf 1e400 x", DVec3::X),
            ("angles", "", DVec3::X),
            ("origin", "1 2 3", DVec3::X),
        ] {
            let found = direction(key, value);
            assert!(found.distance(expected) < 1e-12, "{key} {value}: {found}");
        }
    }

    #[test]
    fn a_pitch_of_angles_is_downwards_and_a_right_angle_at_most() {
        let (sine, cosine) = (30.0_f64).to_radians().sin_cos();
        for (value, expected) in [
            ("-30 180 0", DVec3::new(-cosine, 0.0, sine)),
            ("30 90", DVec3::new(0.0, cosine, -sine)),
            ("-90.5 45 0", DVec3::Z),
            ("1e300 45 0", -DVec3::Z),
        ] {
            let found = direction("angles", value);
            assert!(found.distance(expected) < 1e-4, "{value}: {found}");
            assert!((found.length() - 1.0).abs() < 1e-9, "{value}: {found}");
        }
    }
}
