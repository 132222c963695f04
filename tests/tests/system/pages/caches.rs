//! An ordinary page requests each of its files once.

use server::Server;
use tests::harness::pages::{get, get_with};

use crate::pages::{end, options};

/// The name below which the page requests its files.
pub(crate) fn edition(page: &str) -> String {
    let found = page.split_once("src=\"web/").unwrap().1;
    found.split_once('/').unwrap().0.to_owned()
}

#[tokio::test]
async fn a_page_is_sent_nothing_twice() {
    let running = Server::start(&options()).unwrap();
    let (address, map) = (running.http_addr(), running.map_hash().to_string());
    let edition = edition(&get(address, "/").await.body);
    let (script, file) = (format!("/web/{edition}/main.js"), format!("/maps/{map}"));
    for (path, is_for_ever) in [
        ("/", false),
        ("/web/main.js", false),
        ("/scene", false),
        (&format!("/scene/{map}")[..], false),
        (&script[..], true),
        (&format!("/web/{edition}/wasm/play.wasm")[..], true),
        (&file[..], true),
        // A page that is open while the server is replaced requests files of its own edition.
        ("/web/0123456789abcdef/main.js", false),
    ] {
        let whole = get(address, path).await;
        assert_eq!(whole.status, 200, "{path}");
        let kept = whole.header("cache-control").unwrap_or_default();
        assert_eq!(kept.contains("immutable"), is_for_ever, "{path}: {kept}");
        let tag = whole.header("etag").unwrap_or_else(|| panic!("{path}: {}", whole.head));
        // The harness reads heads in lower case, but the server compares the tag as it sent it.
        let tag = tag.replacen("w/", "W/", 1);
        let again = get_with(address, path, &format!("If-None-Match: {tag}\r\n")).await;
        assert_eq!((again.status, again.bytes.len()), (304, 0), "{path}");
        let packed = get_with(address, path, "Accept-Encoding: gzip\r\n").await;
        assert_eq!(packed.header("content-encoding"), Some("gzip"), "{path}");
        assert!(packed.bytes.len() <= whole.bytes.len(), "{path}");
    }
    let packed = get_with(address, &file, "Accept-Encoding: gzip\r\n").await.bytes.len();
    let whole = get(address, &file).await.bytes.len();
    assert!(packed < whole / 3, "the map: {packed} of {whole} bytes");
    end(running).await;
}
