//! The server's name and its message of the day, and the clients that get them.

use obsp_client::Credentials;
use obsp_client::quic::Client;
use obsp_proto::control::MatchEvent;
use server::{IntroductionOptions, Options, Server};
use tests::harness::pages::get;

use crate::joining::{end, join, options, play};

/// The next line that the server announces.
async fn announced(client: &mut Client) -> String {
    let said = play(client, 0, |_, event| match event {
        Some(MatchEvent::Announced { line }) => Some(line.as_str().to_owned()),
        _ => None,
    });
    said.await.unwrap()
}

#[tokio::test]
async fn a_newcomer_is_greeted_and_nobody_else_hears_it() {
    let introduction = IntroductionOptions {
        name: Some("Ann's hall".parse().unwrap()),
        motd: Some("Be kind".parse().unwrap()),
    };
    let running = Server::start(&Options { introduction, ..options(4) }).unwrap();
    let mut first = join(&running, "one", &Credentials::default()).await.unwrap();
    assert_eq!(announced(&mut first).await, "Ann's hall: Be kind");
    let mut second = join(&running, "two", &Credentials::default()).await.unwrap();
    assert_eq!(announced(&mut second).await, "Ann's hall: Be kind");
    // The first player hears the next announcement, and not the greeting of the second.
    running.handle().say("next").unwrap();
    assert_eq!(announced(&mut first).await, "next");

    let info = get(running.http_addr(), "/info").await.body;
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    assert_eq!((&info["name"], &info["motd"]), (&"Ann's hall".into(), &"Be kind".into()));
    drop((first, second));
    end(running).await;
}
