use std::path::Path;
use std::sync::Arc;

use obsp_game::AnyGame;
use obsp_game::arena::Arena;
use obsp_recording::{Playback, Recording};
use obsp_sim::PlayerKind;

use super::*;

const RATE: u32 = 60;

/// Plays `ticks` ticks of a match of four walkers and keeps what the buffer keeps; gives the
/// digests of all ticks.
fn played(ticks: u64) -> (ReplayBuffer, Arc<obsp::World>, Vec<u64>) {
    let path = crate::map_file::find("arena.obsp", &crate::map_file::folders()).unwrap();
    let map = Arc::new(crate::map_file::load(&path).unwrap());
    let config = Config { tick_rate: RATE, seed: 7, objects: 20, max_players: 8 };
    let mut game = Arena.new_match(Arc::clone(&map), config).unwrap();
    let buffer = ReplayBuffer::new(&*game, config);
    let mut digests = vec![game.digest()];
    let mut players = Vec::new();
    for tick in 1..=ticks {
        // They come one after the other, and one goes.
        if tick % 200 == 1 && players.len() < 4 {
            players.push(game.join_as(PlayerKind::Box).unwrap());
        }
        if tick == 1000 {
            game.leave(players.remove(0));
        }
        let command = |index: usize| Command {
            forward: 127,
            yaw: (tick as u16).wrapping_mul(90).wrapping_add(index as u16 * 9000),
            ..Command::default()
        };
        let commands: Vec<_> =
            players.iter().enumerate().map(|(index, id)| (*id, command(index))).collect();
        game.step(&commands);
        buffer.ticked(&*game, &commands);
        digests.push(game.digest());
    }
    (buffer, map, digests)
}

#[test]
fn an_excerpt_plays_to_the_digests_of_the_match() {
    // In the first second there is none; then from the beginning; then the last half minute.
    assert!(played(59).0.excerpt(&[]).is_none());
    for (ticks, from) in [(60, 0), (700, 0), (2399, 540), (2579, 720)] {
        let (buffer, map, digests) = played(ticks);
        let bytes = buffer.excerpt(&[]).unwrap().unwrap();
        let read = Recording::read(Path::new("excerpt"), &bytes[..]).unwrap();
        let last = ticks / u64::from(RATE) * u64::from(RATE);
        assert_eq!(read.first_tick(), from, "{ticks} ticks");
        assert_eq!((read.ticks(), buffer.last_tick()), (last, last), "{ticks} ticks");
        assert!(read.incomplete().is_none());
        // From each keyframe.
        for number in 0..read.keyframes().len() {
            let keyframe = read.keyframe(number).unwrap();
            let mut playback = Playback::at(&read, &keyframe, Arc::clone(&map), &Arena).unwrap();
            for tick in read.ticks_after(number).unwrap() {
                playback.step(&tick.unwrap());
                assert_eq!(playback.difference(), None, "keyframe {number}");
                assert_eq!(playback.game().digest(), digests[playback.tick() as usize]);
            }
            assert_eq!(playback.tick(), last);
        }
    }
}
