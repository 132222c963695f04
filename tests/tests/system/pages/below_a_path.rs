//! Tests the page below a path of a reverse proxy, by following each reference of the page.

use std::collections::BTreeSet;

use server::{Options, PageOptions, Server};
use tests::harness::pages::get;
use tests::harness::prefix_proxy::{PREFIX, PrefixProxy};
use url::Url;

use crate::pages::{end, options};

/// The text before each reference in HTML and in scripts.
const MARKS: [&str; 6] = ["href=\"", "src=\"", " from \"", "import \"", "new URL(\"", "new URL(`"];

/// The addresses that a text refers to.
fn references(text: &str, base: &Url) -> Vec<Url> {
    let mut found = Vec::new();
    for mark in MARKS {
        for (at, _) in text.match_indices(mark) {
            let rest = &text[at + mark.len()..];
            let end = rest.find(['"', '`']).unwrap_or(rest.len());
            // The page's script puts the name of the simulation into its address.
            let reference = rest[..end].replace("${name}", "replay");
            if reference.starts_with("data:") || reference.contains(['$', ' ', '\n']) {
                continue;
            }
            // In a joined script, an address may begin at the address of one of its parts.
            let part = rest.get(end + 1..).and_then(|rest| rest.strip_prefix(", new URL(\""));
            let part = part.and_then(|rest| base.join(rest.split('"').next()?).ok());
            found.extend(part.as_ref().unwrap_or(base).join(&reference));
        }
    }
    found
}

/// Case: below a path, the page asked for everything at the root and stayed empty.
#[tokio::test]
async fn every_reference_of_the_page_leads_below_its_path() {
    let running =
        Server::start(&Options { pages: PageOptions::at(crate::pages::ANY_PORT), ..options() })
            .unwrap();
    let proxy = PrefixProxy::start(running.http_addr()).await;
    let root = Url::parse(&format!("http://{}{PREFIX}/", proxy.address)).unwrap();
    let (mut waiting, mut seen) = (vec![root.clone()], BTreeSet::new());
    while let Some(address) = waiting.pop() {
        if !seen.insert(address.path().to_owned()) {
            continue;
        }
        let answer = get(proxy.address, address.path()).await;
        assert_eq!(answer.status, 200, "{address}");
        let kind = answer.header("content-type").unwrap_or_default();
        if kind.starts_with("text/html") || kind.starts_with("text/javascript") {
            waiting.extend(references(&answer.body, &address));
        }
    }
    assert_eq!(proxy.misses(), [] as [&str; 0]);
    // Scripts, styles and the simulation were all found.
    for ending in ["main.js", "worker.js", "page.css", "replay.wasm"] {
        assert!(seen.iter().any(|path| path.ends_with(ending)), "{ending}: {seen:?}");
    }
    // The addresses that scripts request are below the same root.
    for path in ["info", "scene", "effects/0", "replays", "figures"] {
        let address = root.join(path).unwrap();
        assert_eq!(get(proxy.address, address.path()).await.status, 200, "{address}");
    }
    end(running).await;
}
