//! Saved matches. The loader refuses the bytes, or loads a world that plays on and in which no two
//! bodies overlap. A loaded match is saved again with the same digest.
//!
//! The input is a list of changes of three bytes each: a place in a saved match, and a number to
//! add to the byte there. So most inputs are nearly a match.
#![no_main]

use std::sync::{Arc, LazyLock, Mutex};

use libfuzzer_sys::fuzz_target;
use obsp_game::arena::Arena;
use obsp_game::{AnyGame, RunningMatch};
use obsp_sim::audit::Audit;
use obsp_sim::{Buttons, Command, Config};

struct Fixture {
    saved: Vec<u8>,
    game: Box<dyn RunningMatch>,
    audit: Audit,
}

/// A match on the arena with players who shoot.
static FIXTURE: LazyLock<Mutex<Fixture>> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../maps/arena.obsp");
    let map = Arc::new(obsp::Map::load(path.as_ref()).expect("a shipped map"));
    let config = Config { tick_rate: 60, seed: 5, objects: 8, max_players: 8 };
    let mut game = Arena.new_match(Arc::clone(&map), config).expect("the arena can be played");
    let players = [(); 4].map(|()| game.join_as(Default::default()).expect("there is room"));
    for tick in 0..90_u16 {
        let buttons = if tick % 30 == 0 { Buttons::TERTIARY } else { Buttons::SECONDARY };
        let yaw = tick * 700;
        let command = Command { forward: 127, yaw, buttons, ..Command::default() };
        game.step(&players.map(|player| (player, command)));
    }
    let audit = Audit::new(&map, &Arena.models(&map)).expect("the arena can be played");
    Mutex::new(Fixture { saved: game.save(), game, audit })
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut fixture) = FIXTURE.lock() else { return };
    let Fixture { saved, game, audit } = &mut *fixture;
    let _ = game.restore(bytes);
    let mut changed = saved.clone();
    for change in bytes.chunks_exact(3) {
        let place = usize::from(u16::from_le_bytes([change[0], change[1]]));
        let place = place % changed.len();
        changed[place] = changed[place].wrapping_add(change[2]);
    }
    if game.restore(&changed).is_err() {
        return;
    }
    assert_eq!(audit.check_match(game.world()), []);
    let (digest, again) = (game.digest(), game.save());
    game.restore(&again).expect("a loaded match can be saved and loaded again");
    assert_eq!(game.digest(), digest);
    for _ in 0..3 {
        game.step(&[]);
    }
    assert_eq!(audit.check_match(game.world()), []);
});
