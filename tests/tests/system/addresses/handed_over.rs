//! Sockets that a service manager has bound and hands over, as systemd does (`LISTEN_FDS`).

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use obsp_client::quic::{Connector, Trust};
use tests::harness::pages::get;
use tests::harness::{ServerProcess, own_map};

use crate::addresses::{V4, join};

/// Starts a server that gets these sockets as its descriptors 3 and 4, under these names.
fn start(udp: &UdpSocket, tcp: &TcpListener, names: &str, pid: &str) -> Child {
    let script = format!(
        "exec 3<&0 4<&1 0</dev/null 1>/dev/null; \
         LISTEN_FDS=2 LISTEN_PID={pid} LISTEN_FDNAMES={names} exec \"$@\""
    );
    let map = own_map("arena.obsp").to_string_lossy().into_owned();
    let elsewhere = SocketAddr::new(V4, 0).to_string();
    let server =
        ServerProcess::command(&["--map", &map, "--listen", &elsewhere, "--http", &elsewhere]);
    Command::new("sh")
        .args(["-c", &script, "sh"])
        .arg(server.get_program())
        .args(server.get_args())
        .stdin(OwnedFd::from(udp.try_clone().unwrap()))
        .stdout(OwnedFd::from(tcp.try_clone().unwrap()))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn sockets() -> (UdpSocket, TcpListener) {
    (UdpSocket::bind((V4, 0)).unwrap(), TcpListener::bind((V4, 0)).unwrap())
}

/// Reads the log until the server is ready.
fn ready(child: &mut Child) -> String {
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("metrics on http://") {
        assert_ne!(log.read_line(&mut said).unwrap(), 0, "the server ended:\n{said}");
    }
    child.stderr = Some(log.into_inner());
    said
}

#[tokio::test]
async fn sockets_of_the_service_manager_take_the_place_of_the_options() {
    for names in ["listen:http", "arena.socket:http"] {
        let (udp, tcp) = sockets();
        let (game, pages) = (udp.local_addr().unwrap(), tcp.local_addr().unwrap());
        let mut child = start(&udp, &tcp, names, "$$");
        let said = ready(&mut child);
        assert!(said.contains(&format!("players join on UDP {game}")), "{said}");
        assert_eq!(join(&Connector::new(game, Trust::Loopback).unwrap()).await.unwrap(), game);
        assert_eq!(get(pages, "/healthz").await.status, 200);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn sockets_of_another_process_are_let_be() {
    let (udp, tcp) = sockets();
    let mut child = start(&udp, &tcp, "listen:http", "1");
    let said = ready(&mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    let game = udp.local_addr().unwrap();
    assert!(!said.contains(&format!("players join on UDP {game}")), "{said}");
}

#[test]
fn a_socket_that_is_not_what_its_name_says_is_told() {
    let (udp, tcp) = sockets();
    // In an earlier version, a TCP listener of any other name served the operators' pages.
    for names in ["http:listen", "listen:query", "listen:arena.socket", "listen:", "listen:public"]
    {
        let mut child = start(&udp, &tcp, names, "$$");
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{said}");
        assert!(said.contains("FileDescriptorName") || said.contains("ListenDatagram="), "{said}");
    }
}
