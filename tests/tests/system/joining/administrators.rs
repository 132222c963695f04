//! The admin interface: administrators see and control everything, and nobody else does.

use std::path::Path;
use std::time::Duration;

use obsp_client::quic::Client;
use obsp_client::{Credentials, Disconnected};
use obsp_proto::control::{ChatLine, ClosingReason, MatchEvent, RefusalReason};
use server::{AdminAction, AdminCommand, AdminOptions, JoiningOptions, Options, Server, admin};
use tests::harness::Administrators;
use tests::harness::pages::{get, metric};
use tokio::time::timeout;

use crate::joining::{File, HANG, end, join, lost, options, play, refusal};

/// Asks the admin interface through its client, and returns the answer.
pub(crate) async fn ask(
    running: &Server,
    tokens: &Path,
    action: AdminAction,
) -> Result<String, String> {
    let admin_tokens = tokens.to_owned();
    let command = AdminCommand {
        admin: running.admin_addr().unwrap().into(),
        admin_tokens,
        match_name: None,
        action,
    };
    let asked = tokio::task::spawn_blocking(move || admin(&command)).await.unwrap();
    asked.map_err(|error| error.to_string())
}

#[tokio::test]
async fn an_administrator_sees_and_rules_all_and_nobody_else_does() {
    let tokens = Administrators::new("admin-tokens");
    let wrong = File::new("admin-tokens-wrong", "ann 0123456789abcdef01234568\n");
    let bans = File::new("admin-bans.toml", "");
    let joining = JoiningOptions { bans: Some(bans.path().to_owned()), ..Default::default() };
    let admin = AdminOptions {
        admin: Some("127.0.0.1:0".parse().unwrap()),
        admin_tokens: Some(tokens.path().to_owned()),
    };
    let running = Server::start(&Options { joining, admin, ..options(4) }).unwrap();
    let ask = async |action| ask(&running, tokens.path(), action).await;
    let json = async |action| -> serde_json::Value {
        serde_json::from_str(&ask(action).await.unwrap()).unwrap()
    };
    let mut one = join(&running, "one", &Credentials::default()).await.unwrap();
    let mut other = join(&running, "other", &Credentials::default()).await.unwrap();

    let status = json(AdminAction::Status).await;
    assert_eq!((&status["map"], &status["players"]), (&"arena".into(), &2.into()), "{status}");
    let players = json(AdminAction::Players).await;
    let number = |of: &str| {
        let player = players.as_array().unwrap().iter().find(|player| player["name"] == of);
        player.unwrap()["number"].as_u64().unwrap()
    };
    assert!(players[0]["address"].as_str().unwrap().starts_with("127.0.0.1:"), "{players}");

    ask(AdminAction::Say { line: "hello all".into() }).await.unwrap();
    let said = play(&mut one, 0, |_, event| match event {
        Some(MatchEvent::Announced { line }) => Some(line),
        _ => None,
    });
    assert_eq!(said.await.unwrap().as_str(), "hello all");
    // A muted player's line is not delivered; after unmuting, the next one is.
    let who = number("other").to_string();
    let mute = AdminAction::Mute { who: who.clone(), reason: String::new(), time: None };
    let muted = ask(mute).await.unwrap();
    // All clients of this test come from the same address, which is exempt.
    assert!(muted.contains("nothing else identifies the client"), "{muted}");
    other.say(ChatLine::new("muted").unwrap());
    let page = get(running.http_addr(), "/metrics").await.body;
    let said = metric(&page, "game_ticks_total") as u32;
    let later = |client: &mut Client, _: Option<MatchEvent>| {
        (client.session().latest_tick()?.0 > said + 60).then_some(())
    };
    play(&mut other, 0, later).await.unwrap();
    ask(AdminAction::Unmute { who }).await.unwrap();
    other.say(ChatLine::new("heard").unwrap());
    let heard = play(&mut other, 0, |_, event| match event {
        Some(MatchEvent::Said { line, .. }) => Some(line),
        _ => None,
    });
    assert_eq!(heard.await.unwrap().as_str(), "heard");
    // The limits that a talkative player hits are counted for this player alone.
    (0..12).for_each(|_| other.say(ChatLine::new("blah").unwrap()));
    let hit = async {
        loop {
            let players = json(AdminAction::Players).await;
            let hits = |of: usize| players[of]["limits_hit"].as_u64().unwrap();
            if hits(1) >= 5 {
                return hits(0);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let hits_of_one = tokio::select! {
        hits = timeout(HANG, hit) => hits.expect("limits are counted"),
        _ = lost(&mut other, 0) => panic!("the talkative player was disconnected"),
    };
    assert_eq!(hits_of_one, 0);

    // After a restart, the same connections are in another round.
    let before = one.session().hello().unwrap().tick.max(other.session().hello().unwrap().tick);
    ask(AdminAction::Restart).await.unwrap();
    let follows = |client: &mut Client, _| {
        let hello = client.session().hello()?;
        (hello.tick > before && client.prediction().is_some()).then_some(())
    };
    play(&mut one, 0, follows).await.unwrap();
    play(&mut other, 0, follows).await.unwrap();
    assert_eq!(json(AdminAction::Status).await["level"], 1);

    let reason = "spam".to_owned();
    ask(AdminAction::Kick { number: number("other"), reason: reason.clone() }).await.unwrap();
    let removed = lost(&mut other, 0).await;
    let Disconnected::Closed(ClosingReason::Removed(why)) = &removed else { panic!("{removed}") };
    assert_eq!(why.as_str(), "spam");
    let settings = AdminAction::Settings {
        round_time: Some(HANG),
        score_limit: None,
        intermission: None,
        idle: None,
    };
    let settings = json(settings).await;
    assert_eq!((&settings["round_seconds"], &settings["idle_seconds"]), (&30.into(), &0.into()));

    // A ban removes the player, keeps them out, and is saved to the file.
    let everybody = "127.0.0.0/8".to_owned();
    let ban = AdminAction::Ban { subject: everybody.clone(), reason, time: Some(HANG) };
    ask(ban).await.unwrap();
    assert!(matches!(lost(&mut one, 0).await, Disconnected::Closed(ClosingReason::Removed(_))));
    assert!(join(&running, "one", &Credentials::default()).await.is_err());
    assert!(std::fs::read_to_string(bans.path()).unwrap().contains("127.0.0.0/8"));
    assert_eq!(json(AdminAction::Bans).await[0]["by"], "ann");
    ask(AdminAction::Unban { subject: everybody.clone() }).await.unwrap();
    let error = ask(AdminAction::Unban { subject: everybody }).await.unwrap_err();
    assert!(error.contains("not banned"), "{error}");
    let mut back = join(&running, "one", &Credentials::default()).await.unwrap();

    for (action, says) in [
        (AdminAction::Kick { number: 999, reason: String::new() }, "no connection 999"),
        (AdminAction::Map { map: "nowhere".into() }, "no map nowhere"),
        (AdminAction::Say { line: "\n".into() }, "visible"),
        (
            AdminAction::Ban { subject: "everybody".into(), reason: String::new(), time: None },
            "is not an address",
        ),
    ] {
        let error = ask(action).await.unwrap_err();
        assert!(error.contains(says), "{error}");
    }
    let stranger = self::ask(&running, wrong.path(), AdminAction::Status).await.unwrap_err();
    assert!(stranger.contains("--admin-tokens"), "{stranger}");
    let page = get(running.http_addr(), "/metrics").await.body;
    let requests = |request: &str, outcome: &str| {
        let labels = format!("{{request=\"{request}\",outcome=\"{outcome}\"}}");
        metric(&page, &format!("game_admin_requests_total{labels}"))
    };
    assert_eq!((requests("kick", "done"), requests("kick", "refused")), (1.0, 1.0));
    assert_eq!(requests("unauthorised", "refused"), 1.0);

    ask(AdminAction::Drain { time: Some(HANG) }).await.unwrap();
    let refused = join(&running, "late", &Credentials::default()).await;
    assert_eq!(refusal(refused), RefusalReason::NotReady);
    play(&mut back, 0, |client, _| client.motion()).await.unwrap();
    back.leave().await;
    timeout(HANG, running.ending()).await.expect("the server ends when the last player has left");
    drop((one, other));
    end(running).await;
}

/// The answers of the interface have exactly the fields in its description.
#[tokio::test]
async fn the_admin_interface_answers_as_it_is_described() {
    let tokens = Administrators::new("admin-tokens-page");
    let admin = AdminOptions {
        admin: Some("127.0.0.1:0".parse().unwrap()),
        admin_tokens: Some(tokens.path().to_owned()),
    };
    let running = Server::start(&Options { admin, ..options(2) }).unwrap();
    let player = join(&running, "one", &Credentials::default()).await.unwrap();
    let page: serde_json::Value =
        serde_json::from_str(include_str!("../../../../server/src/operate/admin/openapi.json"))
            .unwrap();
    let schema = |name: &str| page["components"]["schemas"][name].clone();
    let keys = |value: &serde_json::Value| {
        let mut keys: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys
    };
    let ban =
        AdminAction::Ban { subject: "192.0.2.1".into(), reason: "x".into(), time: Some(HANG) };
    ask(&running, tokens.path(), ban).await.unwrap();
    let settings = AdminAction::Settings {
        round_time: None,
        score_limit: None,
        intermission: None,
        idle: None,
    };
    for (action, name) in [
        (AdminAction::Status, "Status"),
        (AdminAction::Players, "Client"),
        (AdminAction::Bans, "Ban"),
        (settings, "Settings"),
    ] {
        let answer = ask(&running, tokens.path(), action).await.unwrap();
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let one = if answer.is_array() { &answer[0] } else { &answer };
        assert_eq!(keys(one), keys(&schema(name)["properties"]), "{name}");
        for (field, described) in schema(name)["properties"].as_object().unwrap() {
            let types = described["type"].clone();
            let fits = |kind: &str| match kind {
                "integer" => one[field].is_i64() || one[field].is_u64(),
                "number" => one[field].is_number(),
                "string" => one[field].is_string(),
                "boolean" => one[field].is_boolean(),
                "array" => one[field].is_array(),
                "null" => one[field].is_null(),
                other => panic!("{other}"),
            };
            let fits = match &types {
                serde_json::Value::String(kind) => fits(kind),
                serde_json::Value::Array(kinds) => {
                    kinds.iter().any(|kind| fits(kind.as_str().unwrap()))
                }
                _ => one[field].is_object(),
            };
            assert!(fits, "{name}.{field}: {} is not {types}", one[field]);
        }
    }
    drop(player);
    end(running).await;
}
