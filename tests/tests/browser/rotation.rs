//! The page follows a match into another map.

use server::{AdminAction, AdminCommand, AdminOptions, Options, PageOptions, RoundOptions, admin};
use tests::harness::own_map;

use crate::chromium::{Chromium, installed};
use crate::walkers::Walkers;
use crate::{ANY_PORT, OBJECTS, PLAYERS, agree, colours, ends, page_of, serve, shows_all};

#[test]
fn the_page_follows_the_match_into_another_map_on_the_same_connection() {
    let Some(program) = installed() else { return };
    let tokens = std::env::temp_dir().join(format!("page-tokens-{}", std::process::id()));
    std::fs::write(&tokens, "ops 0123456789abcdef01234567\n").unwrap();
    let maps = ["arena.obsp", "warren.obsp"].map(|map| own_map(map).to_string_lossy().into_owned());
    let running = serve(&Options {
        listen: vec![ANY_PORT],
        pages: PageOptions::at(ANY_PORT),
        objects: OBJECTS,
        // Rounds last longer than the test: the administrator changes the map.
        rounds: RoundOptions { maps: maps.into(), ..RoundOptions::default() },
        admin: AdminOptions { admin: Some(ANY_PORT), admin_tokens: Some(tokens.clone()) },
        ..Options::new(String::new())
    });
    let walkers = Walkers::join(running.local_addr(), PLAYERS);
    let mut browser = Chromium::start(&program, "rotation", (800, 600));
    browser.open(&page_of(&running), "");
    for (world, map) in ["arena", "warren", "arena"].into_iter().enumerate() {
        if world > 0 {
            let action = AdminAction::Map { map: map.to_owned() };
            let (address, admin_tokens) = (running.admin_addr().unwrap(), tokens.clone());
            admin(&AdminCommand { admin: address.into(), admin_tokens, match_name: None, action })
                .unwrap();
        }
        browser.wait_for(&format!("document.querySelector('h1')?.textContent === '{map}'"));
        browser.wait_for("globalThis.arena?.status.status.state === 'live'");
        browser.evaluate("globalThis.first ??= arena.watcher.connection; 0");
        // All players have followed. The page shows all entities and names, with the same values
        // as a native client.
        shows_all(&mut browser, &running, PLAYERS);
        agree(&mut browser, &walkers);
        assert!(colours(&mut browser) > 100, "{map} is not drawn");
        let digests = browser.evaluate("arena.watcher.connection.history.digests");
        browser.wait_for(&format!("arena.watcher.connection.history.digests > {digests} + 1"));
        assert_eq!(browser.evaluate("arena.watcher.connection.history.mismatches.length"), 0);
    }
    // The page got a hello for each world, all on the first connection.
    assert_eq!(browser.evaluate("arena.watcher.joins"), 3);
    assert_eq!(browser.evaluate("arena.watcher.connection === first"), true);
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    walkers.leave();
    ends(running);
    std::fs::remove_file(tokens).unwrap();
}
