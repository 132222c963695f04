//! The headers that every answer has.

use server::Server;
use tests::harness::pages::{Answer, get, get_encrypted};

use crate::pages::{end, example, options};

fn is_guarded(path: &str, answer: &Answer) {
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}: {}", answer.head);
    assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}: {}", answer.head);
}

/// Case: JSON came without nosniff, and nothing had a Referrer-Policy, though the address of a page
/// may hold a connect token.
#[tokio::test]
async fn every_answer_of_every_route_forbids_guesses_and_referrers() {
    let running = Server::start(&options()).unwrap();
    let (page, pin) = (running.page_addr().unwrap(), running.certificate_sha256().0);
    let map = running.map_hash().to_string();
    let mut paths: Vec<_> =
        server::public_routes().into_iter().map(|(route, _)| example(route, &map)).collect();
    // Answers that are errors have the headers, too.
    paths.extend(["/no/such/page", "/onion/high", "/info?match=nowhere"].map(str::to_owned));
    for path in &paths {
        is_guarded(path, &get_encrypted(page, pin, path).await);
    }
    paths.extend(server::operators_routes().into_iter().map(str::to_owned));
    for path in &paths {
        is_guarded(path, &get(running.http_addr(), path).await);
    }
    // The redirect of a visitor who came without TLS.
    is_guarded("redirect", &get(page, "/").await);
    end(running).await;
}
