//! Vehicles that no honest server would report, and vehicles predicted far ahead of the server.

use glam::DQuat;
use obsp_sim::{Kind, ModelId, Traits};

use super::*;

fn forward(tick: u32) -> CommandSent {
    sent(tick, Command { forward: 127, ..Command::default() })
}

fn body(slot: u16, kind: Kind, position: DVec3) -> EntityState {
    EntityState {
        id: EntityId { slot, generation: 0 },
        kind,
        position,
        orientation: DQuat::IDENTITY,
        velocity: DVec3::ZERO,
        asleep: false,
        traits: Traits::default(),
    }
}

/// A server may call any model a vehicle, such as a missile, or a body that no impulse moves. The
/// engine must not divide by the mass of a body that no impulse moves.
#[test]
fn a_vehicle_of_any_model_has_a_place_that_is_a_number() {
    let map = arena();
    let (world, player) = alone(&map);
    let start = world.player_motion(player).unwrap().position.as_dvec3() + DVec3::Z * 40.0;
    let mut predicted = 0;
    for model in (0..24).map(ModelId) {
        let mut prediction = Prediction::new(Arc::clone(&map), SECONDS);
        prediction.reconcile_vehicle(Tick(0), body(3, Kind::Vehicle { model }, start), &[]);
        for tick in 1..30 {
            prediction.play(&forward(tick), &[]);
        }
        if let Some((_, vehicle)) = prediction.vehicle() {
            assert!(vehicle.position.is_finite() && vehicle.velocity.is_finite(), "{vehicle:?}");
            assert!(vehicle.orientation.is_finite(), "{vehicle:?}");
            predicted += 1;
        }
    }
    assert!(predicted > 0);
}

/// A client that is late because it lacks CPU time must not need more CPU time the later it is.
#[test]
fn far_ahead_of_the_server_a_tank_is_alone() {
    let map = arena();
    let (world, player) = alone(&map);
    let start = world.player_motion(player).unwrap().position.as_dvec3() + DVec3::Z * 40.0;
    let others = [(Tick(0), body(5, Kind::Prop { model: ModelId(0) }, start + DVec3::Z * 90.0))];
    let mut prediction = Prediction::new(map, SECONDS);
    let tank = body(3, Kind::Vehicle { model: ModelId(8) }, start);
    prediction.reconcile_vehicle(Tick(0), tank, &others);
    let bodies = |prediction: &Prediction| match prediction.own() {
        Some((_, Own::Driving(tank))) => tank.bodies().count(),
        other => panic!("the player drives no tank: {other:?}"),
    };
    assert_eq!(bodies(&prediction), 1);
    let far = (PROP_PREDICTION_LIMIT / SECONDS).round() as u32;
    for tick in 1..=far {
        prediction.play(&forward(tick), &others);
    }
    assert_eq!(bodies(&prediction), 1);
    for tick in far + 1..=far + 2 {
        prediction.play(&forward(tick), &others);
    }
    assert_eq!(bodies(&prediction), 0);
    let later = EntityState { velocity: DVec3::X * 8.0, ..tank };
    prediction.reconcile_vehicle(Tick(1), later, &others);
    assert_eq!(bodies(&prediction), 0);
}
