//! `systemctl reload` with a real systemd. A user's own systemd runs a unit that has the lines of
//! `deploy/systemd/arena-server.service` that matter. It runs in a mount namespace, in which the
//! script makes `/run/systemd/system`: systemd takes this folder for a sign that it has booted.

use std::io::Write;
use std::path::PathBuf;

use tests::harness::program;

use super::*;

/// Starts systemd and then the unit, reloads the unit, and prints its state before and after.
const SCRIPT: &str = r#"
mount --make-rprivate /
mount -t tmpfs none /run
mkdir -p /run/systemd/system
timeout 60 /lib/systemd/systemd --user --unit=basic.target > "$FOLDER/systemd.log" 2>&1 < /dev/null &
up() { systemctl --user is-active --quiet basic.target 2> /dev/null; }
for try in $(seq 200); do up && break; sleep 0.1; done
up || exit 77
show() { echo "$1 $(systemctl --user show arena-server -p MainPID -p ActiveState -p NRestarts --value | sort | tr '\n' ' ')"; }
systemctl --user start arena-server
show before
sed -i 's/hello/goodbye/' "$FOLDER/server.toml"
systemctl --user reload arena-server
echo "reloaded $?"
show after
systemctl --user stop arena-server
systemctl --user show arena-server -p Result
systemctl --user exit
"#;

/// A folder of this test. It is removed when dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The lines of the unit that decide how it starts and reloads.
fn unit(folder: &Path) -> String {
    let shipped = read("systemd/arena-server.service");
    let kept = shipped.lines().filter(|line| {
        ["Type=", "WatchdogSec=", "ExecReload="].iter().any(|key| line.starts_with(key))
    });
    let kept: Vec<_> = kept.collect();
    assert_eq!(kept.len(), 3, "{kept:?}");
    let (server, folder) = (program("server"), folder.display());
    format!(
        "[Service]\n{}\nEnvironment=STATE_DIRECTORY={folder}\n\
         StandardError=file:{folder}/log\nStandardOutput=file:{folder}/log\n\
         ExecStart={} --config {folder}/server.toml --listen 127.0.0.1:0 --http 127.0.0.1:0\n",
        kept.join("\n"),
        server.display()
    )
}

#[test]
fn systemctl_reload_reads_the_options_again_and_the_server_goes_on() {
    let folder = std::env::temp_dir().join(format!("arena-reload-{}", std::process::id()));
    let folder = Folder(folder);
    let units = folder.0.join("systemd/user");
    std::fs::create_dir_all(&units).unwrap();
    std::fs::create_dir_all(folder.0.join("run")).unwrap();
    let map = harness::own_map("arena.obsp").canonicalize().unwrap();
    let config = format!("map = {:?}\nmotd = 'hello'\n", map.to_string_lossy());
    std::fs::write(folder.0.join("server.toml"), config).unwrap();
    std::fs::write(units.join("arena-server.service"), unit(&folder.0)).unwrap();
    let tried = Command::new("timeout")
        .args(["90", "unshare", "--mount", "sh", "-euc", SCRIPT])
        .env("FOLDER", &folder.0)
        .env("XDG_RUNTIME_DIR", folder.0.join("run"))
        .env("XDG_CONFIG_HOME", &folder.0)
        .output();
    // Without root, the script ends before it opens the log.
    let has_begun = folder.0.join("systemd.log").exists();
    let is_up = |output: &Output| has_begun && output.status.code() != Some(77);
    let Some(output) = tried.ok().filter(is_up) else {
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: the reload by systemd, which needs root, unshare and systemd"
        );
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let log = std::fs::read_to_string(folder.0.join("log")).unwrap_or_default();
    let all = format!("{said}{}{log}", String::from_utf8_lossy(&output.stderr));
    let line = |word: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(word));
        line.unwrap_or_else(|| panic!("no line {word}: {all}")).trim().to_owned()
    };
    assert_eq!(line("reloaded"), "0", "{all}");
    assert!(line("before").contains("active"), "{all}");
    // The process is the same, is active, and was not restarted.
    assert_eq!(line("before"), line("after"), "{all}");
    assert!(log.contains("reload: the message of the day has changed"), "{all}");
    assert_eq!(line("Result="), "success", "{all}");
}
