//! Numbers that a client hands to the prediction.

use glam::Vec3;
use obsp::geometry::Aabb;
use obsp_sim::{
    ArmedMove, CollisionLayers, Command, EntityId, EntityState, Kind, LinearMove, ModelId,
    MovementParameters, MovementSets, Moving, PlayerMotion, Posture, Predictor, Swing, Traits,
    Walker,
};

use super::{map, models, turn, vector};
use crate::extremes::{Numbers, exercise, functions};

/// Names of the functions that are called here.
const CALLED: [&str; 13] = [
    "PredictedBodies::shove",
    "Moving::advanced",
    "Moving::new",
    "Moving::set_off",
    "Predictor::advance",
    "Predictor::correct_tank",
    "Predictor::drive",
    "Predictor::is_in_zone",
    "Predictor::predicted_bodies",
    "Predictor::step",
    "Predictor::tank",
    "Predictor::new",
    "Predictor::with_body_gravity",
];

pub(crate) fn has(name: &str) -> bool {
    CALLED.contains(&name)
}

fn motion(n: &mut Numbers) -> PlayerMotion {
    PlayerMotion {
        position: Vec3::from(n.three_f32([0.0, 0.0, 28.05])),
        velocity: Vec3::from(n.three_f32([200.0, 0.0, 0.0])),
        walker: Walker {
            grounded: true,
            ground_velocity: Vec3::from(n.three_f32([0.0, 0.0, -60.0])),
            ..Walker::default()
        },
    }
}

fn moving(n: &mut Numbers, slot: u16, kind: Kind, at: [f64; 3]) -> Moving {
    let id = EntityId { slot, generation: 0 };
    let (position, orientation) = (vector(n, at), turn(n));
    let velocity = vector(n, [-10.0, 0.0, 0.0]);
    let state = EntityState {
        id,
        kind,
        position,
        orientation,
        velocity,
        asleep: false,
        traits: Traits::default(),
    };
    Moving::new(state, vector(n, [0.1; 3]))
}

fn armed(n: &mut Numbers) -> ArmedMove {
    let zone = Aabb { min: vector(n, [-90.0; 3]), max: vector(n, [90.0; 3]) };
    let (goal, speed) = (vector(n, [0.0, 0.0, 30.0]), n.f64(20.0));
    ArmedMove { zone, by: LinearMove { goal, speed, delay: n.whole(1, u32::MAX.into()) as u32 } }
}

fn check(body: &Moving) {
    let EntityState { position, orientation, velocity, .. } = body.state;
    assert!(
        position.is_finite() && orientation.is_normalized() && velocity.is_finite(),
        "{body:?}"
    );
    assert!(body.spin.is_finite(), "{body:?}");
}

fn call(name: &str, predictor: &Predictor, n: &mut Numbers) {
    let prop = Kind::Prop { model: ModelId(0) };
    let command = Command { forward: 127, ..Command::default() };
    match name {
        "Predictor::with_body_gravity" => {
            let predictor = predictor.clone().with_body_gravity(n.f64(300.0));
            let body = moving(n, 1, prop, [100.0, 0.0, 70.0]);
            let mut among = predictor.predicted_bodies(
                &[body.state.id],
                &[body],
                (&motion(n), CollisionLayers::default()),
            );
            predictor.advance(&mut among, &[], &motion(n), n.f64(1.0 / 60.0));
            among.bodies().for_each(|body| check(&body));
        }
        "Moving::advanced" | "Moving::new" => {
            let before = moving(n, 1, prop, [60.0, 0.0, 30.0]);
            let (seconds, is_usual) = (n.f64(0.25), n.are_usual());
            let after = before.advanced(2, seconds);
            let was_finite = before.state.position.is_finite() && before.spin.is_finite();
            assert!(!was_finite || after.state.position.is_finite(), "{before:?} to {after:?}");
            assert!(!is_usual || after.state.position.x == 55.0, "{after:?}");
            let (goal, speed) = (vector(n, [0.0, 0.0, 30.0]), n.f64(20.0));
            let delay = n.whole(1, u32::MAX.into()) as u32;
            let linear_move = Some(LinearMove { goal, speed, delay });
            let after = Moving { linear_move, ..before }.advanced(3, seconds);
            assert!(!was_finite || after.state.position.is_finite(), "{before:?} to {after:?}");
            let (place, way) = (vector(n, [60.0, 0.0, 30.0]), vector(n, [0.0, 0.0, 30.0]));
            let [ticks, at] = [60, 1].map(|usual| n.whole(usual, u32::MAX.into()) as u32);
            let swing = Some(Swing { place, way, ticks, at });
            let after = Moving { swing, ..before }.advanced(3, seconds);
            assert!(!was_finite || after.state.position.is_finite(), "{before:?} to {after:?}");
        }
        "Moving::set_off" => {
            let before = moving(n, 1, prop, [60.0, 0.0, 30.0]);
            let armed = Some(armed(n));
            let after = Moving { armed, ..before }.set_off(n.f64(0.25));
            let was_finite = before.state.position.is_finite() && before.spin.is_finite();
            assert!(!was_finite || after.advanced(3, 0.1).state.position.is_finite(), "{after:?}");
        }
        "Predictor::is_in_zone" => {
            let is_usual = n.are_usual();
            let is_in_it = predictor.is_in_zone(&armed(n), &motion(n));
            assert!(!is_usual || is_in_it);
        }
        "Predictor::step" => {
            let parameters = MovementParameters::default().to_array().map(|usual| n.f64(usual));
            let [run_speed, .., gravity, _] = parameters;
            let parameters =
                MovementParameters { run_speed, gravity, ..MovementParameters::default() };
            let (before, seconds) = (motion(n), n.f64(1.0 / 60.0));
            let mut others = [moving(n, 1, prop, [40.0, 0.0, 17.0]).state];
            let player = Kind::Player { posture: Posture::Standing };
            let mut others = [others[0], moving(n, 2, player, [0.0, 60.0, 28.05]).state, {
                others[0].id.slot = 3;
                others[0].kind = Kind::Prop { model: ModelId(12) };
                others[0].position.z -= 40.0;
                others[0]
            }];
            let layers = CollisionLayers::default();
            let by = (seconds, &MovementSets::from(parameters), layers);
            let spins = [(others[0].id, vector(n, [0.0, 0.0, 1.0]))];
            let after = predictor.step(before, command, by, &mut others, &[], &spins).motion;
            let was_sound = before.position.is_finite() && before.velocity.is_finite();
            let is_sound = after.position.is_finite() && after.velocity.is_finite();
            assert!(is_sound || !was_sound, "{before:?} to {after:?}");
            assert!(!n.are_usual() || after.position.x > before.position.x, "{after:?}");
        }
        "Predictor::predicted_bodies" | "Predictor::advance" | "PredictedBodies::shove" => {
            let before = motion(n);
            let player = Kind::Player { posture: Posture::Standing };
            let bodies = [
                moving(n, 1, prop, [60.0, 0.0, 30.0]),
                moving(n, 2, prop, [60.0, 0.0, 90.0]),
                moving(n, 3, player, [40.0, 60.0, 28.05]),
            ];
            let own = [bodies[0].state.id];
            let mut predicted =
                predictor.predicted_bodies(&own, &bodies, (&before, CollisionLayers::default()));
            predicted.shove(own[0], vector(n, [100.0, 0.0, 0.0]));
            let others = bodies.map(|body| body.state);
            for _ in 0..3 {
                predictor.advance(
                    &mut predicted,
                    &others,
                    &motion(&mut n.clone()),
                    n.f64(1.0 / 60.0),
                );
            }
            predicted.bodies().for_each(|body| check(&body));
            assert!(!n.are_usual() || predicted.find(own[0]).is_some());
        }
        _ => {
            let tank = Kind::Vehicle { model: ModelId(8) };
            let own = moving(n, 1, tank, [0.0, 300.0, 60.0]);
            let bodies = [moving(n, 2, prop, [90.0, 300.0, 30.0])];
            let Some(mut among) = predictor.tank(&own, &bodies) else {
                assert!(!n.are_usual());
                return;
            };
            for _ in 0..3 {
                predictor.drive(&mut among, command, &[bodies[0].state], n.f64(1.0 / 60.0));
            }
            let again = moving(n, 1, tank, [0.0, 300.0, 70.0]);
            predictor.correct_tank(&mut among, &again, &bodies);
            check(&among.state().expect("the entity exists"));
            among.bodies().for_each(|body| check(&body));
        }
    }
}

#[test]
fn no_prediction_panics_or_is_none_by_odd_numbers() {
    let predictor = Predictor::new(map(), &models()).expect("the map can be played");
    let types = ["f64", "DVec3", "PlayerMotion", "Moving", "EntityState"];
    let found = functions(env!("CARGO_MANIFEST_DIR"), &[], &types);
    let found = found.iter().filter(|function| has(&function.name));
    let names: Vec<_> = found.map(|function| function.name.as_str()).collect();
    assert_eq!(names.len(), CALLED.len() - 1, "{names:?}");
    for name in names {
        exercise(name, 2, |numbers| call(name, &predictor, numbers));
    }
}
