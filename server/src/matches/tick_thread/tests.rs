//! The tick thread in virtual time: seats, commands, and the change of worlds.

use std::num::NonZeroU16;
use std::sync::mpsc::{SyncSender, sync_channel};

use obsp_game::PlayerInfo;
use obsp_proto::commands::{CommandBatch, CommandDatagram};
use obsp_sim::AddPlayerError;
use tokio::sync::oneshot;

use super::*;
use crate::matches::seats::view_limit::{ClientTiming, ViewLimit};
use crate::matches::seats::{Seat, Surplus};
use crate::{test_level, test_match};

/// A match in virtual time, and the channel by which players join.
struct VirtualMatch {
    game: Match,
    latest: LatestState,
    joins: SyncSender<JoinRequest>,
    now: Duration,
}

impl VirtualMatch {
    fn new() -> Self {
        let (joins, requests) = sync_channel(8);
        let (game, latest) = test_match(requests);
        Self { game, latest, joins, now: Duration::ZERO }
    }

    fn now(&self) -> Time {
        Time::since_start(self.now)
    }

    fn tick(&mut self) -> Arc<PublishedState> {
        self.now += Duration::from_nanos(16_666_667);
        self.game.tick(self.now()).unwrap();
        self.latest.borrow().clone()
    }

    fn ask(&self) -> oneshot::Receiver<Result<Seat, AddPlayerError>> {
        let (request, answer) = oneshot::channel();
        let request =
            JoinRequest { answer: request, info: PlayerInfo::default(), steered: Arc::default() };
        self.joins.try_send(request).unwrap();
        answer
    }

    fn join(&mut self) -> Result<Seat, AddPlayerError> {
        let mut answer = self.ask();
        self.tick();
        answer.try_recv().unwrap()
    }
}

/// The datagram of one command.
fn datagram(tick: Tick, command: Command) -> CommandDatagram {
    let batch = CommandBatch::new(tick, vec![command]).unwrap();
    CommandDatagram { acknowledgement: None, batch }
}

/// A view limit that no view of these tests reaches, because the client is very far away.
fn any_view() -> ViewLimit {
    let round_trip = Duration::from_secs(1);
    let rate = NonZeroU16::new(60).unwrap();
    let tick = Tick(0);
    ViewLimit::new(rate, &ClientTiming { tick, acknowledged: None, interval: None, round_trip })
}

fn players(published: &PublishedState) -> usize {
    let is_player = |kind: obsp_sim::Kind| kind.is_player();
    published.state.entities.iter().filter(|entity| is_player(entity.kind)).count()
}

#[test]
fn a_dropped_seat_is_free_again() {
    let mut play = VirtualMatch::new();
    let first = play.join().unwrap();
    let _second = play.join().unwrap();
    assert_eq!(play.join().unwrap_err(), AddPlayerError::Full(2));
    drop(first);
    // The seat is free within the same tick.
    let _third = play.join().unwrap();
    assert_eq!(players(&play.tick()), 2);
}

#[test]
fn a_full_queue_does_not_hide_that_its_seat_is_free() {
    let mut play = VirtualMatch::new();
    let first = play.join().unwrap();
    let _second = play.join().unwrap();
    let batch = datagram(first.tick.after(1), Command::default());
    while first.send(batch.clone(), play.now(), any_view()) != Err(Surplus) {}
    drop(first);
    let _third = play.join().unwrap();
    assert_eq!(players(&play.tick()), 2);
}

#[test]
fn a_client_that_no_longer_waits_leaves_no_player_behind() {
    let mut play = VirtualMatch::new();
    drop(play.ask());
    play.tick();
    assert_eq!(players(&play.tick()), 0);
}

#[test]
fn commands_reach_the_tick_they_are_for() {
    let mut play = VirtualMatch::new();
    let seat = play.join().unwrap();
    let forward = Command { forward: 127, ..Command::default() };
    for ahead in 0..60 {
        let batch = datagram(seat.tick.after(ahead + 2), forward);
        assert_eq!(seat.send(batch, play.now(), any_view()), Ok(()));
        play.tick();
    }
    let published = play.tick();
    let own = published.state.entities.iter().find(|entity| entity.id == seat.player).unwrap();
    assert!(own.velocity.x > 100.0, "after a second of walking: {own:?}");
    assert_eq!(published.commands.in_time, 60);
    let update = published.own(seat.player);
    assert_eq!(update.motion.unwrap().motion.position.as_dvec3(), own.position);
    assert!(update.lead.is_some());
}

#[test]
fn ticks_that_catch_up_are_told_of_each() {
    let mut play = VirtualMatch::new();
    let mut states = play.game.states();
    (0..4).for_each(|_| drop(play.tick()));
    let told: Vec<u64> =
        std::iter::from_fn(|| states.try_recv().ok()).map(|state| state.state.tick).collect();
    assert_eq!(told, [1, 2, 3, 4]);
}

#[test]
fn nobody_shoots_farther_into_the_past_than_allowed() {
    let mut play = VirtualMatch::new();
    let seat = play.join().unwrap();
    let command =
        Command { buttons: obsp_sim::Buttons::PRIMARY, view_age: 4000, ..Command::default() };
    let tick = seat.tick.after(2);
    seat.send(datagram(tick, command), play.now(), any_view()).unwrap();
    play.game.seats.receive(&mut *play.game.simulation, seat.tick, &seat.level);
    let commands = play.game.seats.commands(tick, play.now());
    // 200 ms are 12 ticks of 16 parts.
    assert_eq!(commands, [(seat.player, Command { view_age: 192, ..command })]);
}

#[test]
fn nobody_shoots_farther_into_the_past_than_their_line_explains() {
    let mut play = VirtualMatch::new();
    let seat = play.join().unwrap();
    let command =
        Command { buttons: obsp_sim::Buttons::PRIMARY, view_age: 192, ..Command::default() };
    let timing = ClientTiming {
        tick: seat.tick,
        acknowledged: Some(seat.tick),
        interval: Some(1),
        round_trip: Duration::from_millis(2),
    };
    let view = ViewLimit::new(NonZeroU16::new(60).unwrap(), &timing);
    let tick = seat.tick.after(1);
    seat.send(datagram(tick, command), play.now(), view).unwrap();
    play.game.seats.receive(&mut *play.game.simulation, seat.tick, &seat.level);
    let (_, played) = play.game.seats.commands(tick, play.now())[0];
    assert!((64..112).contains(&played.view_age), "{}", played.view_age);
}

#[test]
fn a_player_whose_line_is_lost_is_protected_if_that_is_asked_for() {
    let mut play = VirtualMatch::new();
    let seat = play.join().unwrap();
    let mut buttons = |tick| play.game.seats.commands(Tick(tick), Time::ZERO)[0].1.buttons;
    assert_eq!(buttons(2), obsp_sim::Buttons::default());
    seat.leave_behind(Some(Tick(4)));
    assert_eq!(buttons(3), obsp_sim::Buttons::default());
    assert_eq!(buttons(4), obsp_sim::Buttons::PROTECTED);
    seat.take_up();
    assert_eq!(buttons(5), obsp_sim::Buttons::default());
}

/// Symptom: a player escaped from fights by leaving, six times in 35 s, and the killer got nothing.
#[test]
fn a_player_who_leaves_in_a_fight_is_in_it_until_it_is_over() {
    let mut play = VirtualMatch::new();
    play.game.seats = std::mem::replace(
        &mut play.game.seats,
        Seats::new(NonZeroU16::new(60).unwrap(), Duration::ZERO, sync_channel(1).1),
    )
    .with_combat_time(Duration::from_secs(1));
    let [victim, hunter] = [(); 2].map(|()| play.join().unwrap());
    let hurt = |player: &Seat, by: &Seat| {
        [Event::Hurt { player: player.player, by: by.player, damage: 60 }]
    };
    let seats = &mut play.game.seats;
    // A player who hurts themselves is in no fight.
    seats.note_fights(&hurt(&victim, &victim), Tick(10));
    assert_eq!(victim.fight_left(Tick(10)), 0);
    seats.note_fights(&hurt(&victim, &hunter), Tick(10));
    assert_eq!((victim.fight_left(Tick(10)), hunter.fight_left(Tick(10))), (60, 0));
    // Protection waits for the end of the fight.
    victim.leave_behind(Some(Tick(11)));
    seats.note_fights(&[], Tick(69));
    assert_eq!(victim.fight_left(Tick(69)), 1);
    assert!(seats.commands(Tick(69), Time::ZERO)[0].1.buttons != obsp_sim::Buttons::PROTECTED);
    seats.note_fights(&[], Tick(70));
    assert_eq!(victim.fight_left(Tick(70)), 0);
    assert_eq!(seats.commands(Tick(70), Time::ZERO)[0].1.buttons, obsp_sim::Buttons::PROTECTED);
    // Death ends a fight, and so does the other player's leaving.
    seats.note_fights(&hurt(&victim, &hunter), Tick(80));
    let died = [Event::Died { player: victim.player, by: hunter.player, means: "ray" }];
    seats.note_fights(&died, Tick(81));
    assert_eq!(victim.fight_left(Tick(81)), 0);
    seats.note_fights(&hurt(&victim, &hunter), Tick(90));
    hunter.leave_behind(None);
    seats.note_fights(&[], Tick(91));
    assert_eq!(victim.fight_left(Tick(91)), 0);
}

/// Symptom: a friend hit the victim last and left, and the fight with the hunter was over.
#[test]
fn a_friend_who_hits_last_and_leaves_ends_no_fight() {
    let mut play = VirtualMatch::new();
    play.game.seats = std::mem::replace(
        &mut play.game.seats,
        Seats::new(NonZeroU16::new(60).unwrap(), Duration::ZERO, sync_channel(1).1),
    )
    .with_combat_time(Duration::from_secs(1));
    let victim = play.join().unwrap();
    // The match has two places, and the seat of the friend is given up at once.
    let friend = play.join().unwrap().player;
    play.tick();
    let seat = play.join().unwrap();
    let hunter = seat.player;
    let hurt = |by| [Event::Hurt { player: victim.player, by, damage: 1 }];
    let seats = &mut play.game.seats;
    seats.note_fights(&hurt(hunter), Tick(10));
    seats.note_fights(&hurt(friend), Tick(20));
    // The friend has left, so only the hunter's hit counts, for a second.
    assert_eq!(victim.fight_left(Tick(20)), 50);
    seats.note_fights(&[], Tick(70));
    assert_eq!(victim.fight_left(Tick(70)), 0);
}

#[test]
fn a_flood_is_bounded_and_keeps_its_seat() {
    let mut play = VirtualMatch::new();
    let seat = play.join().unwrap();
    let batch = datagram(seat.tick.after(1), Command::default());
    let sent =
        (0..1000).filter(|_| seat.send(batch.clone(), Time::ZERO, any_view()) != Err(Surplus));
    let sent = sent.count();
    assert!(sent < 100, "{sent} batches were queued");
    assert_eq!(players(&play.tick()), 1);
    assert_eq!(seat.send(batch, play.now(), any_view()), Ok(()));
}

#[test]
fn a_match_goes_on_in_another_world_and_so_do_ticks_and_counts() {
    let (joins, requests) = sync_channel(8);
    let (worlds, next_worlds) = sync_channel(1);
    let (over, dropped) = sync_channel(1);
    let (maker, first) = test_level(0);
    let rewind = Duration::from_millis(200);
    let contact_subscription = Arc::default();
    let (game, latest) =
        Match::new(first, rewind, requests, (next_worlds, over), contact_subscription);
    let mut play = VirtualMatch { game, latest, joins, now: Duration::ZERO };
    let seat = play.join().unwrap();
    let before = (0..9).map(|_| play.tick()).last().unwrap();
    assert_eq!((before.state.tick, before.level.number, players(&before)), (10, 0, 1));

    let again = maker.make("arena.map", 1).unwrap();
    let next = NextWorld { simulation: again.simulation, level: again.level, recorder: None };
    worlds.try_send(next).unwrap_or_else(|_| panic!("the channel has room"));
    let after = play.tick();
    assert_eq!((after.state.tick, after.level.number, players(&after)), (11, 1, 0));
    assert!(after.counters.impact_queries >= before.counters.impact_queries);
    assert_eq!(after.commands.neutral, before.commands.neutral);
    assert_eq!(dropped.try_iter().count(), 1);
    // A seat of the old world steers nobody in the new one.
    let batch = datagram(Tick(13), Command { forward: 127, ..Command::default() });
    assert_eq!(seat.send(batch, play.now(), any_view()), Ok(()));
    let seat = play.join().unwrap();
    assert_eq!((seat.level.number, seat.tick), (1, Tick(11)));
    // The round is over: nobody moves.
    seat.level.frozen.store(true, Ordering::Relaxed);
    for tick in 13..60 {
        let command = Command { forward: 127, yaw: 99, ..Command::default() };
        seat.send(datagram(Tick(tick), command), play.now(), any_view()).unwrap();
        play.tick();
    }
    let own = play.tick().state.entities.iter().find(|entity| entity.id == seat.player).cloned();
    let velocity = own.unwrap().velocity;
    assert!(velocity.truncate().length() < 1.0, "{velocity}");
}

#[test]
fn counts_of_players_who_left_stay() {
    let mut play = VirtualMatch::new();
    let seat = play.join().unwrap();
    let neutral = play.tick().commands.neutral;
    assert!(neutral > 0);
    drop(seat);
    assert_eq!(play.tick().commands.neutral, neutral);
}
