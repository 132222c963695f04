use std::path::Path;
use std::sync::Arc;

use obsp_game::AnyGame;
use obsp_game::arena::Arena;
use obsp_proto::control::{ChatLine, PlayerName};
use obsp_recording::{Playback, Recording};
use obsp_sim::PlayerKind;
use tokio::sync::broadcast;

use super::*;
use crate::matches::level::News;

const RATE: u32 = 60;

/// Plays `ticks` ticks of a match of four walkers. Returns the buffer, the map and the digests of
/// all ticks.
fn played(ticks: u64) -> (ReplayBuffer, Arc<obsp::Map>, Vec<u64>) {
    let path =
        crate::matches::map_file::find("arena.obsp", &crate::matches::map_file::folders()).unwrap();
    let map = Arc::new(crate::matches::map_file::load(&path).unwrap());
    let config = Config { tick_rate: RATE, seed: 7, objects: 20, max_players: 8 };
    let mut game = Arena.new_match(Arc::clone(&map), config).unwrap();
    let buffer = ReplayBuffer::new(&*game, config);
    let mut digests = vec![game.digest()];
    let mut players = Vec::new();
    for tick in 1..=ticks {
        // Players join one after the other, and one leaves.
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
    // In the first second there is no excerpt. Then an excerpt begins with the level. Later it
    // begins half a minute ago.
    assert!(played(59).0.excerpt(&[]).is_none());
    for (ticks, from) in [(60, 0), (700, 0), (2399, 540), (2579, 720)] {
        let (buffer, map, digests) = played(ticks);
        let bytes = buffer.excerpt(&[]).unwrap().unwrap();
        let read = Recording::read(Path::new("excerpt"), &bytes[..]).unwrap();
        let last = ticks / u64::from(RATE) * u64::from(RATE);
        assert_eq!(read.first_tick(), from, "{ticks} ticks");
        assert_eq!((read.ticks(), buffer.last_tick()), (last, last), "{ticks} ticks");
        assert!(read.incomplete().is_none());
        // Plays from each keyframe to the end.
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

fn name(player: EntityId, name: &str) -> Said {
    Said::Name(player.slot, name.to_owned())
}

fn chat(player: Option<EntityId>, line: &str) -> Said {
    Said::Chat(player.map(|player| player.slot), line.to_owned())
}

fn joined(player: EntityId, name: &str) -> MatchEvent {
    MatchEvent::Joined { player, name: PlayerName::new(name).unwrap() }
}

fn announced(line: &str) -> MatchEvent {
    MatchEvent::Announced { line: ChatLine::new(line).unwrap() }
}

/// Guards against past faults. An excerpt took the names of its players from the present roster. So
/// a player who had left had no name, and a player who had come later gave the slot a name from the
/// first tick on. The excerpt had no chat.
#[test]
fn an_excerpt_has_the_names_and_the_chat_of_its_ticks() {
    let path =
        crate::matches::map_file::find("arena.obsp", &crate::matches::map_file::folders()).unwrap();
    let map = crate::matches::map_file::load(&path).unwrap();
    let config = Config { tick_rate: RATE, seed: 7, objects: 0, max_players: 2 };
    let mut game = Arena.new_match(map.into(), config).unwrap();
    let buffer = ReplayBuffer::new(&*game, config);
    let (sender, receiver) = broadcast::channel(4 * MAX_LINES);
    buffer.hear(receiver);
    let tell = |event| {
        let tick = obsp_proto::Tick(0);
        assert!(sender.send(News { tick, event, to: None }).is_ok());
    };
    let mut players = [(); 2].map(|()| game.join_as(PlayerKind::Box).unwrap());
    tell(joined(players[0], "Ada"));
    tell(joined(players[1], "Bob"));
    for tick in 1..=2399_u64 {
        // The excerpt begins after tick 540: Bob has left by then, Ada leaves later.
        if let Some((place, name)) = [(200, (1, "Carl")), (1000, (0, "Dora"))]
            .iter()
            .find_map(|(when, who)| (*when == tick).then_some(*who))
        {
            let slot = players[place].slot;
            game.leave(players[place]);
            players[place] = game.join_as(PlayerKind::Box).unwrap();
            assert_eq!(players[place].slot, slot);
            tell(joined(players[place], name));
        }
        let line =
            |line| MatchEvent::Said { player: players[0], line: ChatLine::new(line).unwrap() };
        match tick {
            300 => tell(line("too early")),
            900 => tell(line("bye")),
            1500 => tell(announced("restart")),
            2000 => (0..2 * MAX_LINES).for_each(|_| tell(announced("flood"))),
            _ => {}
        }
        let commands = players.map(|player| (player, Command::default()));
        game.step(&commands);
        buffer.ticked(&*game, &commands);
    }
    let [first, second] = players;
    let mut expected = vec![
        (540, name(first, "Ada")),
        (540, name(second, "Carl")),
        (900, chat(Some(first), "bye")),
        (1000, name(first, "Dora")),
        (1500, chat(None, "restart")),
    ];
    expected.extend(vec![(2000, chat(None, "flood")); MAX_LINES]);
    let expected: Vec<_> = expected.into_iter().map(|(tick, what)| Note { tick, what }).collect();
    // Today's players do not change the names of the excerpt's ticks.
    for introductions in [&[][..], &[joined(first, "Dora"), joined(second, "Carl")]] {
        let bytes = buffer.excerpt(introductions).unwrap().unwrap();
        let read = Recording::read(Path::new("excerpt"), &bytes[..]).unwrap();
        assert!(read.incomplete().is_none());
        assert_eq!(read.notes(), expected);
    }
}

/// If a name did not arrive, the roster supplies it, for a player who is there from the first tick
/// on.
#[test]
fn an_excerpt_names_those_whose_names_were_not_heard() {
    let (buffer, ..) = played(2399);
    let (stayed, _) = lock(&buffer.pieces)[0].keyframe.as_ref().unwrap().commands[0];
    let later = EntityId { generation: stayed.generation + 1, ..stayed };
    for (player, expected) in [(stayed, vec![name(stayed, "Ada")]), (later, vec![])] {
        let bytes = buffer.excerpt(&[joined(player, "Ada")]).unwrap().unwrap();
        let read = Recording::read(Path::new("excerpt"), &bytes[..]).unwrap();
        let said: Vec<_> = read.notes().iter().map(|note| note.what.clone()).collect();
        assert_eq!(said, expected);
    }
}
