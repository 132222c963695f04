//! The proxy between real sockets on loopback.

use std::net::UdpSocket as StdSocket;

use super::super::Conditions;
use super::*;

/// Longer than a busy machine needs to pass a datagram on.
const PATIENCE: Duration = Duration::from_secs(10);

fn local() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

fn socket() -> StdSocket {
    let socket = StdSocket::bind(local()).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// The sockets of a server and a client, and the line between them.
fn line(line: Line) -> (StdSocket, StdSocket, Proxy) {
    let (server, client) = (socket(), socket());
    let to = server.local_addr().unwrap();
    let proxy = Proxy::start(Setup { listen: local(), to, line, seed: 1, rebinds: Vec::new() });
    let proxy = proxy.unwrap();
    client.connect(proxy.address()).unwrap();
    (server, client, proxy)
}

fn receive(socket: &StdSocket) -> (Vec<u8>, SocketAddr) {
    let mut bytes = [0; 64];
    let (length, from) = socket.recv_from(&mut bytes).expect("a datagram arrives in time");
    (bytes[..length].to_vec(), from)
}

#[test]
fn datagrams_pass_both_ways_and_each_client_has_its_own_port() {
    let (server, client, proxy) = line(Line::default());
    let other = socket();
    other.connect(proxy.address()).unwrap();
    client.send(b"one").unwrap();
    let (bytes, first) = receive(&server);
    assert_eq!(bytes, b"one");
    other.send(b"two").unwrap();
    let (bytes, second) = receive(&server);
    assert_eq!(bytes, b"two");
    assert_ne!(first, second);
    // A stranger's datagram to the port for the server is ignored.
    socket().send_to(b"stranger", first).unwrap();
    server.send_to(b"to the first", first).unwrap();
    server.send_to(b"to the second", second).unwrap();
    assert_eq!(receive(&client).0, b"to the first");
    assert_eq!(receive(&other).0, b"to the second");
    let stats = loop {
        let stats = proxy.stats();
        if stats.down.delivered == 2 {
            break stats;
        }
        std::thread::yield_now();
    };
    assert_eq!((stats.clients, stats.up.received, stats.up.delivered), (2, 2, 2));
    assert_eq!((stats.up.received_bytes, stats.down.delivered_bytes), (6, 25));
}

#[test]
fn delay_holds_in_each_direction_and_copies_arrive() {
    let delay = Duration::from_millis(60);
    let up = Conditions { delay, duplicate: 1.0, ..Conditions::default() };
    let (server, client, _proxy) = line(Line { up, down: Conditions::default() });
    let begin = Instant::now();
    client.send(b"late").unwrap();
    let (_, from) = receive(&server);
    assert!(begin.elapsed() >= delay, "{:?}", begin.elapsed());
    assert_eq!(receive(&server).0, b"late");
    server.send_to(b"answer", from).unwrap();
    assert_eq!(receive(&client).0, b"answer");
}

#[test]
fn conditions_may_change_while_it_runs() {
    let (server, client, proxy) = line(Line::default());
    client.send(b"before").unwrap();
    receive(&server);
    let lossy = Conditions { loss: 1.0, ..Conditions::default() };
    proxy.set_line(Line { up: lossy, down: Conditions::default() });
    // The thread obeys the order a little later.
    let begin = Instant::now();
    while proxy.stats().up.dropped_loss == 0 {
        client.send(b"lost").unwrap();
        assert!(begin.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(1));
    }
    proxy.set_line(Line::default());
    proxy.blackout(Duration::from_millis(100));
    while proxy.stats().up.dropped_blackout == 0 {
        client.send(b"dark").unwrap();
        assert!(begin.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(150));
    client.send(b"after").unwrap();
    while receive(&server).0 != b"after" {}
}

#[test]
fn a_rebind_gives_a_new_port_and_closes_the_old_one() {
    let (server, client, proxy) = line(Line::default());
    client.send(b"hello").unwrap();
    let (_, old) = receive(&server);
    proxy.rebind();
    let begin = Instant::now();
    let new = loop {
        client.send(b"hello again").unwrap();
        let (_, from) = receive(&server);
        if from != old {
            break from;
        }
        assert!(begin.elapsed() < PATIENCE);
    };
    server.send_to(b"to the old port", old).unwrap();
    server.send_to(b"to the new port", new).unwrap();
    assert_eq!(receive(&client).0, b"to the new port");
}

#[test]
fn a_rebind_comes_at_its_time() {
    let (server, client) = (socket(), socket());
    let to = server.local_addr().unwrap();
    let rebinds = vec![Duration::from_millis(500)];
    let setup = Setup { listen: local(), to, line: Line::default(), seed: 1, rebinds };
    let proxy = Proxy::start(setup).unwrap();
    client.send_to(b"hello", proxy.address()).unwrap();
    let (_, old) = receive(&server);
    std::thread::sleep(Duration::from_millis(700));
    client.send_to(b"hello again", proxy.address()).unwrap();
    assert_ne!(receive(&server).1, old);
}

#[test]
fn an_address_that_is_taken_is_an_error() {
    let taken = socket();
    let listen = taken.local_addr().unwrap();
    let line = Line::default();
    let setup = Setup { listen, to: local(), line, seed: 1, rebinds: Vec::new() };
    assert_eq!(Proxy::start(setup).unwrap_err().kind(), io::ErrorKind::AddrInUse);
}
