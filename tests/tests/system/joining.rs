//! Joining, rejoining and staying: connect tokens, tickets, idle players, the admin interface with
//! its client, and server browsers, which ask without joining.

mod administrators;
mod browsers;
mod fights;
mod greeting;
mod idle;
mod mutes;
mod passwords;
mod tickets;
mod tokens;
mod webhook;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use obsp_client::quic::{Client, ClientEvent, Connector, JoinError, Trust};
use obsp_client::{Credentials, Disconnected};
use obsp_proto::control::{MapHash, MatchEvent, PlayerName, RefusalReason};
use obsp_sim::Command;
use server::{Options, PageOptions, Server};
use tests::harness::own_map;
use tokio::time::timeout;

/// Far longer than anything here takes: only a hang lasts as long.
const HANG: Duration = Duration::from_secs(30);

fn options(max_players: u16) -> Options {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let map = own_map("arena.obsp");
    Options {
        listen: vec![any_port],
        pages: PageOptions::at(any_port),
        max_players,
        ..Options::new(map.to_string_lossy())
    }
}

fn name(text: &str) -> PlayerName {
    PlayerName::new(text).unwrap()
}

fn connector(running: &Server) -> Connector {
    Connector::new(running.local_addr(), Trust::Loopback).unwrap()
}

async fn join(running: &Server, text: &str, by: &Credentials) -> Result<Client, JoinError> {
    timeout(HANG, connector(running).join_with(&name(text), MapHash::ANY, by)).await.unwrap()
}

async fn end(running: Server) {
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}

/// A file that is removed when this value is dropped.
struct File(PathBuf);

impl File {
    fn new(test: &str, content: &str) -> Self {
        let path = std::env::temp_dir().join(format!("{test}-{}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Plays with this forward motion until `done` returns a value.
async fn play<T>(
    client: &mut Client,
    forward: i8,
    mut done: impl FnMut(&mut Client, Option<MatchEvent>) -> Option<T>,
) -> Result<T, Disconnected> {
    let playing = async {
        loop {
            if let ClientEvent::CommandDue = client.next().await? {
                client.command(Command { forward, ..Command::default() });
            }
            while let Some((_, event)) = client.next_event() {
                if let Some(found) = done(client, Some(event)) {
                    return Ok(found);
                }
            }
            if let Some(found) = done(client, None) {
                return Ok(found);
            }
        }
    };
    timeout(HANG, playing).await.expect("the awaited event comes in time")
}

/// Plays until the server ends the connection, and returns the reason.
async fn lost(client: &mut Client, forward: i8) -> Disconnected {
    play(client, forward, |_, _| None::<()>).await.unwrap_err()
}

fn refusal(joined: Result<Client, JoinError>) -> RefusalReason {
    match joined {
        Err(JoinError::Refused(reason)) => reason,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the client was let in instead of refused"),
    }
}
