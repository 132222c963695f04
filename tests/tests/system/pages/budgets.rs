//! The limits of one address: the bytes that it is sent, and handshakes that do not end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use server::{Options, OutgoingOptions, Server};
use tests::harness::pages::{connect_from, encrypt, get_encrypted, get_from, read_answer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::pages::{HANG, OTHER, STRANGER, end, options};

const ALL: u32 = 1024 * 1024;
const EACH: u32 = 64 * 1024;

/// Requests a path again and again, over one connection after the other, and counts the bytes.
async fn demand(address: SocketAddr, pin: [u8; 32], path: String, bytes: Arc<AtomicUsize>) {
    loop {
        let Ok(stream) = connect_from(STRANGER, address).await else { continue };
        let Ok(mut stream) = encrypt(stream, address, pin).await else { continue };
        let request = format!("GET {path} HTTP/1.0\r\nhost: test\r\n\r\n");
        let _ = stream.write_all(request.as_bytes()).await;
        let mut chunk = vec![0; 1 << 16];
        while let Ok(length @ 1..) = stream.read(&mut chunk).await {
            bytes.fetch_add(length, Ordering::Relaxed);
        }
    }
}

/// Case: one address requested the map from the public page over 8 to 60 connections. Each new
/// connection had a new budget.
#[tokio::test]
async fn an_address_is_sent_its_budget_and_others_are_served() {
    let outgoing = OutgoingOptions { outgoing_budget: ALL, address_outgoing_budget: EACH };
    let running = Server::start(&Options { outgoing, ..options() }).unwrap();
    let (address, pin) = (running.page_addr().unwrap(), running.certificate_sha256().0);
    let map = format!("/maps/{}", running.map_hash());
    let bytes = Arc::<AtomicUsize>::default();
    let mut attack = JoinSet::new();
    let begin = Instant::now();
    for _ in 0..30 {
        attack.spawn(demand(address, pin, map.clone(), Arc::clone(&bytes)));
    }
    // The 2 MiB that the server sends to an address at once are used up after two seconds.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let asked = Instant::now();
    let stream = connect_from(OTHER, address).await.unwrap();
    let answer = read_answer(encrypt(stream, address, pin).await.unwrap(), &map, "").await;
    assert_eq!(answer.status, 200);
    assert!(asked.elapsed() < Duration::from_secs(3), "an honest visitor waits too long");
    let (taken, seconds) = (bytes.load(Ordering::Relaxed) as f64, begin.elapsed().as_secs_f64());
    attack.abort_all();
    let most = f64::from(EACH) * (32.0 + seconds + 1.0);
    assert!(taken < most, "{taken} bytes in {seconds} s, at most {most}");
    // The address has used up its budget at the other listener, too.
    let again = timeout(Duration::from_secs(1), get_from(STRANGER, running.http_addr(), &map));
    assert!(again.await.is_err(), "the other listener has a budget of its own");
    end(running).await;
}

/// A ClientHello that claims the greatest length that the protocol allows, and never ends.
fn endless_hello() -> Vec<u8> {
    let mut records = Vec::new();
    for number in 0..3 {
        records.extend([22, 3, 1, 0x40, 0]);
        let mut body = vec![0; 0x4000];
        if number == 0 {
            body[..4].copy_from_slice(&[1, 0, 0xff, 0xf0]);
        }
        records.extend(body);
    }
    records
}

#[tokio::test]
async fn a_handshake_that_does_not_end_is_not_kept() {
    let running = Server::start(&options()).unwrap();
    let (address, pin) = (running.page_addr().unwrap(), running.certificate_sha256().0);
    let mut stream = connect_from(STRANGER, address).await.unwrap();
    let begin = Instant::now();
    let _ = stream.write_all(&endless_hello()).await;
    let mut answer = Vec::new();
    let _ = timeout(HANG, stream.read_to_end(&mut answer)).await.expect("the server closes it");
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert_eq!(get_encrypted(address, pin, "/").await.status, 200);
    end(running).await;
}
