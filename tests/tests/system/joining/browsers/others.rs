//! Programs of other projects query a full server: gamedig, which web pages with lists of servers
//! use, and python-a2s, which scripts of operators use.

use std::io::Write;
use std::net::SocketAddr;
use std::process::Command;

use serde_json::Value;
use server::{IntroductionOptions, Options};

use super::{crowd, long_name, queried};
use crate::joining::end;

/// Queries a server with gamedig, at the port in `argv[1]`. The script requires players and rules,
/// so it fails if the server does not answer queries for them. Node finds the package by its own
/// rules, for example through `NODE_PATH`.
const GAMEDIG: &str = "
    const { GameDig } = require('gamedig');
    GameDig.query({
      type: 'protocol-valve', host: '127.0.0.1', port: Number(process.argv[1]),
      givenPortOnly: true, maxRetries: 1, socketTimeout: 10000,
      requestPlayers: true, requestPlayersRequired: true,
      requestRules: true, requestRulesRequired: true,
    }).then((state) => console.log(JSON.stringify({
      name: state.name, map: state.map, count: state.numplayers, most: state.maxplayers,
      password: state.password, version: state.version,
      tags: state.raw.tags.join(','), players: state.players.map((player) => player.name),
      rules: state.raw.rules,
    })));
";

/// Queries a server with python-a2s, at the port in `argv[1]`.
const PYTHON_A2S: &str = "
import a2s, json, sys
address = ('127.0.0.1', int(sys.argv[1]))
info, players, rules = a2s.info(address, 10), a2s.players(address, 10), a2s.rules(address, 10)
print(json.dumps({
    'name': info.server_name, 'map': info.map_name, 'count': info.player_count,
    'most': info.max_players, 'password': info.password_protected, 'version': info.version,
    'port': info.port, 'tags': info.keywords, 'players': [player.name for player in players],
    'rules': rules,
}))
";

/// A program with its package, and the way to install it.
struct Other {
    program: String,
    /// A script that succeeds where the package is installed.
    probe: [&'static str; 2],
    ask: [&'static str; 2],
    way: &'static str,
}

fn others() -> [Other; 2] {
    let python = std::env::var("ARENA_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    [
        Other {
            program: "node".to_owned(),
            probe: ["-e", "require('gamedig')"],
            ask: ["-e", GAMEDIG],
            way: "run `npm install gamedig` in a folder D, and set NODE_PATH=D/node_modules",
        },
        Other {
            program: python,
            probe: ["-c", "import a2s"],
            ask: ["-c", PYTHON_A2S],
            way: "run `pip install python-a2s`, and set ARENA_PYTHON if an environment has it",
        },
    ]
}

impl Other {
    fn is_there(&self) -> bool {
        let probe = Command::new(&self.program).args(self.probe).output();
        probe.is_ok_and(|done| done.status.success())
    }

    fn ask(&self, port: SocketAddr) -> Value {
        let mut command = Command::new(&self.program);
        let done = command.args(self.ask).arg(port.port().to_string()).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{}: {said}", self.program);
        serde_json::from_slice(&done.stdout).unwrap()
    }
}

/// Cases query-player-list-cut and query-rules-silent, at both ports.
#[tokio::test]
async fn gamedig_and_python_a2s_read_a_full_server_with_long_names() {
    let there: Vec<_> = others()
        .into_iter()
        .filter(|other| {
            let is_there = other.is_there();
            if !is_there {
                let (program, way) = (&other.program, other.way);
                let _ = writeln!(std::io::stderr(), "SKIPPED: {program} lacks its package; {way}");
            }
            is_there
        })
        .collect();
    if there.is_empty() {
        return;
    }
    let introduction = IntroductionOptions {
        name: Some("J\u{fc}rgen's hall \u{6f22}".parse().unwrap()),
        motd: Some("Be kind \u{1f600}".parse().unwrap()),
    };
    let (running, players) = crowd(&Options { introduction, ..queried(32) }, 32).await;
    let (port, game) = (running.query_addr().unwrap(), running.local_addr());
    let asked = tokio::task::spawn_blocking(move || {
        let ask = |other: &Other| [port, game].map(|at| (other.program.clone(), other.ask(at)));
        there.iter().flat_map(ask).collect::<Vec<_>>()
    });
    let expected: Vec<_> = (0..32).map(long_name).collect();
    for (program, told) in asked.await.unwrap() {
        assert_eq!(told["name"], "J\u{fc}rgen's hall \u{6f22}", "{program}");
        assert_eq!(told["map"], "arena", "{program}");
        assert_eq!((&told["count"], &told["most"]), (&32.into(), &32.into()), "{program}");
        assert_eq!(told["password"], false, "{program}");
        assert_eq!(told["version"], env!("CARGO_PKG_VERSION"), "{program}");
        // gamedig reads the port but does not report it.
        assert!(told["port"].is_null() || told["port"] == game.port(), "{program}");
        assert_eq!(told["tags"], "60hz,spectators", "{program}");
        let names = told["players"].as_array().unwrap().iter();
        let mut names: Vec<_> = names.map(|name| name.as_str().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names, expected, "{program}");
        for (rule, value) in [
            ("motd", "Be kind \u{1f600}"),
            ("map", "arena"),
            ("players", "32"),
            ("tick_rate", "60"),
            ("sv_password", "0"),
        ] {
            assert_eq!(told["rules"][rule], value, "{program}");
        }
    }
    drop(players);
    end(running).await;
}
