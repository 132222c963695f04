//! Chat lines go through the game, and the agents that a game names are listed with the players.

use std::net::SocketAddr;
use std::sync::Arc;

use obsp_client::quic::{ClientEvent, Connector, Trust};
use obsp_game::{Audience, Game, Vitals, WorldMut};
use obsp_proto::control::{ChatLine, MapHash, MatchEvent, PlayerName};
use obsp_sim::{Command, EntityId, PlayerKind};
use server::recording::{Playback, Recording};
use server::{Options, Server};
use tokio::time::timeout;

use super::{HANG, map};

/// A game with a guard, an agent whose score counts the lines, and with teams whose lines reach
/// only their own players.
#[derive(Clone, Debug)]
struct Talk;

/// A player's team, which is the first word of the player's name: `red 1` is red.
fn team<'a>(world: &'a WorldMut<'_>, player: EntityId) -> Option<&'a str> {
    world.player(player)?.name.split(' ').next()
}

impl Game for Talk {
    /// The agent, and the lines that players said.
    type State = (Option<EntityId>, Vec<String>);

    fn set_up(&self, world: &mut WorldMut<'_>) -> Self::State {
        let agent = world.spawn_agent(PlayerKind::Box).ok();
        agent.into_iter().for_each(|agent| world.name_agent(agent, "Guard").unwrap());
        (agent, Vec::new())
    }

    fn said(
        &self,
        (_, told): &mut Self::State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        line: &mut String,
    ) -> Audience {
        told.push(line.clone());
        let Some(to_team) = line.strip_prefix('@') else { return Audience::Everyone };
        *line = format!("(team) {to_team}");
        let own = team(world, player).map(str::to_owned);
        let of_team = |id: &EntityId| team(world, *id) == own.as_deref();
        Audience::Players(world.players().into_iter().filter(of_team).collect())
    }

    fn vitals(&self, (agent, told): &Self::State, player: EntityId) -> Option<Vitals> {
        let score = if *agent == Some(player) { told.len() as i16 } else { 0 };
        Some(Vitals { health: 7, score })
    }
}

/// The red players hear the line of their team, and the blue player does not. Everybody sees the
/// agent in the list, with a score. The recording of the match replays with equal digests.
#[tokio::test]
async fn lines_of_a_team_stay_in_the_team_and_agents_are_listed() {
    let folder = std::env::temp_dir().join(format!("talk-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let recorded = folder.join("talk.obsr");
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let options = Options { record: Some(recorded.clone()), ..Options::new("arena.obsp") };
    let server = Server::builder().options(options).map(map("sumo.map")).game(Talk);
    let server = server.listen(any_port).http(any_port).max_players(3).bind().await.unwrap();
    let connector = Connector::new(server.local_addr(), Trust::Loopback).unwrap();
    let join = async |name: &str| {
        connector.join(&PlayerName::new(name).unwrap(), MapHash::ANY).await.unwrap()
    };
    // The agent takes none of the three places.
    let [mut one, mut two, mut blue] =
        [join("red 1").await, join("red 2").await, join("blue 1").await];
    let mut heard = [(); 3].map(|()| Vec::<String>::new());
    let (mut scored, mut said) = ([false; 3], 0);
    let talk = async {
        let ended = |lines: &Vec<String>| lines.last().is_some_and(|line| line == "end");
        while !heard.iter().all(ended) || scored != [true; 3] {
            for (at, client) in [&mut one, &mut two, &mut blue].into_iter().enumerate() {
                if let ClientEvent::CommandDue = client.next().await.unwrap() {
                    client.command(Command::default());
                }
                while let Some((_, event)) = client.next_event() {
                    if let MatchEvent::Said { line, .. } = event {
                        heard[at].push(line.as_str().to_owned());
                    }
                }
                let guard =
                    client.view().roster().players().find(|player| player.name.as_str() == "Guard");
                scored[at] |= guard.and_then(|guard| guard.vitals).is_some_and(|it| it.score == 3);
                // The lines wait until the three players and the agent are listed.
                if at == 0 && said < 3 && client.view().roster().players().count() == 4 {
                    client.say(ChatLine::new(["@now", "hello", "end"][said]).unwrap());
                    said += 1;
                }
            }
        }
    };
    timeout(HANG, talk).await.expect("the lines and the agent's score arrive");
    let to_team = ["(team) now", "hello", "end"].map(str::to_owned);
    assert_eq!(heard, [to_team.to_vec(), to_team.to_vec(), to_team[1..].to_vec()]);
    drop((one, two, blue));
    server.handle().shutdown();
    tokio::task::spawn_blocking(|| server.join()).await.unwrap().unwrap();

    let recording = Recording::open(&recorded).unwrap();
    let source = obsp::Source::read(map("sumo.map").as_ref()).unwrap();
    let compiled =
        obsp::compile(&source, &Default::default(), &Default::default(), &mut |_, _, _| ());
    let mut playback = Playback::new(&recording, Arc::new(compiled.unwrap().map), &Talk).unwrap();
    let mut lines = 0;
    for tick in recording.ticks_after(0).unwrap() {
        let tick = tick.unwrap();
        lines += tick.said.len();
        playback.step(&tick);
    }
    assert_eq!((playback.difference(), lines), (None, 3));
    std::fs::remove_dir_all(&folder).unwrap();
}
