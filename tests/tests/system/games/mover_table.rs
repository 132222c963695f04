//! The places at which the movers of a map rest, and the times that they take between them. They
//! follow from the map's text alone, by Quake's documented formulas. This module shares no code
//! with the code that it judges.

use glam::{DMat3, DVec3};
use tests::oracle::map_text::{self, Entity};

/// A mover that is set off.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) class: String,
    /// The lowest corner of its box before it is set off, and after it has arrived.
    pub(crate) rest: DVec3,
    pub(crate) end: DVec3,
    /// The seconds that the way takes.
    pub(crate) seconds: f64,
}

/// The movers of a map that are part of a deathmatch, in the order of its text.
pub(crate) fn expected(text: &str) -> Vec<Row> {
    let entities = map_text::parse(text).expect("the map can be read");
    entities.iter().filter_map(|entity| row(&entities, entity)).collect()
}

fn row(all: &[Entity], entity: &Entity) -> Option<Row> {
    let class = entity.get("classname")?;
    let flags = number(entity, "spawnflags", 0.0) as u32;
    if flags & 2048 != 0 || entity.brushes.is_empty() {
        return None;
    }
    let [min, max] = bounds(entity);
    let size = max - min;
    let slide = |lip| {
        let way = direction(entity);
        way * (size.dot(way).abs() - number(entity, "lip", lip))
    };
    let (rest, end, speed) = match class {
        "func_door" if flags & 1 != 0 => (min + slide(8.0), min, 100.0),
        "func_door" => (min, min + slide(8.0), 100.0),
        "func_button" => (min, min + slide(4.0), 40.0),
        // The first end of a secret door: aside by the door's width, at 50 units a second.
        "func_door_secret" => {
            let ahead = direction(entity);
            let right = DVec3::new(ahead.y, -ahead.x, 0.0);
            let side = match flags {
                _ if flags & 4 != 0 => -DVec3::Z,
                _ if flags & 2 != 0 => -right,
                _ => right,
            };
            let width = number(entity, "t_width", size.dot(side).abs());
            (min, min + side * width, 50.0)
        }
        "func_plat" => {
            let low = min - DVec3::Z * number(entity, "height", size.z - 8.0);
            match entity.get("targetname") {
                Some(_) => (min, low, 150.0),
                None => (low, min, 150.0),
            }
        }
        "func_train" => {
            let corner = |name: &str| all.iter().find(|it| it.get("targetname") == Some(name));
            let first = corner(entity.get("target")?)?;
            let second = corner(first.get("target")?)?;
            (DVec3::from(first.origin()?), DVec3::from(second.origin()?), 100.0)
        }
        _ => return None,
    };
    let seconds = rest.distance(end) / number(entity, "speed", speed);
    Some(Row { class: class.to_owned(), rest, end, seconds })
}

fn number(entity: &Entity, key: &str, usual: f64) -> f64 {
    entity.get(key).map_or(usual, |text| text.parse().expect("a number"))
}

/// The direction of `angle`. The maps use only right angles.
fn direction(entity: &Entity) -> DVec3 {
    match entity.get("angle").unwrap_or("0") {
        "0" | "360" => DVec3::X,
        "90" => DVec3::Y,
        "180" => -DVec3::X,
        "270" => -DVec3::Y,
        "-1" => DVec3::Z,
        "-2" => -DVec3::Z,
        other => panic!("the angle {other} is not a right angle"),
    }
}

/// The box around an entity's brushes. A brush has a corner where three of its planes meet and no
/// other plane cuts the point off.
fn bounds(entity: &Entity) -> [DVec3; 2] {
    let mut bounds = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    for brush in &entity.brushes {
        let planes: Vec<(DVec3, f64)> = brush
            .faces
            .iter()
            .map(|face| {
                let points = face.points.each_ref();
                let [a, b, c] = points.map(|p| DVec3::from(p.each_ref().map(|n| n.rounded())));
                let normal = (a - b).cross(c - b).normalize();
                (normal, normal.dot(a))
            })
            .collect();
        for (i, one) in planes.iter().enumerate() {
            for (j, two) in planes.iter().enumerate().skip(i + 1) {
                for three in planes.iter().skip(j + 1) {
                    let normals = DMat3::from_cols(one.0, two.0, three.0).transpose();
                    if normals.determinant().abs() < 1e-6 {
                        continue;
                    }
                    let corner = normals.inverse() * DVec3::new(one.1, two.1, three.1);
                    if planes.iter().all(|(normal, at)| normal.dot(corner) <= at + 0.01) {
                        bounds = [bounds[0].min(corner), bounds[1].max(corner)];
                    }
                }
            }
        }
    }
    bounds
}
