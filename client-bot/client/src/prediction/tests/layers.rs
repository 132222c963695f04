//! Players who pass through their team and through a door are predicted without a correction.

use glam::DQuat;
use obsp_proto::quantise::{Quantiser, WorldBounds};
use obsp_sim::PlayerKind;

use super::*;

/// Ticks from sending a command to receiving the state after it.
const LAG: u32 = 6;

const RED: u32 = 1 << 1;

/// Members of the red team pass through each other.
const TEAM: CollisionLayers = CollisionLayers { layers: RED, mask: !RED };

/// Plays two members of a team who run to and fro along one line, on which there is a door for the
/// team. Returns the counters of both, the least distance between the two, and how often they
/// were in the door.
fn run(layers: CollisionLayers) -> ([PredictionStats; 2], f64, u32) {
    let map = arena();
    let config = Config { tick_rate: 60, seed: 1, objects: 0, max_players: 2 };
    let models = obsp::model::shipped().into();
    let mut world = World::new(Arc::clone(&map.map), models, config).unwrap();
    let at = |y: f64, z: f64| DVec3::new(-400.0, y, z);
    let door = world.spawn_body(world.model("crate").unwrap(), at(-260.0, 17.0), DQuat::IDENTITY);
    let door = door.unwrap();
    world.set_layers(door, CollisionLayers { layers: 1, mask: !RED }).unwrap();
    let players = [-320.0, -200.0].map(|y| {
        let player = world.add_player_at(PlayerKind::Box, at(y, 28.5), 0).unwrap();
        world.set_layers(player, layers).unwrap();
        player
    });
    let bounds = WorldBounds::covering(map.map.bounds().min, map.map.bounds().max).unwrap();
    let mut quantiser = Quantiser::new(bounds);
    let mut clients = players.map(|_| Prediction::new(Arc::clone(&map), SECONDS));
    let mut observed: Vec<Observed> = Vec::new();
    let (mut least, mut in_door) = (f64::INFINITY, 0);
    // The first runs along +Y while the second runs along -Y.
    let command = |tick: u32, player: usize| {
        let turned = (tick / 30 + player as u32) % 2 * 32_768;
        Command { forward: 127, yaw: (16_384 + turned) as u16, ..Command::default() }
    };
    for tick in 1..=600 {
        for (index, prediction) in clients.iter_mut().enumerate() {
            let own = players[index];
            let known = observed.iter().find(|(_, state)| state.id == own);
            prediction.set_layers(known.map(|(_, own)| own.traits.layers).unwrap_or_default());
            let others = observed.iter().filter(|(_, state)| state.id != own);
            let others: Vec<Observed> = others.copied().collect();
            prediction.play(&sent(tick, command(tick, index)), &others);
            let Some(now) = tick.checked_sub(LAG + 1).filter(|now| *now > 0) else { continue };
            let motion = world.player_motion(own).unwrap();
            prediction.reconcile(Tick(now), answer(motion), &others);
        }
        let Some(now) = tick.checked_sub(LAG).filter(|now| *now > 0) else { continue };
        world.step(&[(players[0], command(now, 0)), (players[1], command(now, 1))]);
        let state = quantiser.quantise(&world.state()).unwrap();
        let states = (0..state.slots() as u16).filter_map(|slot| {
            Some((Tick(now), state.entity(slot.into())?.dequantise(slot, &bounds)))
        });
        observed = states.collect();
        let [first, second] = players.map(|id| world.entity(id).unwrap().position);
        least = least.min(first.distance(second));
        in_door += u32::from((first.y + 260.0).abs() < 16.0);
    }
    (clients.map(|prediction| *prediction.stats()), least, in_door)
}

#[test]
fn a_team_and_its_door_are_passed_without_a_correction() {
    let (stats, least, in_door) = run(TEAM);
    println!("{stats:?}, {least} units apart, {in_door} ticks in the door");
    assert!(least < 8.0 && in_door > 5, "they met nothing: {least}, {in_door}");
    for PredictionStats { compared, corrections, .. } in stats {
        assert!(compared > 500, "{compared}");
        assert_eq!(corrections, 0);
    }
    // Without the layers they are in each other's way, and in the door's.
    let (_, least, in_door) = run(CollisionLayers::default());
    assert!(least > 30.0 && in_door == 0, "{least}, {in_door}");
}
