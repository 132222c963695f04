//! Friends over a network: a page that was loaded over HTTPS watches, joins and plays.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use obsp_proto::control::PlayerName;
use obsp_proto::token::{JoinKey, TokenClaims};
use server::{JoiningOptions, Options, PageOptions};

use crate::certificates::Signed;
use crate::chromium::{Chromium, HANG, installed};
use crate::{ANY_PORT, ends, options, serve};

#[test]
fn a_page_that_came_over_https_looks_on_and_plays() {
    let Some(program) = installed() else { return };
    let running = serve(&Options {
        pages: PageOptions { page: Some(ANY_PORT), ..options().pages },
        ..options()
    });
    // The visitor has told the browser to go on in spite of the unknown certificate.
    let go_on = ["--ignore-certificate-errors".to_owned()];
    let mut browser = Chromium::start_with(&program, "friend", (800, 600), &go_on);
    let page = format!("https://{}/", running.page_addr().unwrap());
    browser.open(&page, "");
    browser.wait_for("globalThis.arena?.status.status.state === 'live'");
    assert_eq!(browser.evaluate("isSecureContext && location.protocol === 'https:'"), true);
    // The operators' charts are neither shown nor requested.
    assert_eq!(browser.evaluate("document.querySelector('#charts').checkVisibility()"), false);
    browser.evaluate("document.querySelector('#join').click()");
    browser.wait_for("globalThis.arena?.play?.player.isThere");
    let begin = Instant::now();
    let place = "arena.play.player.own.position";
    let before = browser.evaluate(place);
    browser.hold("KeyW", true);
    while browser.evaluate(place) == before {
        assert!(begin.elapsed() < HANG, "the player does not move");
        browser.evaluate("arena.play.keys.yaw += 0.7");
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    browser.hold("KeyW", false);
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}

#[test]
fn a_page_with_a_certificate_of_an_authority_needs_no_hash() {
    let Some(program) = installed() else { return };
    let signed = Signed::new();
    let (cert, key) = (Some(signed.cert.clone()), Some(signed.key.clone()));
    let running = serve(&Options {
        cert,
        key,
        pages: PageOptions { page: Some(ANY_PORT), ..options().pages },
        ..options()
    });
    let trust = [
        format!("--ignore-certificate-errors-spki-list={}", signed.public_key),
        // With an unknown authority, Chromium must be told that this server uses QUIC.
        format!("--origin-to-force-quic-on=127.0.0.1:{}", running.local_addr().port()),
    ];
    let mut browser = Chromium::start_with(&program, "authority", (800, 600), &trust);
    browser.open(&format!("https://{}/?play=Ann", running.page_addr().unwrap()), "");
    browser.wait_for("globalThis.arena?.play?.player.isThere");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}

/// With `--max-spectators 0` nobody may watch, but pages may play.
#[test]
fn a_page_plays_where_none_may_look_on() {
    let Some(program) = installed() else { return };
    let running = serve(&Options { max_spectators: 0, ..options() });
    let mut browser = Chromium::start(&program, "only-plays", (800, 600));
    browser.open(&format!("http://{}/", running.http_addr()), "");
    browser.wait_for("document.querySelector('#trouble')?.hidden === false");
    browser.evaluate("document.querySelector('#join').click()");
    browser.wait_for("globalThis.arena?.play?.player.isThere");
    assert_eq!(browser.evaluate("document.querySelector('#trouble').hidden"), true);
    ends(running);
}

#[test]
fn a_page_plays_with_a_connect_token_and_looks_on_without() {
    let Some(program) = installed() else { return };
    let key = JoinKey::generate().unwrap();
    let path = std::env::temp_dir().join(format!("page-join-key-{}", std::process::id()));
    std::fs::write(&path, key.to_hex()).unwrap();
    let joining = JoiningOptions { join_key: Some(path.clone()), ..JoiningOptions::default() };
    let running = serve(&Options { joining, ..options() });
    std::fs::remove_file(path).unwrap();
    let name = PlayerName::new("Ann").unwrap();
    let claims = TokenClaims {
        player: 7,
        name,
        reserved: false,
        servers: Vec::new(),
        user_data: Vec::new(),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let token = key.seal(&claims, now + 600).unwrap();
    let token: String = token.iter().map(|byte| format!("{byte:02x}")).collect();

    let mut browser = Chromium::start(&program, "token", (800, 600));
    let page = format!("http://{}/?play=Guest", running.http_addr());
    browser.open(&page, "");
    browser.wait_for("document.querySelector('#welcome .fault')?.textContent.includes('token')");
    browser.wait_for("arena.play === null && arena.watcher.connection?.history");
    browser.open(&format!("{page}&token={token}"), "");
    browser.wait_for("globalThis.arena?.play?.player.isThere");
    // The name in the backend's token replaces the page's.
    browser.wait_for("document.querySelector('#score tbody tr .name')?.textContent === 'Ann'");
    ends(running);
}
