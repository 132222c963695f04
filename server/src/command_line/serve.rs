//! Serves from a command line, until the match is over or a signal asks for its end.

use std::net::Ipv6Addr;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use obsp_game::AnyGame;
use tracing::info;

use crate::common::error::StartError;
use crate::operate::service::signals::{self, Signals};
use crate::server::Server;
use crate::server::options::Options;
use crate::server::reload::Source;

/// Files and sockets that a server needs to start and to answer a few pages: sockets, event loops,
/// standard streams, a recording, and room for what libraries open.
const DESCRIPTORS: usize = 40;

/// Prepares this process for any of its jobs: checks the limit of open files, and keeps a limit of
/// file sizes from killing it.
///
/// # Errors
/// The system allows too few open files, or signals cannot be handled.
pub fn prepare() -> Result<()> {
    let granted = obsp::descriptors::granted(DESCRIPTORS);
    if granted < DESCRIPTORS {
        bail!(StartError::Descriptors { granted, needed: DESCRIPTORS });
    }
    signals::survive_file_size_limit().map_err(|error| anyhow!("cannot handle signals: {error}"))
}

/// Serves until the match is over, or until a signal asks for its end and the players have
/// finished. After the signal, Ctrl-C ends the wait for the players, and a second Ctrl-C ends the
/// goodbyes to them. Other signals then change nothing, because service managers send them again.
/// On SIGHUP, the files that the options name are read again.
///
/// # Errors
/// The server could not start, or ended because something failed.
pub fn serve(options: Options, game: impl AnyGame + 'static) -> Result<()> {
    serve_reloading(options, game, None)
}

/// Serves as [`serve`] does. On SIGHUP, `source` reads the options again, too.
pub(crate) fn serve_reloading(
    options: Options,
    game: impl AnyGame + 'static,
    source: Option<Source>,
) -> Result<()> {
    let game = Arc::new(game);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        // The signals are taken over before anything reports that the match runs, because a
        // supervisor may ask for the end as soon as it reads the report.
        let signals = Signals::new()?;
        let starting = tokio::task::spawn_blocking(move || {
            let running = Server::start_game(&options, game)?;
            if let Some(source) = source {
                running.reloads().follow(source);
            }
            introduce(&running, &options);
            anyhow::Ok(running)
        });
        let (mut ends, mut hang_ups) = signals.split();
        let running = tokio::select! {
            started = starting => started??,
            asked = ends.next() => {
                info!(signal = asked.signal, "asked to end before the match began");
                return Ok(());
            }
        };
        let reload = running.reloads();
        // A reload waits for the disk, so it runs in a task of its own and signals are still heard.
        // The task ends with the match.
        let reloading = async move {
            loop {
                hang_ups.next().await;
                let reload = Arc::clone(&reload);
                let _ = tokio::task::spawn_blocking(move || reload.run("SIGHUP")).await;
            }
        };
        let reloading = tokio::task::spawn(reloading);
        tokio::select! {
            asked = ends.next() => {
                info!(signal = asked.signal, "shutting down");
                if asked.may_wait {
                    running.drain();
                    tokio::select! {
                        // If the server is ending already, a signal does not count.
                        biased;
                        () = running.ending() => {}
                        _ = ends.interrupted() => info!("interrupted: players are not waited for"),
                    }
                }
            }
            () = running.ending() => info!("shutting down"),
        }
        running.shutdown();
        reloading.abort();
        tokio::select! {
            ended = tokio::task::spawn_blocking(|| running.join()) => Ok(ended??),
            signal = ends.interrupted() => bail!("ended at once by another signal, {signal}"),
        }
    });
    // A start or end that is still under way ends with the process.
    runtime.shutdown_background();
    ended
}

/// Logs the map, the matches and the addresses of the server.
fn introduce(running: &Server, options: &Options) {
    info!("map {}, hash {}", running.map_name(), running.map_hash());
    info!(
        "{} Hz, {} bodies, up to {} players, seed {}",
        options.tick_rate,
        running.props(),
        options.max_players,
        options.seed
    );
    for other in &options.matches {
        let handle = running.match_handle(other.name.as_str());
        if let Some(latest) = handle.map(|handle| handle.latest()) {
            info!("match {}: map {}", other.name, latest.map());
        }
    }
    for address in running.local_addrs() {
        let families =
            if address.ip() == Ipv6Addr::UNSPECIFIED { ", of IPv4 and IPv6" } else { "" };
        info!("players join on UDP {address}{families}");
    }
    if let Some(address) = &options.advertise {
        info!("advertised to players as {address}");
    }
    if let Some(address) = running.admin_addr() {
        info!("admin interface on http://{address}/");
    }
    for address in running.query_addrs() {
        info!("server queries on UDP {address}");
    }
    info!("certificate SHA-256 {}", running.certificate_sha256());
    if let Some(address) = running.page_addr() {
        if address.ip().is_unspecified() {
            let port = address.port();
            info!(
                "everybody may open the page on https://ADDRESS:{port}/, where ADDRESS is any address of this machine"
            );
        } else {
            info!("everybody may open the page on https://{address}/");
        }
    }
    info!("page on http://{0}/, metrics on http://{0}/metrics", running.http_addr());
}
