//! At SIGHUP and `server admin reload`, the server reads its files and options again, and the match
//! goes on.

use std::path::{Path, PathBuf};

use rcgen::{CertificateParams, KeyPair};
use server::{AdminAction, AdminCommand, admin};
use tests::harness::pem;

use super::*;

/// A temporary folder. It is removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("{test}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Writes a new certificate and its key.
    fn write_certificate(&self) -> [PathBuf; 2] {
        let key = KeyPair::generate().unwrap();
        let parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = parameters.self_signed(&key).unwrap();
        [
            self.write("cert.pem", &pem("CERTIFICATE", certificate.der())),
            self.write("key.pem", &pem("PRIVATE KEY", &key.serialize_der())),
        ]
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

async fn plays(client: &mut Client) {
    let end = client.session().stats().snapshots + 20;
    let played = async {
        while client.session().stats().snapshots < end {
            client.next().await.unwrap();
        }
    };
    timeout(HANG, played).await.expect("snapshots come in time");
}

/// The SHA-256 of the certificate that `/info` names.
async fn certificate(process: &ServerProcess) -> String {
    let info: serde_json::Value =
        serde_json::from_str(&get(process.http, "/info").await.body).unwrap();
    assert!(info["certificate_fault"].is_null(), "{info}");
    info["certificate_sha256"].as_str().unwrap().to_owned()
}

async fn reload(process: &ServerProcess, tokens: &Path) -> Result<String, String> {
    let address = process.said("admin interface on http://").trim_end_matches('/').to_owned();
    let command = AdminCommand {
        admin: address.parse().unwrap(),
        admin_tokens: tokens.to_owned(),
        match_name: None,
        action: AdminAction::Reload,
    };
    let asked = tokio::task::spawn_blocking(move || admin(&command)).await.unwrap();
    asked.map_err(|error| error.to_string())
}

/// Case hang-up-as-reload, with all parts that can be read again.
#[tokio::test]
async fn hang_up_as_reload_reads_all_files_again_and_the_match_goes_on() {
    let folder = Folder::new("hang-up");
    let [certificate_file, key] = folder.write_certificate();
    let admins = folder.write("admins", "ann 0123456789abcdef01234567\n");
    let bans = folder.write("bans.toml", "");
    let config = |more: &str| format!("map = {:?}\n{more}", text(&own_map("arena.obsp")));
    let file = folder.write("server.toml", &config("max-players = 8\nmotd = 'hello'\n"));
    let arguments = [
        ["--config", &text(&file)],
        ["--cert", &text(&certificate_file)],
        ["--key", &text(&key)],
        ["--admin", "127.0.0.1:0"],
        ["--admin-tokens", &text(&admins)],
        ["--bans", &text(&bans)],
    ]
    .concat()
    .into_iter()
    .map(str::to_owned)
    .collect::<Vec<_>>();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // Under nohup, child processes ignore SIGHUP, so `env` restores the default for the server.
    let heeding = ["env", "--default-signal=HUP"];
    let mut process = ServerProcess::start_within(&heeding, &arguments);
    let connector = Connector::new(process.udp, Trust::Loopback).unwrap();
    let name = PlayerName::new("witness").unwrap();
    let mut client = connector.join(&name, MapHash::ANY).await.unwrap();
    let first = certificate(&process).await;

    folder.write_certificate();
    folder.write("bans.toml", "[[ban]]\nsubject = \"192.0.2.7\"\n");
    folder.write(
        "server.toml",
        &config("max-players = 9\nmotd = 'farewell'\naddress-players = 7\nidle = '5m'\n"),
    );
    folder.write("admins", "bob fedcba9876543210fedcba98\n");
    process.signal("HUP");
    process.logged("reloaded changed=");
    for words in [
        "reload: certificate renewed, SHA-256",
        "reload: bans: 1 entries, 0 before",
        "reload: the message of the day has changed",
        "reload: an address may have 7 players",
        "reload: idle players are removed after 300 s",
        "reload: admin tokens that are valid from now on: bob",
        "reload: admin tokens that are no longer valid: ann",
        "reload: --max-players has changed, and takes effect at the next start",
    ] {
        assert!(process.log().contains(words), "{words}: {}", process.log());
    }
    let second = certificate(&process).await;
    assert_ne!(first, second);
    plays(&mut client).await;

    // A wrong file changes nothing, and both the log and the administrator are told.
    folder.write("bans.toml", "[[ban]]\nsubject = \"everybody\"\n");
    folder.write("key.pem", "");
    let refused = reload(&process, &admins).await.unwrap_err();
    for words in ["bans: the old value stays", "everybody", "key.pem", "the file is empty"] {
        assert!(refused.contains(words), "{words}: {refused}");
    }
    process.logged("reload: bans: the old value stays");
    assert_eq!(certificate(&process).await, second);
    folder.write("server.toml", "tickrate = 3\n");
    let refused = reload(&process, &admins).await.unwrap_err();
    assert!(refused.contains("no option tickrate"), "{refused}");

    folder.write_certificate();
    folder.write("bans.toml", "");
    folder.write("server.toml", &config("max-players = 8\nmotd = 'farewell'\n"));
    let report: serde_json::Value =
        serde_json::from_str(&reload(&process, &admins).await.unwrap()).unwrap();
    assert_eq!(report["needs_restart"], serde_json::json!([]), "{report}");
    assert!(report["changed"].as_array().unwrap().len() >= 3, "{report}");
    plays(&mut client).await;
    client.leave().await;
    connector.close().await;
    process.signal("TERM");
    assert_eq!(process.wait(), Some(0));
}

/// Symptom: the second reload did what the first one had refused, and `/info` still said
/// `self_signed`.
#[tokio::test]
async fn a_reload_that_was_refused_is_refused_the_second_time_too() {
    let folder = Folder::new("refused-twice");
    let [certificate_file, key] = folder.write_certificate();
    let config = |more: &str| format!("map = {:?}\n{more}", text(&own_map("arena.obsp")));
    let [certificate_file, key] = [certificate_file, key].map(|path| text(&path));
    let files = config(&format!("cert = {certificate_file:?}\nkey = {key:?}\n"));
    let admins = folder.write("admins", "ann 0123456789abcdef01234567\n");
    for (before, after, is_own) in [(config(""), &files, true), (files.clone(), &config(""), false)]
    {
        let file = folder.write("server.toml", &before);
        let mut process = ServerProcess::start(&[
            "--config",
            &text(&file),
            "--admin",
            "127.0.0.1:0",
            "--admin-tokens",
            &text(&admins),
        ]);
        let first = certificate(&process).await;
        folder.write("server.toml", after);
        for _ in 0..2 {
            let refused = reload(&process, &admins).await.unwrap_err();
            assert!(refused.contains("certificate: the old value stays"), "{refused}");
            assert!(refused.contains("restart"), "{refused}");
            assert_eq!(certificate(&process).await, first);
        }
        let info = get(process.http, "/info").await.body;
        let info: serde_json::Value = serde_json::from_str(&info).unwrap();
        assert_eq!(info["self_signed"], is_own, "{info}");
        process.signal("TERM");
        assert_eq!(process.wait(), Some(0));
    }
}

/// If the certificate in the files is not valid now, no browser can enter, and `/readyz` tells
/// matchmakers so.
#[tokio::test]
async fn a_certificate_that_is_not_valid_now_is_told_at_readyz_and_info() {
    let folder = Folder::new("not-valid");
    let key = KeyPair::generate().unwrap();
    let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    parameters.not_before = rcgen::date_time_ymd(2000, 1, 1);
    parameters.not_after = rcgen::date_time_ymd(2001, 1, 1);
    let certificate = parameters.self_signed(&key).unwrap();
    let cert = folder.write("cert.pem", &pem("CERTIFICATE", certificate.der()));
    let key = folder.write("key.pem", &pem("PRIVATE KEY", &key.serialize_der()));
    let map = own_map("arena.obsp").to_string_lossy().into_owned();
    let heeding = ["env", "--default-signal=HUP"];
    let mut process = ServerProcess::start_within(
        &heeding,
        &["--map", &map, "--drain", "0", "--cert", &text(&cert), "--key", &text(&key)],
    );
    assert!(process.said("cert.pem: the certificate expired ").contains("days ago"));
    let ready = get(process.http, "/readyz").await;
    assert_eq!(ready.status, 503);
    assert!(ready.body.contains("no browser can enter"), "{}", ready.body);
    assert!(ready.body.contains("by this machine's clock (20"), "{}", ready.body);
    let info = get(process.http, "/info").await.body;
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    assert!(info["certificate_fault"].as_str().unwrap().contains("expired"), "{info}");
    assert_eq!(info["certificate_valid"], serde_json::json!([946_684_800, 978_307_200]));

    folder.write_certificate();
    process.signal("HUP");
    process.logged("reload: certificate renewed");
    let ready = timeout(HANG, async {
        while get(process.http, "/readyz").await.status != 200 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    ready.await.expect("the server is ready with a certificate that is valid");
    process.signal("TERM");
    assert_eq!(process.wait(), Some(0));
}
