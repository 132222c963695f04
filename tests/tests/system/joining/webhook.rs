//! The webhook: joins, leaves, results and bans are posted, and nobody waits for the receiver.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use obsp_client::Credentials;
use serde_json::Value;
use server::{
    AdminAction, AdminOptions, IntroductionOptions, Options, RoundOptions, Server, WebhookOptions,
};
use tests::harness::Administrators;
use tests::harness::pages::{get, metric};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::joining::administrators::ask;
use crate::joining::{File, HANG, end, join, lost, options};

const KEY: &str = "a key of the tests, long enough";

/// A request that the receiver got.
struct Received {
    /// The request's headers, in lower case.
    head: String,
    body: String,
}

impl Received {
    fn header(&self, name: &str) -> &str {
        let found = self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        found.unwrap_or_else(|| panic!("no {name} in {}", self.head))
    }
}

/// Reads a post and answers it.
async fn receive(listener: &TcpListener) -> Received {
    let (mut stream, _) = timeout(HANG, listener.accept()).await.expect("a post comes").unwrap();
    let received = read(&mut stream).await;
    stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").await.unwrap();
    received
}

async fn read(stream: &mut TcpStream) -> Received {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let length = stream.read(&mut chunk).await.unwrap();
        assert!(length > 0, "the post ends early");
        bytes.extend_from_slice(&chunk[..length]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let received = Received { head: head.to_lowercase(), body: body.to_owned() };
        if received.header("content-length").parse() == Ok(body.len()) {
            return received;
        }
    }
}

/// The signature as OpenSSL computes it; `None` if OpenSSL is not installed.
fn signed_by_openssl(body: &str) -> Option<String> {
    let mut openssl = Command::new("openssl")
        .args(["dgst", "-sha256", "-r", "-hmac", KEY])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    openssl.stdin.take()?.write_all(body.as_bytes()).ok()?;
    let said = String::from_utf8(openssl.wait_with_output().ok()?.stdout).ok()?;
    Some(format!("sha256={}", said.split_whitespace().next()?))
}

fn posting(listener: &TcpListener, options: Options) -> Options {
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let webhook = WebhookOptions { webhook: Some(url), ..options.webhook };
    Options { webhook, ..options }
}

#[tokio::test]
async fn joins_leaves_results_and_bans_are_posted_and_signed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let key = File::new("webhook-key", &format!("{KEY}\n"));
    let tokens = Administrators::new("webhook-admins");
    let admin = AdminOptions {
        admin: Some("127.0.0.1:0".parse().unwrap()),
        admin_tokens: Some(tokens.path().to_owned()),
    };
    let webhook = WebhookOptions { webhook_key: Some(key.path().to_owned()), webhook: None };
    let introduction = IntroductionOptions { name: Some("Hall".parse().unwrap()), motd: None };
    let rounds = RoundOptions {
        round_time: Some(Duration::from_secs(2)),
        intermission: Duration::from_secs(1),
        ..RoundOptions::default()
    };
    let options = Options { admin, webhook, introduction, rounds, ..options(4) };
    let running = Server::start(&posting(&listener, options)).unwrap();
    let mut player = join(&running, "Ann", &Credentials::default()).await.unwrap();

    let mut ids = Vec::new();
    let mut next = async |event: &str| {
        let received = receive(&listener).await;
        let told: Value = serde_json::from_str(&received.body).unwrap();
        assert_eq!(told["event"], event, "{told}");
        assert_eq!(received.header("arena-event"), event);
        assert_eq!(received.header("arena-delivery"), told["id"].as_str().unwrap());
        let signature = received.header("arena-signature-256");
        match signed_by_openssl(&received.body) {
            Some(apart) => assert_eq!(signature, apart),
            None => eprintln!("SKIPPED: the check of the signature; there is no openssl"),
        }
        assert_eq!(told["server"], "Hall");
        assert!(told["time"].as_u64().unwrap() > 1_700_000_000);
        ids.push(told["id"].to_string());
        told
    };
    let told = next("join").await;
    assert_eq!((&told["match"], &told["players"]), (&"main".into(), &1.into()), "{told}");
    assert_eq!((&told["player"]["name"], &told["player"]["player"]), (&"Ann".into(), &Value::Null));
    assert!(told["player"]["address"].as_str().unwrap().starts_with("127.0.0.1:"), "{told}");
    let number = told["player"]["connection"].clone();

    // Nobody has shot, so the only player has a score of zero, or none at all.
    let told = next("result").await;
    assert_eq!((&told["map"], &told["next_map"]), (&"arena".into(), &"arena".into()), "{told}");
    let scores = told["scores"].as_array().unwrap();
    assert!(scores.len() <= 1 && scores.iter().all(|score| score["name"] == "Ann"), "{told}");

    let ban = AdminAction::Ban {
        subject: "127.0.0.1".into(),
        reason: "spam".into(),
        time: Some(Duration::from_secs(60)),
    };
    ask(&running, tokens.path(), ban).await.unwrap();
    let told = next("ban").await;
    assert_eq!((&told["match"], &told["subject"]), (&Value::Null, &"127.0.0.1".into()), "{told}");
    assert_eq!(told["reason"], "spam");
    let lasts = told["expires"].as_u64().unwrap() - told["time"].as_u64().unwrap();
    assert!((59..=61).contains(&lasts), "{told}");
    let removed = lost(&mut player, 0).await;
    assert!(format!("{removed:?}").contains("spam"), "{removed:?}");
    let told = next("leave").await;
    assert_eq!((&told["reason"], &told["players"]), (&"removed".into(), &0.into()), "{told}");
    assert_eq!(told["player"]["connection"], number);
    assert!(told["seconds"].as_f64().unwrap() > 1.0, "{told}");
    let posted = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), posted, "each post has an id of its own");

    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, r#"game_webhook_posts_total{outcome="delivered"}"#), 4.0, "{page}");
    end(running).await;
}

/// A receiver that accepts connections and never answers does not slow joins, ticks or the end of
/// the server.
#[tokio::test]
async fn a_stuck_receiver_slows_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let running = Server::start(&posting(&listener, options(8))).unwrap();
    let ticks =
        async || metric(&get(running.http_addr(), "/metrics").await.body, "game_ticks_total");
    let (began, before) = (tokio::time::Instant::now(), ticks().await);
    for number in 0..8 {
        let (name, nobody) = (format!("Ann {number}"), Credentials::default());
        let joined = join(&running, &name, &nobody);
        drop(timeout(Duration::from_secs(5), joined).await.expect("joins do not wait").unwrap());
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (done, time) = (ticks().await - before, began.elapsed().as_secs_f64());
    assert!(done > 0.9 * 60.0 * time, "{done} ticks in {time} s");
    let page = get(running.http_addr(), "/metrics").await.body;
    for outcome in ["delivered", "refused", "failed", "dropped"] {
        let counter = format!(r#"game_webhook_posts_total{{outcome="{outcome}"}}"#);
        assert_eq!(metric(&page, &counter), 0.0, "{outcome}");
    }
    let ending = tokio::time::Instant::now();
    end(running).await;
    // The server waits up to two seconds for the last posts.
    assert!(ending.elapsed() < Duration::from_secs(8), "{:?}", ending.elapsed());
}
