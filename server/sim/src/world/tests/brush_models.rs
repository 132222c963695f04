//! Bodies that are drawn in a map. A player's box stops where the planes of the brushes say. The
//! oracle reads these planes from the text of the map alone.

use obsp::PlayerSize;

use super::*;
use crate::SweptShape;
use crate::random::Random;
use crate::test_maps::{block, compiled_for};

/// Greatest gap that may be left between a player's box and the brush that stopped it, in units.
const GAP: f64 = 0.05;

/// Brushes that touch, overlap, slope and lie off the grid.
fn brushes() -> String {
    let wedge = "{\n( 40.25 0 60.5 ) ( 40.25 1 60.5 ) ( 90.75 0 20.125 ) t 0 0 0 1 1\n\
                 ( 40.25 0 0 ) ( 40.25 1 0 ) ( 40.25 0 1 ) t 0 0 0 1 1\n\
                 ( 0 30.3 0 ) ( 1 30.7 0 ) ( 0 30.3 1 ) t 0 0 0 1 1\n\
                 ( 0 -20.1 0 ) ( 0 -20.1 1 ) ( 1 -20.1 0 ) t 0 0 0 1 1\n\
                 ( 0 0 20.125 ) ( 1 0 20.125 ) ( 0 1 20.125 ) t 0 0 0 1 1\n}\n";
    let panel = block([0, -24, 16], [40, 24, 96]);
    let overlapping = block([24, 0, 64], [72, 40, 112]);
    format!("{panel}{overlapping}{wedge}")
}

/// A convex brush of the oracle: its corners, edges and planes by the points of the text.
struct Brush {
    corners: Vec<DVec3>,
    normals: Vec<DVec3>,
    edges: Vec<DVec3>,
}

impl Brush {
    fn read(text: &str) -> Vec<Self> {
        let brushes = text.split('{').skip(1);
        brushes
            .map(|brush| Self::behind(&brush.lines().filter_map(plane).collect::<Vec<_>>()))
            .collect()
    }

    /// The brush behind `planes`. Its corners are points in which three planes meet.
    fn behind(planes: &[(DVec3, f64)]) -> Self {
        let (mut corners, mut edges) = (Vec::new(), Vec::new());
        for (i, a) in planes.iter().enumerate() {
            for (j, b) in planes.iter().enumerate().skip(i + 1) {
                edges.push(a.0.cross(b.0));
                for c in &planes[j + 1..] {
                    let volume = a.0.dot(b.0.cross(c.0));
                    if volume.abs() < 1e-9 {
                        continue;
                    }
                    let sum = b.0.cross(c.0) * a.1 + c.0.cross(a.0) * b.1 + a.0.cross(b.0) * c.1;
                    let corner = sum / volume;
                    if planes.iter().all(|(normal, distance)| normal.dot(corner) - distance < 1e-6)
                    {
                        corners.push(corner);
                    }
                }
            }
        }
        Self { corners, normals: planes.iter().map(|plane| plane.0).collect(), edges }
    }

    /// How far a box is from the brush along the direction that divides them best; negative if they
    /// overlap.
    fn gap(&self, centre: DVec3, half_extents: DVec3) -> f64 {
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        let crossed = self.edges.iter().flat_map(|edge| axes.map(|axis| edge.cross(axis)));
        let all = axes.into_iter().chain(self.normals.iter().copied()).chain(crossed);
        let along = |axis: DVec3| {
            let reach = half_extents.dot(axis.abs());
            let heights = || self.corners.iter().map(|corner| axis.dot(*corner - centre));
            let least = heights().fold(f64::INFINITY, f64::min);
            let greatest = heights().fold(f64::NEG_INFINITY, f64::max);
            (least - reach).max(-greatest - reach)
        };
        let directions = all.filter_map(DVec3::try_normalize);
        directions.map(along).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The outward plane of a line `( x y z ) ( x y z ) ( x y z ) …`.
fn plane(line: &str) -> Option<(DVec3, f64)> {
    let numbers: Vec<f64> =
        line.split_ascii_whitespace().filter_map(|word| word.parse().ok()).take(9).collect();
    let [a, b, c] = [0, 3, 6].map(|at| numbers.get(at..at + 3).map(DVec3::from_slice));
    let (a, b, c) = (a?, b?, c?);
    let normal = (c - a).cross(b - a).normalize();
    Some((normal, normal.dot(a)))
}

/// A match whose only obstacle, beside a floor far below, is a body that is drawn in the map.
fn stage(players: &PlayerSize) -> (World, EntityId) {
    let entity = format!("{{\n\"classname\" \"func_door\"\n{}}}\n", brushes());
    let floor = block([-512, -512, -416], [512, 512, -400]);
    let map = compiled_for(players, &floor, [0, 0, -300], &entity);
    let door = map.entities().iter().find(|entity| entity.classname() == "func_door");
    let door = door.expect("the map has a door");
    let model = map.model_of(door).unwrap_or_else(|error| panic!("{error}"));
    let mut world = World::new(map.clone(), [model].into(), CONFIG).expect("the map can be played");
    let drawn = world.model_of(door).expect("the door is a model of the match");
    let body = world.spawn_body(drawn.model, drawn.place, DQuat::IDENTITY);
    (world, body.expect("there is room where it is drawn"))
}

#[test]
fn a_player_of_any_size_stops_at_the_planes_of_the_brushes() {
    let brushes = Brush::read(&brushes());
    assert_eq!(brushes.iter().map(|brush| brush.corners.len()).collect::<Vec<_>>(), [8, 8, 6]);
    let mut random = Random::new(38);
    let small = PlayerSize { width: 8.0, height: 16.0, crouched_height: 16.0 };
    let large = PlayerSize { width: 64.0, height: 96.0, crouched_height: 70.0 };
    for players in [PlayerSize::default(), small, large] {
        let (world, body) = stage(&players);
        for posture in [Posture::Standing, Posture::Crouching] {
            let half_extents = world.agent_half_extents(posture);
            let gap = |at: DVec3| {
                brushes
                    .iter()
                    .map(|brush| brush.gap(at, half_extents))
                    .fold(f64::INFINITY, f64::min)
            };
            let mut stopped = 0;
            for round in 0..600 {
                let mut place = |reach: f64| {
                    DVec3::new(36.0, 4.0, 60.0)
                        + DVec3::from_array([(); 3].map(|()| random.between(-reach, reach)))
                };
                let (from, to) = (place(190.0), place(40.0));
                if gap(from) < GAP {
                    continue;
                }
                let shape = SweptShape::Player(posture);
                let hit = world.sweep(shape, DQuat::IDENTITY, [from, to], None);
                let told = format!("{players:?}, {posture:?}, round {round}: {from} to {to}");
                assert!(!hit.start_solid, "{told}: {hit:?}");
                // The box never gets into a brush.
                for step in 0..=64 {
                    let at = from.lerp(hit.at, f64::from(step) / 64.0);
                    assert!(gap(at) > 0.0, "{told}: {} at {at}", gap(at));
                }
                if hit.entity == Some(body) {
                    stopped += 1;
                    assert!(gap(hit.at) < GAP, "{told}: it stops {} too early", gap(hit.at));
                } else {
                    assert_eq!(hit.fraction, 1.0, "{told}: {hit:?}");
                }
            }
            assert!(stopped > 200, "{players:?} {posture:?}: {stopped} sweeps met the body");
        }
    }
}

/// Players who are thrown about walk, slide and stand on the body, and never get into a brush.
#[test]
fn a_player_who_is_thrown_at_a_drawn_body_never_gets_into_a_brush() {
    let brushes = Brush::read(&brushes());
    let (mut world, _) = stage(&PlayerSize::default());
    let start = DVec3::new(36.0, 4.0, 200.0);
    let player = world.add_player_at(PlayerKind::Box, start, 0).expect("there is room");
    let mut random = Random::new(83);
    let mut touching = 0;
    for tick in 0..3_000 {
        if tick % 40 == 0 {
            let mut number = |reach: f64| random.between(-reach, reach);
            let around = DVec3::new(36.0, 4.0, 60.0);
            let from = around + DVec3::new(number(160.0), number(160.0), number(120.0));
            if world.teleport(player, from, DQuat::IDENTITY).is_ok() {
                let velocity = (around - from).normalize_or(DVec3::X) * number(900.0).abs();
                world.set_velocity(player, velocity, DVec3::ZERO).expect("it is in the world");
            }
        }
        world.step(&[(
            player,
            Command { forward: 127, yaw: random.below(65_536) as u16, ..Command::default() },
        )]);
        let Some(entity) = world.entity(player) else { continue };
        let Kind::Player { posture } = entity.kind else { panic!("{entity:?}") };
        let half_extents = world.agent_half_extents(posture);
        let gaps = brushes.iter().map(|brush| brush.gap(entity.position, half_extents));
        let gap = gaps.fold(f64::INFINITY, f64::min);
        assert!(gap > 0.0, "tick {tick}: the player is in a brush by {gap}");
        touching += usize::from(gap < 0.5);
    }
    assert!(touching > 100, "the player met the body in {touching} ticks");
}

#[test]
fn a_model_of_another_map_is_refused() {
    let entity = format!("{{\n\"classname\" \"func_door\"\n{}}}\n", brushes());
    let floor = |top: i32| block([-512, -512, -416], [512, 512, top]);
    let [map, other] = [-400, -399]
        .map(|top| compiled_for(&PlayerSize::default(), &floor(top), [0, 0, -300], &entity));
    let door = other.entities().iter().find(|entity| entity.classname() == "func_door");
    let model = other.model_of(door.expect("a door")).expect("a model");
    let refused = World::new(map, [model].into(), CONFIG).expect_err("it is of another map");
    assert_eq!(refused, SetupError::OtherMap("*1".into()));
    assert!(refused.to_string().contains("make it from the map that is played"));
}
