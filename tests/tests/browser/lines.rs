//! Pages that play over a bad line. The page tells the player that the line is bad, and joins again
//! after a lost connection.

use std::time::Duration;

use obsp_proto::IDLE_TIMEOUT;
use server::{JoiningOptions, Options, Server};
use tests::badline::{Conditions, Line, Proxy, Setup};
use tests::harness::pages::{get, metric};

use crate::chromium::{Chromium, installed};
use crate::{ANY_PORT, ends, options, page_of, serve};

/// A page that plays over a proxy of its own.
fn plays_over(name: &str, line: Line, running: &Server) -> Option<(Proxy, Chromium)> {
    let program = installed()?;
    let setup =
        Setup { listen: ANY_PORT, to: running.local_addr(), line, seed: 7, rebinds: Vec::new() };
    let proxy = Proxy::start(setup).unwrap();
    let mut browser = Chromium::start(&program, name, (400, 300));
    let page = format!("{}?play=Ann&port={}", page_of(running), proxy.address().port());
    browser.open(&page, "");
    browser.wait_for("globalThis.arena?.play?.player.isThere");
    Some((proxy, browser))
}

#[test]
fn a_line_that_is_lost_is_replaced_and_the_player_is_the_same() {
    // This is longer than a busy machine needs to notice the loss and to connect again.
    let rejoin = Duration::from_secs(120);
    let joining = JoiningOptions { rejoin, ..JoiningOptions::default() };
    let running = serve(&Options { joining, ..options() });
    let Some((proxy, mut browser)) = plays_over("lost", Line::default(), &running) else { return };
    let slot = browser.evaluate("arena.play.slot");
    // Keys must be used, or the idle page gives its place back.
    browser.evaluate("setInterval(() => arena.play.keys.used(), 1000); 0");
    proxy.blackout(IDLE_TIMEOUT + Duration::from_secs(4));
    browser.wait_for(
        "document.querySelector('#play .line').textContent.startsWith('No word from the server')",
    );
    browser.wait_for("arena.play?.player.isJoined === false");
    browser.wait_for("arena.play?.player.isThere");
    assert_eq!(browser.evaluate("arena.play.slot"), slot);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let page = runtime.block_on(get(running.http_addr(), "/metrics")).body;
    let told: Vec<&str> = page.lines().filter(|line| !line.ends_with(" 0")).collect();
    assert!(metric(&page, "game_rejoins_total") >= 1.0, "{told:#?}");
    ends(running);
}

#[test]
fn a_bad_line_is_said_in_a_plain_word() {
    let running = serve(&options());
    let lossy = Line::both(Conditions { loss: 0.15, ..Conditions::default() });
    let Some((_proxy, mut browser)) = plays_over("lossy", lossy, &running) else { return };
    browser.wait_for("arena.play.player.line.mean('loss') > 0.05");
    // On a machine that runs other tests, the page may say instead that it stands still. So the
    // test computes the message from the same measurements, as if the page had never stood still.
    browser.evaluate(
        "globalThis.word = () => {
            const line = arena.play.player.line;
            const samples = line.samples.map((one) => ({ ...one, busy: 0 }));
            return Object.assign(Object.create(Object.getPrototypeOf(line)), line, { samples })
                .word(performance.now());
        }; 0",
    );
    browser.wait_for("/^Bad line: \\d+ %/.test(word())");
    browser.wait_for(
        "document.querySelector('#play .line').textContent
            === arena.play.player.line.word(performance.now())",
    );
    ends(running);
}
