//! Options from the command line, the environment and files.

use std::ffi::OsString;
use std::time::Duration;

use clap::CommandFactory;

use super::parse;
use crate::*;

fn parse(arguments: &[&str]) -> Result<Options, clap::Error> {
    Options::read(["server"].iter().chain(arguments).map(OsString::from))
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn a_map_is_all_that_must_be_said() {
    assert_eq!(parse(&["--map", "arena.obsp"]).unwrap(), Options::new("arena.obsp"));
    assert!(parse(&[]).is_err());
}

/// Each default is written at its option, and programs that embed the server get the same ones.
#[test]
fn options_of_a_program_have_the_defaults_of_the_command_line() {
    let usual = Options::new("arena.obsp");
    assert_eq!((usual.tick_rate, usual.max_players, usual.seed), (60, 32, 1));
    assert_eq!([usual.rewind, usual.hang_limit], [200, 30_000].map(Duration::from_millis));
    assert_eq!(usual.listen, ["[::]:4433".parse().unwrap()]);
    assert_eq!(usual.pages, PageOptions::at("127.0.0.1:8080".parse().unwrap()));
    assert_eq!(usual.joining.rejoin, Duration::from_secs(30));
    assert_eq!(usual.addresses.address_exempt.len(), 2);
    let soak = soak::SoakOptions::new("arena.obsp");
    assert_eq!((soak.map.as_str(), soak.players, soak.ticks), ("arena.obsp", 32, 3600));
}

#[test]
fn every_option_is_read() {
    let text = "--map m --match duel=w,sumo=s --match king=k --listen [::1]:5 --listen 127.0.0.1:5 --advertise a:9 --http 127.0.0.1:6 --page 0.0.0.0:8443 --allow-origin https://b,* --tick-rate 30 --objects 300 \
                --seed 9 --sim-threads 3 --sim-budget 60000 --max-players 8 --tanks 3 --duration 90s --snapshot-rate 20 \
                --client-budget 4000 --rewind 50ms --drain 20s --cert c --key k \
                --ban ::1,10.0.0.1 --log-format json --state-dir state --record match.obsr --record-keep 20 --record-keep-age 7d --record-keep-bytes 9000000000 --name hall --motd welcome --webhook https://w/ --webhook-key wk --replay-dir replays --replay-module r.wasm.br \
                --audit-every 60 --otlp http://c:4318 --agones \
                --agones-port 7 --agones-health 0.5 --agones-empty 20s --agones-reservation 9s \
                --max-spectators 3 --spectator-rate 15 --spectator-budget 5000 --hang-limit 1m \
                --address-players 2 --address-spectators 1 --address-exempt 10.0.0.2,::1 --proxy-from 10.0.0.3,2001:db8::/48 \
                --outgoing-budget 2000000 --address-outgoing-budget 100000 --replay-running \
                --maps a,b --round-time 5m --score-limit 20 --warm-up 15s --intermission 7s --votes map,kick \
                --join-key jk --allow friends --reserved-slots 2 --rejoin 45s --rejoin-protect --combat-time 4s --idle 3m --bans bans.toml --mutes mutes.toml \
                --admin 127.0.0.1:7 --admin-tokens tokens --query 127.0.0.1:8 \
                --notify-socket @notify --watchdog-usec 9 --watchdog-pid 8 --listen-fds 2 --listen-pid 7 --listen-fdnames listen:http";
    let expected = Options {
        config: None,
        map: "m".into(),
        matches: ["duel=w", "sumo=s", "king=k"].map(|text| text.parse().unwrap()).into(),
        rounds: RoundOptions {
            maps: vec!["a".into(), "b".into()],
            round_time: Some(Duration::from_secs(300)),
            score_limit: Some(20),
            warm_up: Duration::from_secs(15),
            intermission: Duration::from_secs(7),
            votes: vec![Vote::Map, Vote::Kick],
        },
        joining: JoiningOptions {
            join_key: Some("jk".into()),
            password: None,
            allow: Some("friends".into()),
            reserved_slots: 2,
            rejoin: Duration::from_secs(45),
            rejoin_protect: true,
            combat_time: Duration::from_secs(4),
            idle: Duration::from_secs(180),
            bans: Some("bans.toml".into()),
            mutes: Some("mutes.toml".into()),
        },
        admin: AdminOptions {
            admin: Some("127.0.0.1:7".parse().unwrap()),
            admin_tokens: Some("tokens".into()),
        },
        query: QueryOptions { query: vec!["127.0.0.1:8".parse().unwrap()] },
        listen: vec!["[::1]:5".parse().unwrap(), "127.0.0.1:5".parse().unwrap()],
        advertise: Some("a:9".parse().unwrap()),
        allow_origin: vec!["https://b".parse().unwrap(), "*".parse().unwrap()],
        tick_rate: 30,
        snapshot_rate: Some(20),
        rewind: Duration::from_millis(50),
        objects: 300,
        seed: 9,
        sim_threads: 3,
        sim_budget: 60_000,
        max_players: 8,
        tanks: 3,
        client_budget: 4000,
        duration: Some(Duration::from_secs(90)),
        drain: Some(Duration::from_secs(20)),
        hang_limit: Duration::from_secs(60),
        state_dir: Some("state".into()),
        record: Some("match.obsr".into()),
        retention: RetentionOptions {
            record_keep: 20,
            record_keep_age: Duration::from_secs(7 * 24 * 3600),
            record_keep_bytes: 9_000_000_000,
        },
        introduction: IntroductionOptions {
            name: Some("hall".parse().unwrap()),
            motd: Some("welcome".parse().unwrap()),
        },
        webhook: WebhookOptions {
            webhook: Some("https://w/".into()),
            webhook_key: Some("wk".into()),
        },
        otlp: OtlpOptions { otlp: Some("http://c:4318".into()) },
        cert: Some("c".into()),
        key: Some("k".into()),
        ban: vec!["::1".parse().unwrap(), "10.0.0.1".parse().unwrap()],
        audit_every: 60,
        max_spectators: 3,
        spectator_rate: 15,
        spectator_budget: 5000,
        addresses: AddressOptions {
            address_players: 2,
            address_spectators: 1,
            address_exempt: vec!["10.0.0.2".parse().unwrap(), "::1".parse().unwrap()],
            proxy_from: vec!["10.0.0.3".parse().unwrap(), "2001:db8::/48".parse().unwrap()],
        },
        outgoing: OutgoingOptions { outgoing_budget: 2_000_000, address_outgoing_budget: 100_000 },
        pages: PageOptions {
            http: "127.0.0.1:6".parse().unwrap(),
            page: Some("0.0.0.0:8443".parse().unwrap()),
            replay_dir: Some("replays".into()),
            replay_module: Some("r.wasm.br".into()),
            replay_running: true,
        },
        agones: AgonesOptions {
            agones: true,
            agones_port: 7,
            agones_health: Duration::from_millis(500),
            agones_empty: Duration::from_secs(20),
            agones_reservation: Duration::from_secs(9),
        },
        service: ServiceOptions {
            notify_socket: Some("@notify".into()),
            watchdog_usec: Some(9),
            watchdog_pid: Some(8),
            listen_fds: Some(2),
            listen_pid: Some(7),
            listen_fdnames: Some("listen:http".into()),
        },
        log: LogOptions { log_format: LogFormat::Json },
    };
    assert_eq!(parse(&words(text)).unwrap(), expected);
}

#[test]
fn senseless_values_are_refused() {
    for bad in [
        ["--tick-rate", "9"],
        ["--tick-rate", "129"],
        ["--snapshot-rate", "0"],
        ["--max-players", "0"],
        ["--sim-threads", "0"],
        ["--sim-threads", "9"],
        ["--sim-budget", "-1"],
        ["--max-spectators", "1025"],
        ["--max-spectators", "65535"],
        ["--client-budget", "10"],
        ["--outgoing-budget", "16383"],
        ["--address-outgoing-budget", "16383"],
        ["--listen", "4433"],
        ["--duration", "soon"],
        ["--rewind", "501ms"],
        ["--duration", "-1"],
        ["--cert", "without-a-key"],
        ["--ban", "everybody"],
        ["--name", "two\nlines"],
        ["--name", ""],
        ["--motd", "\u{202e}"],
        ["--record-keep", "3"],
        ["--record-keep-age", "7d"],
        ["--record-keep-bytes", "9"],
        ["--webhook-key", "without-a-url"],
        ["--match", "warren"],
        ["--match", "a duel=warren"],
        ["--config", "no-such-file.toml"],
    ] {
        assert!(parse(&["--map", "m", bad[0], bad[1]]).is_err(), "{bad:?} was accepted");
    }
}

/// Reads options with this text in the file that `--config` names.
fn with_file(name: &str, text: &str, more: &str) -> Result<Options, clap::Error> {
    let path = std::env::temp_dir().join(format!("{name}-{}.toml", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let arguments = format!("--config {} {more}", path.display());
    let options = parse(&words(&arguments));
    std::fs::remove_file(path).unwrap();
    options
}

#[test]
fn a_file_gives_what_the_command_line_does_not() {
    let text = "map = 'arena'\ntick-rate = 30\nban = ['::1', '10.0.0.1']\nduration = '2m'";
    let options = with_file("options", text, "--tick-rate 20").unwrap();
    assert_eq!((options.map.as_str(), options.tick_rate), ("arena", 20));
    assert_eq!(options.duration, Some(Duration::from_secs(120)));
    assert_eq!(options.ban.len(), 2);
}

#[test]
fn a_typed_list_replaces_the_default_and_that_of_the_file() {
    let listen = |more: &str| {
        let text = "map = 'arena'\nlisten = ['127.0.0.1:1', '[::1]:1']";
        with_file("lists", text, more).unwrap().listen
    };
    let all = |texts: &[&str]| -> Vec<std::net::SocketAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    };
    assert_eq!(listen(""), all(&["127.0.0.1:1", "[::1]:1"]));
    assert_eq!(listen("--listen 127.0.0.1:2"), all(&["127.0.0.1:2"]));
    assert_eq!(listen("--listen=127.0.0.1:2,[::1]:2"), all(&["127.0.0.1:2", "[::1]:2"]));
}

#[test]
fn a_file_that_says_nonsense_is_named() {
    for text in ["map = ", "colour = 'red'", "map = { a = 1 }", "map = 'a'\ntick-rate = 5"] {
        let error = with_file("nonsense", text, "").unwrap_err().to_string();
        assert!(error.contains("nonsense") || error.contains("tick-rate"), "{error}");
    }
    let error = with_file("misspelt", "map = 'a'\ntickrate = 30", "").unwrap_err().to_string();
    assert!(error.contains("no option tickrate; did you mean tick-rate?"), "{error}");
    let error = with_file("chain", "config = 'b.toml'", "").unwrap_err().to_string();
    assert!(error.contains("a file of options cannot name another one"), "{error}");
}

/// Symptom: the error named no file, and did not say that the value came from one.
#[test]
fn a_value_that_no_option_takes_is_told_with_its_file() {
    for (text, says) in [
        ("map = 'a'\nmax-players = 'four'", "'four' for '--max-players"),
        ("map = 'a'\nlisten = 'nowhere'", "'nowhere' for '--listen"),
        ("map = 'a'\nlog-format = 'yaml'", "'yaml' for '--log-format"),
    ] {
        let error = with_file("value", text, "--seed 1").unwrap_err().to_string();
        assert!(error.contains("--config") && error.contains("/value-"), "{error}");
        assert!(error.contains(says) && error.lines().count() < 4, "{error}");
    }
    // The command line's own values are not the file's.
    let error = with_file("value", "map = 'a'", "--max-players four").unwrap_err().to_string();
    assert!(!error.contains("/value-"), "{error}");
}

/// Symptom: the server read a device without an end.
#[cfg(unix)]
#[test]
fn a_device_is_not_read_as_a_file() {
    let arguments = ["server", "--config", "/dev/zero"].map(OsString::from).to_vec();
    let error = super::file::with_file(arguments).unwrap_err().to_string();
    assert!(error.contains("/dev/zero") && error.contains("device"), "{error}");
}

/// Symptom: the first file was silently not read.
#[test]
fn a_second_file_is_an_error_that_names_both() {
    for more in ["--config second.toml", "--config=second.toml"] {
        let error = with_file("first", "map = 'a'", more).unwrap_err().to_string();
        assert!(error.contains("first-") && error.contains("second.toml"), "{error}");
        assert!(error.contains("only one is read"), "{error}");
    }
}

#[test]
fn an_empty_value_in_the_file_is_named_with_the_file() {
    for empty in ["bans = ''", "ban = []", "motd = ''"] {
        let text = format!("map = 'a'\n{empty}");
        let error = with_file("empty", &text, "").unwrap_err().to_string();
        let option = empty.split(' ').next().unwrap();
        assert!(error.contains("empty-") && error.contains(option), "{error}");
        assert!(error.contains("is empty: leave the line out"), "{error}");
    }
}

/// A reload logs the error, so it must not quote a secret.
#[test]
fn a_fault_of_the_file_is_told_by_its_line_and_quotes_no_secret() {
    let text = "map = 'a'\nwebhook = 'https://example.com/SECRET";
    let error = with_file("fault", text, "").unwrap_err().to_string();
    assert!(error.contains("fault-") && error.contains("line 2: "), "{error}");
    assert!(!error.contains("SECRET"), "{error}");
}

#[test]
fn help_shows_the_value_of_no_variable() {
    let hides = |option: &clap::Arg| option.get_env().is_none() || option.is_hide_env_values_set();
    let command = parse::heed(Options::command());
    let shown: Vec<_> = command.get_arguments().filter(|option| !hides(option)).collect();
    assert!(shown.is_empty(), "{shown:?}");
}

#[test]
fn a_job_is_spared_the_file() {
    let arguments =
        |text: &str| -> Vec<OsString> { text.split_whitespace().map(OsString::from).collect() };
    // Reading a file that is not there would be an error.
    let job = arguments("server soak --map arena --config no-such-file.toml");
    assert_eq!(Options::with_file(job.clone()).unwrap(), job);
    let serving = arguments("server --map arena --config no-such-file.toml");
    assert!(Options::with_file(serving).is_err());
}
