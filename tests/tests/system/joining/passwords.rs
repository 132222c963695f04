//! A server with a password, and a server with a list of the players and addresses that may join.

use obsp_client::Credentials;
use obsp_client::quic::{Connector, Trust};
use obsp_proto::control::{MapHash, RefusalReason};
use server::{AddressOptions, AdminAction, AdminOptions, JoiningOptions, Options, Server};
use tests::harness::pages::{get, metric};
use tests::harness::{Administrators, ServerProcess, own_map};
use tokio::time::timeout;

use crate::joining::administrators::ask;
use crate::joining::{File, HANG, end, join, name, options, refusal};

fn by(secret: &str) -> Credentials {
    Credentials { token: secret.as_bytes().to_vec(), ..Credentials::default() }
}

#[tokio::test]
async fn only_the_password_opens_a_server_that_has_one() {
    let file = File::new("password", "open sesame\n");
    let joining =
        JoiningOptions { password: Some(file.path().to_owned()), ..JoiningOptions::default() };
    // By default, loopback is exempt and has more guesses.
    let addresses = AddressOptions { address_exempt: Vec::new(), ..AddressOptions::default() };
    let running = Server::start(&Options { joining, addresses, ..options(4) }).unwrap();
    let nothing = join(&running, "ann", &Credentials::default()).await;
    assert_eq!(refusal(nothing), RefusalReason::TokenRequired);
    let first = join(&running, "ann", &by("open sesame")).await.unwrap();
    for _ in 0..5 {
        assert_eq!(refusal(join(&running, "bob", &by("sesame")).await), RefusalReason::BadToken);
    }
    let sixth = join(&running, "bob", &by("open sesame")).await;
    assert_eq!(refusal(sixth), RefusalReason::AddressLimit);
    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, "game_limits_hit_total{limit=\"guesses\"}"), 1.0);
    let info: serde_json::Value =
        serde_json::from_str(&get(running.http_addr(), "/info").await.body).unwrap();
    assert_eq!(info["password"], true);
    drop(first);
    end(running).await;
}

#[tokio::test]
async fn a_player_of_the_list_is_known_by_a_word() {
    let tokens = Administrators::new("allow-tokens");
    let file = File::new("allow", "player:8 mellon99 Ann Lee\n192.0.2.0/24\n");
    let joining =
        JoiningOptions { allow: Some(file.path().to_owned()), ..JoiningOptions::default() };
    let admin = AdminOptions {
        admin: Some("127.0.0.1:0".parse().unwrap()),
        admin_tokens: Some(tokens.path().to_owned()),
    };
    let running = Server::start(&Options { joining, admin, ..options(4) }).unwrap();
    let ask = async |action| ask(&running, tokens.path(), action).await.unwrap();
    let stranger = join(&running, "eve", &Credentials::default()).await;
    assert_eq!(refusal(stranger), RefusalReason::TokenRequired);
    assert_eq!(refusal(join(&running, "eve", &by("mellon98")).await), RefusalReason::BadToken);
    let ann = join(&running, "whoever", &by("mellon99")).await.unwrap();
    let players = ask(AdminAction::Players).await;
    assert!(players.contains("\"Ann Lee\"") && players.contains("\"player\": 8"), "{players}");
    // A ban can name the player by the number in the list.
    let ban = AdminAction::Ban { subject: "player:8".into(), reason: String::new(), time: None };
    ask(ban).await;
    assert_eq!(refusal(join(&running, "whoever", &by("mellon99")).await), RefusalReason::Banned);
    drop(ann);
    end(running).await;
}

/// Symptom: a player who was missing from the list was told that a token or password was wrong.
#[tokio::test]
async fn a_client_that_the_list_does_not_name_is_told_so() {
    let file = File::new("allow-elsewhere", "192.0.2.0/24\n");
    let joining =
        JoiningOptions { allow: Some(file.path().to_owned()), ..JoiningOptions::default() };
    let running = Server::start(&Options { joining, ..options(4) }).unwrap();
    let stranger = join(&running, "eve", &Credentials::default()).await;
    assert_eq!(refusal(stranger), RefusalReason::NotAllowed);
    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, "game_refusals_total{reason=\"not_allowed\"}"), 1.0);
    end(running).await;
}

/// People who read the log need not know the password.
#[tokio::test]
async fn no_log_shows_a_password() {
    let file = File::new("logged-password", "open sesame");
    let map = own_map("arena.obsp").to_string_lossy().into_owned();
    let path = file.path().to_string_lossy().into_owned();
    let arguments = ["--map", &map, "--password", &path];
    let mut process = ServerProcess::start_unread(&arguments, &[("RUST_LOG", "info,server=trace")]);
    process.read_log();
    let connector = Connector::new(process.udp, Trust::Loopback).unwrap();
    for secret in ["open sesam", "open sesame"] {
        let (name, by) = (name("ann"), by(secret));
        let joined = connector.join_with(&name, MapHash::ANY, &by);
        let joined = timeout(HANG, joined).await.unwrap();
        assert_eq!(joined.is_ok(), secret == "open sesame");
    }
    process.logged("the password is wrong");
    process.logged("player joined");
    process.signal("TERM");
    assert_eq!(process.wait(), Some(0));
    let log = process.log();
    assert!(!log.contains("sesam"), "{log}");
}
