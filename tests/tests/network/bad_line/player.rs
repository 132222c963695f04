use std::net::SocketAddr;
use std::time::{Duration, Instant};

use glam::Vec3;
use obsp_client::Disconnected;
use obsp_client::quic::{Client, ClientEvent, Connector, Trust};
use obsp_proto::control::{MapHash, PlayerName};
use obsp_sim::Command;
use tokio::time::timeout_at;

/// Turn of the player with each command. At 60 Hz it makes a circle of about 300 units in three
/// seconds, so that no wall stops the player for long.
const TURN: u16 = 364;

/// The observations of a player who ran in circles.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The times of snapshots.
    pub(crate) snapshots: Vec<Instant>,
    /// The player's positions in the server's answers, each with its time of arrival.
    pub(crate) places: Vec<(Instant, Vec3)>,
    /// Digests that did not agree with the server's.
    pub(crate) mismatches: u64,
    /// The reason why the player is no longer in the match.
    pub(crate) lost: Option<Disconnected>,
}

/// Joins as a player who has the map.
pub(crate) async fn join(server: SocketAddr, name: &str) -> Client {
    let connector = Connector::new(server, Trust::Loopback).unwrap();
    connector.join(&PlayerName::new(name).unwrap(), MapHash::ANY).await.unwrap()
}

/// Runs in circles until `end`, or until the client is lost.
pub(crate) async fn run_in_circles(mut client: Client, end: Instant) -> Seen {
    let (mut seen, mut yaw) = (Seen::default(), 0_u16);
    while let Ok(next) = timeout_at(end.into(), client.next()).await {
        match next {
            Ok(ClientEvent::CommandDue) => {
                yaw = yaw.wrapping_add(TURN);
                client.command(Command { forward: 127, yaw, ..Command::default() });
            }
            Ok(ClientEvent::Snapshot { snapshot, .. }) => {
                let now = Instant::now();
                seen.snapshots.push(now);
                seen.places.extend(snapshot.own_motion.map(|answer| (now, answer.motion.position)));
            }
            Ok(ClientEvent::NewWorld) => unreachable!("the match has one world"),
            Err(lost) => {
                seen.lost = Some(lost);
                break;
            }
        }
    }
    seen.mismatches = client.session().stats().digest_mismatches;
    if seen.lost.is_none() {
        client.leave().await;
    }
    seen
}

impl Seen {
    /// The longest time without a snapshot, until `end`.
    pub(crate) fn longest_gap(&self, end: Instant) -> Duration {
        let nexts = self.snapshots.iter().skip(1).chain([&end]);
        let gaps = self.snapshots.iter().zip(nexts).map(|(&last, &next)| next - last);
        gaps.max().unwrap_or_default()
    }

    /// Maximum distance along the ground between the player's first position in this time and a
    /// later one, by the server's answers. The distance is 0 if the server does not use the
    /// player's commands.
    pub(crate) fn way(&self, from: Instant, until: Instant) -> f32 {
        let within = |&&(at, _): &&(Instant, Vec3)| at >= from && at < until;
        let mut places = self.places.iter().filter(within).map(|(_, place)| place.truncate());
        let Some(first) = places.next() else { return 0.0 };
        places.map(|place| place.distance(first)).fold(0.0, f32::max)
    }
}
