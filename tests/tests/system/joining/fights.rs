//! A player who leaves in a fight does not escape: the body stays until the fight is over, and can
//! be killed.

use std::time::{Duration, Instant};

use obsp_client::Credentials;
use obsp_client::quic::{Client, ClientEvent};
use obsp_game::{Event, Game, Vitals, WorldMut};
use obsp_proto::control::{ClientHello, ClientMessage, MapHash, MatchEvent, encode_client_message};
use obsp_sim::{Buttons, Command, EntityId};
use serde::{Deserialize, Serialize};
use server::{JoiningOptions, MatchBuilder, Options, Server};
use tests::harness::own_map;
use tests::harness::pages::{get, metric};
use tokio::time::timeout;

use crate::joining::{File, HANG, connector, end, join, name, options};

/// The counter of connections whose client closed the control stream.
const UNREAD: &str = "game_disconnects_total{reason=\"unread\"}";

/// A game in which each press of the primary button hurts everybody else by 60, wherever they are.
#[derive(Clone, Debug)]
struct Duel;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Duellist {
    id: EntityId,
    health: u16,
    score: i16,
    pressed: bool,
}

impl Game for Duel {
    type State = Vec<Duellist>;

    fn set_up(&self, _: &mut WorldMut<'_>) -> Self::State {
        Vec::new()
    }

    fn joined(&self, state: &mut Self::State, _: &mut WorldMut<'_>, id: EntityId) {
        state.push(Duellist { id, health: 100, score: 0, pressed: false });
    }

    fn left(&self, state: &mut Self::State, _: &mut WorldMut<'_>, player: EntityId) {
        state.retain(|duellist| duellist.id != player);
    }

    fn moved(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        command: &Command,
    ) {
        let is_pressed = command.buttons.contains(Buttons::PRIMARY);
        let Some(own) = state.iter_mut().find(|duellist| duellist.id == player) else { return };
        if !is_pressed || std::mem::replace(&mut own.pressed, is_pressed) {
            own.pressed = is_pressed;
            return;
        }
        let mut kills = 0;
        for other in state.iter_mut().filter(|duellist| duellist.id != player) {
            let damage = 60.min(other.health);
            other.health -= damage;
            world.emit(Event::Hurt { player: other.id, by: player, damage });
            if other.health == 0 {
                other.health = 100;
                kills += 1;
                world.emit(Event::Died { player: other.id, by: player, means: "duel" });
            }
        }
        let own = state.iter_mut().find(|duellist| duellist.id == player);
        own.into_iter().for_each(|own| own.score += kills);
    }

    fn vitals(&self, state: &Self::State, player: EntityId) -> Option<Vitals> {
        let duellist = state.iter().find(|duellist| duellist.id == player)?;
        Some(Vitals { health: duellist.health, score: duellist.score })
    }
}

async fn serve(joining: JoiningOptions) -> Server {
    let options = Options { joining, ..options(3) };
    Server::builder().game(Duel).options(options).bind().await.unwrap()
}

/// Plays with these buttons until an event is the awaited one.
async fn play_until<T>(
    client: &mut Client,
    buttons: Buttons,
    mut awaited: impl FnMut(&MatchEvent) -> Option<T>,
) -> T {
    let playing = async {
        loop {
            if let ClientEvent::CommandDue = client.next().await.unwrap() {
                client.command(Command { buttons, ..Command::default() });
            }
            while let Some((_, event)) = client.next_event() {
                if let Some(found) = awaited(&event) {
                    return found;
                }
            }
        }
    };
    timeout(HANG, playing).await.expect("the awaited event comes in time")
}

/// Hits everybody else once, and waits until `victim` has this health.
async fn hit(hunter: &mut Client, victim: EntityId, health: u16) {
    let hurt = |event: &MatchEvent| match event {
        MatchEvent::Vitals { player, vitals } if *player == victim && vitals.health == health => {
            Some(())
        }
        _ => None,
    };
    play_until(hunter, Buttons::PRIMARY, hurt).await;
    // The hunter releases the button.
    let until = Instant::now() + Duration::from_millis(200);
    while Instant::now() < until {
        if let ClientEvent::CommandDue = hunter.next().await.unwrap() {
            hunter.command(Command::default());
        }
    }
}

/// Waits until the body of `victim` is gone. Returns the killer, if any, and how long the body
/// stayed.
async fn gone(
    hunter: &mut Client,
    victim: EntityId,
    buttons: Buttons,
) -> (Option<EntityId>, Duration) {
    let (begin, mut killer) = (Instant::now(), None);
    play_until(hunter, buttons, |event| {
        if let MatchEvent::Died { player, by, .. } = event
            && *player == victim
        {
            killer = Some(*by);
        }
        matches!(event, MatchEvent::Left { player } if *player == victim).then_some(())
    })
    .await;
    (killer, begin.elapsed())
}

async fn join_both(running: &Server) -> (Client, Client) {
    let hunter = join(running, "hunter", &Credentials::default()).await.unwrap();
    (hunter, join(running, "victim", &Credentials::default()).await.unwrap())
}

/// Symptom: a client that left each time it was hit escaped six times in 35 s, and nobody was
/// credited with a kill.
#[tokio::test]
async fn a_player_who_leaves_when_hit_can_still_be_killed() {
    let running = serve(JoiningOptions::default()).await;
    let (mut hunter, victim) = join_both(&running).await;
    let (own, prey) = (hunter.session().player().unwrap(), victim.session().player().unwrap());
    hit(&mut hunter, prey, 40).await;
    victim.leave().await;
    let (killer, stayed) = gone(&mut hunter, prey, Buttons::PRIMARY).await;
    assert_eq!(killer, Some(own));
    // The body does not stay longer than it must.
    assert!(stayed < Duration::from_secs(5), "{stayed:?}");
    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, "game_left_fighting_total"), 1.0);
    assert_eq!(metric(&page, "game_disconnects_total{reason=\"left\"}"), 1.0);
    drop(hunter);
    end(running).await;
}

#[tokio::test]
async fn a_connection_closed_when_hit_saves_nobody_and_protects_nobody() {
    for rejoin in ["0", "30"] {
        let rejoin = Duration::from_secs(rejoin.parse().unwrap());
        let joining = JoiningOptions { rejoin, rejoin_protect: true, ..JoiningOptions::default() };
        let running = serve(joining).await;
        let (mut hunter, victim) = join_both(&running).await;
        let (own, prey) = (hunter.session().player().unwrap(), victim.session().player().unwrap());
        hit(&mut hunter, prey, 40).await;
        // The client is gone without a goodbye.
        drop(victim);
        let (killer, _) = gone(&mut hunter, prey, Buttons::PRIMARY).await;
        assert_eq!(killer, Some(own), "rejoin {rejoin:?}");
        drop(hunter);
        end(running).await;
    }
}

/// Symptom: players could close the control stream at any time, and were protected within 0.6 s.
#[tokio::test]
async fn a_control_stream_closed_when_hit_protects_nobody() {
    let joining = JoiningOptions { rejoin_protect: true, ..JoiningOptions::default() };
    let running = serve(joining).await;
    let mut hunter = join(&running, "hunter", &Credentials::default()).await.unwrap();
    let own = hunter.session().player().unwrap();
    let connection = connector(&running).connect().await.unwrap();
    let (mut send, mut receive) = connection.open_bi().await.unwrap();
    let hello = ClientHello::new(MapHash::ANY, &name("victim"));
    send.write_all(&encode_client_message(&ClientMessage::Hello(hello))).await.unwrap();
    let prey = play_until(&mut hunter, Buttons::default(), |event| match event {
        MatchEvent::Joined { player, name } if name.as_str() == "victim" => Some(*player),
        _ => None,
    })
    .await;
    hit(&mut hunter, prey, 40).await;
    receive.stop(0_u32.into()).unwrap();
    let begin = Instant::now();
    while metric(&get(running.http_addr(), "/metrics").await.body, UNREAD) < 1.0 {
        assert!(begin.elapsed() < HANG, "the connection does not end");
        // The server notices when it next writes.
        running.handle().say("hello").unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let killed = |event: &MatchEvent| match event {
        MatchEvent::Died { player, by, .. } if *player == prey => Some(*by),
        _ => None,
    };
    assert_eq!(play_until(&mut hunter, Buttons::PRIMARY, killed).await, own);
    drop((hunter, connection));
    end(running).await;
}

#[tokio::test]
async fn the_body_goes_when_the_time_of_the_fight_is_over() {
    let joining =
        JoiningOptions { combat_time: Duration::from_secs(2), ..JoiningOptions::default() };
    let running = serve(joining).await;
    let (mut hunter, victim) = join_both(&running).await;
    let prey = victim.session().player().unwrap();
    hit(&mut hunter, prey, 40).await;
    victim.leave().await;
    let (killer, stayed) = gone(&mut hunter, prey, Buttons::default()).await;
    assert_eq!(killer, None);
    assert!((Duration::from_secs(1)..Duration::from_secs(8)).contains(&stayed), "{stayed:?}");
    drop(hunter);
    end(running).await;
}

#[tokio::test]
async fn without_a_fight_or_without_the_option_nobody_has_to_stay() {
    for (combat_time, hits) in [(10, false), (0, true)] {
        let combat_time = Duration::from_secs(combat_time);
        let running = serve(JoiningOptions { combat_time, ..JoiningOptions::default() }).await;
        let (mut hunter, victim) = join_both(&running).await;
        let prey = victim.session().player().unwrap();
        if hits {
            hit(&mut hunter, prey, 40).await;
        }
        victim.leave().await;
        let (killer, stayed) = gone(&mut hunter, prey, Buttons::default()).await;
        assert!(killer.is_none() && stayed < Duration::from_secs(4), "{stayed:?}");
        let page = get(running.http_addr(), "/metrics").await.body;
        assert_eq!(metric(&page, "game_left_fighting_total"), 0.0);
        drop(hunter);
        end(running).await;
    }
}

/// A player who comes back in time gets the body with its wounds, not a new body.
#[tokio::test]
async fn a_player_back_in_the_fight_is_as_wounded_as_before() {
    let running = serve(JoiningOptions::default()).await;
    let (mut hunter, victim) = join_both(&running).await;
    let (prey, ticket) = (victim.session().player().unwrap(), victim.ticket());
    hit(&mut hunter, prey, 40).await;
    victim.leave().await;
    let by = Credentials { ticket, ..Credentials::default() };
    let back = join(&running, "victim", &by).await.unwrap();
    assert_eq!(back.session().player(), Some(prey));
    drop((hunter, back));
    end(running).await;
}

/// A player in a fight joins another match of the same server, which ends the first connection.
#[tokio::test]
async fn a_player_who_goes_to_another_match_when_hit_can_still_be_killed() {
    let allow = File::new("fight-allow", "127.0.0.1\nplayer:8 mellon99 victim\n");
    let joining =
        JoiningOptions { allow: Some(allow.path().to_owned()), ..JoiningOptions::default() };
    let options = Options { joining, ..options(3) };
    let ring = MatchBuilder::new(own_map("arena.obsp")).game(Duel).max_players(2);
    let server = Server::builder().game(Duel).options(options).add_match("ring", ring);
    let running = server.bind().await.unwrap();
    let mut hunter = join(&running, "hunter", &Credentials::default()).await.unwrap();
    let known = Credentials { token: b"mellon99".to_vec(), ..Credentials::default() };
    let victim = join(&running, "victim", &known).await.unwrap();
    let (own, prey) = (hunter.session().player().unwrap(), victim.session().player().unwrap());
    hit(&mut hunter, prey, 40).await;
    let elsewhere = Credentials { match_name: "ring".parse().ok(), ..known };
    let fled = join(&running, "victim", &elsewhere).await.unwrap();
    let (killer, _) = gone(&mut hunter, prey, Buttons::PRIMARY).await;
    assert_eq!(killer, Some(own));
    drop((hunter, victim, fled));
    end(running).await;
}
