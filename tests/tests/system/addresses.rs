//! Addresses of both families: where a server listens, how clients find it, from where it answers,
//! and what a ban covers.

mod handed_over;
mod proxies;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::process::Command;
use std::time::{Duration, Instant};

use obsp_client::quic::{Connector, JoinError, Resolver, ServerAddress, Trust};
use obsp_client::{Client, ConnectionEvent, Credentials, Disconnected};
use obsp_proto::Time;
use obsp_proto::control::{MapHash, PlayerName};
use server::{
    AdminAction, AdminCommand, AdminOptions, HealthOptions, Options, PageOptions, QueryOptions,
    Server, health,
};
use tests::harness::pages::get;
use tests::harness::{Administrators, own_map};
use tokio::time::timeout;

/// Far longer than anything here takes: only a hang lasts as long.
const HANG: Duration = Duration::from_secs(30);

/// The limit of the time in which a client reaches the server, whatever addresses the name has.
const REACHED: Duration = Duration::from_secs(1);

/// The environment variable that is set while the inner half of a test runs, in its own network.
const INSIDE: &str = "TESTS_INSIDE_BINDV6ONLY";

const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

fn options(listen: &[IpAddr]) -> Options {
    let listen = listen.iter().map(|&ip| SocketAddr::new(ip, 0)).collect();
    let map = own_map("arena.obsp").to_string_lossy().into_owned();
    Options {
        listen,
        pages: PageOptions::at(SocketAddr::new(V4, 0)),
        max_players: 4,
        ..Options::new(map)
    }
}

async fn end(running: Server) {
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}

/// Whether this machine has IPv6 at all.
fn has_ipv6() -> bool {
    let has = UdpSocket::bind((V6, 0)).is_ok();
    if !has {
        eprintln!("SKIPPED: this machine has no IPv6");
    }
    has
}

/// A connector to a name that has these addresses.
fn to_name(addresses: &[SocketAddr]) -> Connector {
    let name: ServerAddress = "arena.test:4433".parse().unwrap();
    let addresses = addresses.to_vec();
    Connector::new(name, Trust::Loopback)
        .unwrap()
        .with_resolver(Resolver::new(move |_, _| Ok(addresses.clone())))
}

async fn join(connector: &Connector) -> Result<SocketAddr, JoinError> {
    let name = PlayerName::new("Ann").unwrap();
    let by = Credentials::default();
    let joined = timeout(HANG, connector.join_with(&name, MapHash::ANY, &by));
    let client = joined.await.unwrap()?;
    let server = client.server();
    client.leave().await;
    Ok(server)
}

/// An address at which nobody answers, though the port is open.
struct Silent(UdpSocket);

impl Silent {
    fn new(ip: IpAddr) -> Self {
        Self(UdpSocket::bind((ip, 0)).unwrap())
    }

    fn address(&self) -> SocketAddr {
        self.0.local_addr().unwrap()
    }
}

/// Tries an IPv4 address, an IPv6 address, a name with both, and a name with an address that does
/// not answer. Each must lead to the server in time, if the server listens there.
async fn try_all_kinds(running: &Server) {
    let port = running.local_addr().port();
    let [v4, v6] = [V4, V6].map(|ip| SocketAddr::new(ip, port));
    let [silent_v4, silent_v6] = [V4, V6].map(Silent::new);
    let rows = [
        ("IPv4", Connector::new(v4, Trust::Loopback).unwrap(), v4),
        ("IPv6", Connector::new(v6, Trust::Loopback).unwrap(), v6),
        ("a name with both, IPv6 first", to_name(&[v6, v4]), v6),
        ("a name with both, IPv4 first", to_name(&[v4, v6]), v4),
        ("a name whose IPv6 is silent", to_name(&[silent_v6.address(), v4]), v4),
        ("a name whose IPv4 is silent", to_name(&[silent_v4.address(), v6]), v6),
    ];
    for (kind, connector, expected) in rows {
        let begin = Instant::now();
        let connection = timeout(HANG, connector.connect()).await.unwrap();
        let took = begin.elapsed();
        let connection = connection.unwrap_or_else(|error| panic!("{kind}: {error}"));
        assert_eq!(connection.remote_address(), expected, "{kind}");
        assert!(took < REACHED, "{kind} took {took:?}");
        // Joining the match must lead to the same address.
        assert_eq!(join(&connector).await.unwrap(), expected, "{kind}");
    }
    let answered = tokio::task::spawn_blocking({
        let http = running.http_addr();
        move || {
            health(&HealthOptions { http: format!("localhost:{}", http.port()).parse().unwrap() })
        }
    });
    answered.await.unwrap().unwrap();
}

#[tokio::test]
async fn every_client_reaches_the_server_by_every_kind_of_address() {
    if has_ipv6() {
        let running = Server::start(&options(&[Ipv6Addr::UNSPECIFIED.into()])).unwrap();
        try_all_kinds(&running).await;
        end(running).await;
    }
}

/// Runs the test above where `[::]` does not include IPv4 by default. This test needs the right to
/// make a network namespace.
#[test]
fn every_client_reaches_the_server_with_bindv6only() {
    if std::env::var_os(INSIDE).is_some() {
        let only = std::fs::read_to_string("/proc/sys/net/ipv6/bindv6only").unwrap();
        assert_eq!(only.trim(), "1");
        return every_client_reaches_the_server_by_every_kind_of_address();
    }
    let script = "ip link set lo up && echo 1 > /proc/sys/net/ipv6/bindv6only && exec \"$@\"";
    let mut within = Command::new("unshare");
    within.args(["--map-root-user", "--net", "sh", "-c", script, "sh"]);
    if !Command::new("unshare")
        .args(["--map-root-user", "--net", "sh", "-c", script, "sh", "true"])
        .status()
        .is_ok_and(|status| status.success())
    {
        return eprintln!("SKIPPED: no right to make a network namespace");
    }
    let this = "addresses::every_client_reaches_the_server_with_bindv6only";
    let inner =
        within.arg(std::env::current_exe().unwrap()).args(["--exact", this]).env(INSIDE, "1");
    let ran = inner.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
}

/// Case one-address-of-a-name: clients took the first IPv4 address of a name and nothing else.
#[tokio::test]
async fn one_address_of_a_name() {
    for here in [V4, V6] {
        if here == V6 && !has_ipv6() {
            continue;
        }
        let running = Server::start(&options(&[here])).unwrap();
        let port = running.local_addr().port();
        let both = [V4, V6].map(|ip| SocketAddr::new(ip, port));
        let begin = Instant::now();
        assert_eq!(join(&to_name(&both)).await.unwrap(), running.local_addr());
        assert!(begin.elapsed() < 2 * REACHED, "{:?}", begin.elapsed());
        // The next client of the same connector begins with the address that answered.
        let connector = to_name(&both);
        timeout(HANG, connector.connect()).await.unwrap().unwrap();
        let begin = Instant::now();
        timeout(HANG, connector.connect()).await.unwrap().unwrap();
        assert!(begin.elapsed() < Duration::from_millis(240), "{:?}", begin.elapsed());
        end(running).await;
    }
}

#[tokio::test]
async fn each_address_is_told_with_what_became_of_it() {
    let silent = Silent::new(V4);
    let elsewhere: SocketAddr = "192.0.2.1:4433".parse().unwrap();
    let error = join(&to_name(&[silent.address(), elsewhere])).await.unwrap_err();
    let text = error.to_string();
    let expected = [
        "arena.test:4433",
        &format!("{}: no server answers", silent.address()),
        "192.0.2.1",
        "--pin",
    ];
    assert!(expected.iter().all(|part| text.contains(part)), "{text}");
    let name: ServerAddress = "arena.test:4433".parse().unwrap();
    let lost = Connector::new(name, Trust::Loopback).unwrap();
    let lost = lost.with_resolver(Resolver::new(|_, _| Err(std::io::Error::other("no such name"))));
    let error = join(&lost).await.unwrap_err().to_string();
    assert!(error.contains("arena.test") && error.contains("no such name"), "{error}");
}

/// An engine's socket thread, as the C library uses it, looks a name up with the system's resolver.
#[tokio::test]
async fn a_socket_thread_takes_a_name() {
    let running = Server::start(&options(&[V4])).unwrap();
    let server: ServerAddress =
        format!("localhost:{}", running.local_addr().port()).parse().unwrap();
    let played = tokio::task::spawn_blocking(move || {
        let begin = Instant::now();
        let now = || Time::since_start(begin.elapsed());
        let name = PlayerName::new("Ann").unwrap();
        let mut client = Client::new(&name, MapHash::ANY, &Credentials::default(), now());
        let mut socket =
            obsp_client::quic::SocketThread::connect(server, Trust::Loopback, Default::default())
                .unwrap();
        while begin.elapsed() < HANG {
            socket.transmit(&mut client);
            socket.receive(&mut client, now());
            match client.poll_event() {
                Some(ConnectionEvent::Joined(_)) => return Ok(begin.elapsed()),
                Some(ConnectionEvent::Disconnected(why)) => return Err(why),
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
        }
        Err(Disconnected::TimedOut)
    });
    let took = played.await.unwrap().unwrap();
    assert!(took < REACHED, "{took:?}");
    end(running).await;
}

/// Case name-with-ipv6-first: by default the server listened on IPv4 only, and nothing said so.
#[tokio::test]
async fn name_with_ipv6_first() {
    assert_eq!(Options::new("m").listen, ["[::]:4433".parse().unwrap()]);
    if !has_ipv6() {
        return;
    }
    for (listen, families) in [
        (vec![Ipv6Addr::UNSPECIFIED.into()], r#"["ipv4","ipv6"]"#),
        (vec![V4], r#"["ipv4"]"#),
        (vec![V6], r#"["ipv6"]"#),
        (vec![V4, V6], r#"["ipv4","ipv6"]"#),
    ] {
        let running = Server::start(&options(&listen)).unwrap();
        let info = get(running.http_addr(), "/info").await.body;
        assert!(info.contains(&format!("\"families\":{families}")), "{info}");
        end(running).await;
    }
}

#[tokio::test]
async fn a_server_listens_at_several_addresses() {
    let second = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
    let running = Server::start(&options(&[V4, second])).unwrap();
    let addresses = running.local_addrs().to_vec();
    assert_eq!(addresses.iter().map(SocketAddr::ip).collect::<Vec<_>>(), [V4, second]);
    for address in addresses {
        let connector = Connector::new(address, Trust::Loopback).unwrap();
        assert_eq!(join(&connector).await.unwrap(), address);
    }
    end(running).await;
}

/// Case query-reply-address: the answer to a query came from an address other than the queried one.
#[tokio::test]
async fn query_reply_address() {
    let unspecified =
        [Some(Ipv4Addr::UNSPECIFIED.into()), has_ipv6().then(|| Ipv6Addr::UNSPECIFIED.into())];
    for any in unspecified.into_iter().flatten() {
        let query = QueryOptions { query: vec![SocketAddr::new(any, 0)] };
        let running = Server::start(&Options { query, ..options(&[any]) }).unwrap();
        // The game's own port answers, too.
        let ports = [running.query_addr().unwrap().port(), running.local_addr().port()];
        let asked = tokio::task::spawn_blocking(move || {
            for port in ports {
                for host in [V4, Ipv4Addr::new(127, 0, 0, 2).into()] {
                    // A connected socket receives only from this address.
                    let socket = UdpSocket::bind((host, 0)).unwrap();
                    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
                    socket.connect((host, port)).unwrap();
                    socket.send(b"\xff\xff\xff\xffTSource Engine Query\0").unwrap();
                    let mut answer = [0; 100];
                    let length = socket.recv(&mut answer).unwrap();
                    assert!(answer[..length].starts_with(b"\xff\xff\xff\xffA"), "{host} {port}");
                }
            }
        });
        asked.await.unwrap();
        // Queries at the game's port do no harm to the game.
        let address = SocketAddr::new(V4, running.local_addr().port());
        assert_eq!(
            join(&Connector::new(address, Trust::Loopback).unwrap()).await.unwrap(),
            address
        );
        end(running).await;
    }
}

/// Case ban-of-an-ipv6-host: the answer says what the ban of a single address covers.
#[tokio::test]
async fn ban_of_an_ipv6_host() {
    let tokens = Administrators::new("addresses-admins");
    let admin = AdminOptions {
        admin: Some(SocketAddr::new(V4, 0)),
        admin_tokens: Some(tokens.path().to_owned()),
    };
    let running = Server::start(&Options { admin, ..options(&[V4]) }).unwrap();
    let server = running.admin_addr().unwrap();
    let ask = |action: AdminAction| {
        let admin_tokens = tokens.path().to_owned();
        let command = AdminCommand { admin: server.into(), admin_tokens, match_name: None, action };
        tokio::task::spawn_blocking(move || server::admin(&command))
    };
    let ban = |subject: &str| AdminAction::Ban {
        subject: subject.to_owned(),
        reason: String::new(),
        time: None,
    };
    let said = ask(ban("fd00:9::aaaa:1")).await.unwrap().unwrap();
    assert!(said.contains("fd00:9::/64") && said.contains("fd00:9::aaaa:1/128"), "{said}");
    let said = ask(ban("fd00:9::aaaa:1/128")).await.unwrap().unwrap();
    assert_eq!(said, "fd00:9::aaaa:1/128 is banned");
    let unban = AdminAction::Unban { subject: "fd00:9::aaaa:1".to_owned() };
    assert!(ask(unban).await.unwrap().unwrap().contains("fd00:9::/64"));
    end(running).await;
}
