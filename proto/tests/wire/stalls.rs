//! A server that stalls, and clients far away. Every player's commands are soon used again.

use std::time::Duration;

use obsp_proto::schema::Schema;
use obsp_proto::server::CommandSource;

use crate::link::Impairments;
use crate::scene::Scene;
use crate::staged_match::{Match, RATE};

/// Number of ticks in a second for which the client's command for exactly that tick was used. Only
/// commands that were sent after the client had a snapshot of the tick `since` or later count.
fn used(game: &mut Match, since: usize) -> u32 {
    let mut used = 0;
    for _ in 0..RATE.get() {
        game.run(1);
        let (command, source) = game.taken;
        used += u32::from(source == CommandSource::Client && usize::from(command.yaw) >= since);
    }
    used
}

fn link(delay: u64, loss: f64) -> Impairments {
    Impairments { delay: Duration::from_millis(delay), loss, ..Impairments::GOOD }
}

/// Symptom: a server had been stopped for 1.3 s or more and then skipped that time. The clocks of
/// its clients were ahead by that time, none of their commands was used any more, and nothing
/// reported it to them.
#[test]
fn commands_are_used_again_a_second_after_a_stall() {
    for (seed, ticks) in [18, 30, 78, 180, 600].into_iter().enumerate() {
        for (delay, loss) in [(1, 0.0), (40, 0.01), (50, 0.05), (300, 0.0)] {
            let seed = seed as u64;
            let mut game = Match::new(seed, Scene::new(seed, 4, 20), link(delay, loss));
            game.run(300);
            game.stall(ticks);
            let resumed = game.states.len();
            game.run(u32::from(RATE.get()));
            let used = used(&mut game, resumed);
            // On a line that loses datagrams, the client is still learning the necessary margin.
            let least = if loss > 0.0 { 54 } else { 57 };
            assert!(
                used >= least,
                "{ticks} ticks, {delay} ms, {loss}: the commands of {used} of \
                                    60 ticks were used"
            );
        }
    }
}

/// In this match the hello takes no time, so a client cannot measure its distance by the hello. It
/// learns the distance from the server's reports.
#[test]
fn the_commands_of_a_distant_client_come_to_be_used() {
    for delay in [5, 80, 300, 600] {
        let mut game = Match::new(7, Scene::new(7, 4, 20), link(delay, 0.0));
        game.run(600);
        let used = used(&mut game, 1);
        assert!(used >= 58, "{delay} ms: the commands of {used} of 60 ticks were used");
    }
}

/// Symptom: all commands of a player whose hello was lost once came 0.1 s too late for a
/// second. Causes: the clock was set back by an estimate that was corrected twice, and the
/// server did not measure commands that were sent again.
#[test]
fn the_commands_of_a_player_whose_hello_was_lost_come_to_be_used() {
    for is_idle in [true, false] {
        for delay in [1, 25, 50, 100, 150, 250] {
            for waited in (0..40).map(|step| 25 * step) {
                let (seed, waited) = (waited, Duration::from_millis(waited + 2 * delay));
                let mut game = joined_after(waited, seed, link(delay, 0.0));
                game.is_idle = is_idle;
                game.run(30 + delay as u32 / 2);
                let used: Vec<u32> = (0..4).map(|_| used(&mut game, 0)).collect();
                let lead = game.jitter_buffer.lead().map(|lead| lead.ticks());
                let told = format!("{delay} ms, hello {waited:?}, {is_idle}");
                assert_eq!(used, [60; 4], "{told}");
                assert!(
                    lead.is_some_and(|lead| lead < 4.0),
                    "{told}: commands come {lead:?} ticks \
                    too early"
                );
            }
        }
    }
}

/// The commands of a player whose hello was lost are also used over lines on which packets are lost
/// and overtake one another.
#[test]
fn the_commands_of_a_player_whose_hello_was_lost_are_used_on_bad_lines_too() {
    for is_idle in [true, false] {
        for (delay, jitter, loss) in [(30, 40, 0.0), (30, 40, 0.05), (100, 40, 0.05)] {
            for seed in 0..60 {
                let waited = Duration::from_millis(2 * delay + 12 * seed);
                let jitter = Duration::from_millis(jitter);
                let mut game =
                    joined_after(waited, seed, Impairments { jitter, ..link(delay, loss) });
                game.is_idle = is_idle;
                game.run(RATE.get().into());
                let used: Vec<u32> = (0..3).map(|_| used(&mut game, 0)).collect();
                let least = *used.iter().min().unwrap();
                assert!(least >= 50, "seed {seed}, {delay} ms, {loss}, {waited:?}: {used:?}");
            }
        }
    }
}

/// A match whose client's hello was under way for this long.
fn joined_after(waited: Duration, seed: u64, line: Impairments) -> Match {
    Match::joined_after(waited, Schema::default(), seed, Scene::new(seed, 4, 20), line)
}
