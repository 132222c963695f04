//! The module of a game of its own, with which the page replays the game.

use std::path::Path;

use server::Server;
use tests::harness::pages::{get, get_with};

use crate::pages::caches::edition;
use crate::pages::{end, options};

const WASM: &str = "wasm/replay.wasm";

#[tokio::test]
async fn a_module_of_its_own_is_served_in_place_of_the_arenas_and_below_another_name() {
    // Here the module for players stands in for the module of another game.
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/web/wasm/play.wasm.br");
    let own = std::fs::read(&file).unwrap();
    let usual = Server::start(&options()).unwrap();
    let name = edition(&get(usual.http_addr(), "/").await.body);
    let brotli = "Accept-Encoding: br\r\n";
    let shipped = get_with(usual.http_addr(), &format!("/web/{name}/{WASM}"), brotli).await;
    assert_ne!(shipped.bytes, own);
    end(usual).await;

    let running = Server::builder().options(options()).replay_module(&file).bind().await.unwrap();
    let address = running.http_addr();
    let other = edition(&get(address, "/").await.body);
    assert_ne!(other, name, "a browser would use its copy of another server's module");
    for (edition, is_for_ever) in [(&other, true), (&name, false)] {
        let answer = get_with(address, &format!("/web/{edition}/{WASM}"), brotli).await;
        assert_eq!(answer.bytes, own);
        assert_eq!(answer.header("content-encoding"), Some("br"));
        assert_eq!(answer.header("content-type"), Some("application/wasm"));
        let kept = answer.header("cache-control").unwrap_or_default();
        assert_eq!(kept.contains("immutable"), is_for_ever, "{kept}");
    }
    // Visitors without Brotli get the same module uncompressed.
    let plain = get(address, &format!("/web/{other}/{WASM}")).await;
    assert!(plain.bytes.starts_with(b"\0asm") && plain.bytes.len() > own.len());
    end(running).await;
}
