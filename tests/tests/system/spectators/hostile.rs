//! Hostile spectators. Each is closed with the protocol's code for its offence and counted, and the
//! other spectators do not notice.

use obsp_proto::Tick;
use obsp_proto::commands::{Acknowledgement, CommandBatch, CommandDatagram};
use obsp_proto::control::{ClientHello, ClientMessage, MapHash, PlayerName, encode_client_message};
use obsp_sim::Command;
use tests::harness::pages::{get, metric};
use tokio::time::timeout;
use web_transport_quinn::{SessionError, WebTransportError};

use crate::spectators::spectator::{HANG, Spectator};
use crate::spectators::{end, options, serve};

/// Snapshots that the witness must still get after each offence: half a second's worth.
const SEEN: usize = 10;

/// The code with which the server closes the session.
async fn sentence(offender: &Spectator) -> u32 {
    let closed = timeout(HANG, offender.web.closed())
        .await
        .expect("the offender's session is closed in time");
    match closed {
        SessionError::WebTransportError(WebTransportError::Closed(code, _)) => code,
        _ => panic!("{closed}"),
    }
}

/// A datagram with a command, which acknowledges a snapshot of the far future.
fn from_the_future() -> Vec<u8> {
    let batch = CommandBatch::new(Tick(5), vec![Command::default()]).unwrap();
    let acknowledgement = Some(Acknowledgement::of(Tick(30_000)));
    CommandDatagram { acknowledgement, batch }.encode()
}

fn hello() -> Vec<u8> {
    let hello = ClientHello::new(MapHash::ANY, &PlayerName::new("twice").unwrap());
    encode_client_message(&ClientMessage::Hello(hello))
}

#[tokio::test]
async fn a_spectator_that_breaks_the_protocol_is_told_the_code() {
    let running = serve(options());
    let mut witness = Spectator::come(&running).await.unwrap();
    let malformed = async || {
        let page = get(running.http_addr(), "/metrics").await.body;
        metric(&page, "game_refusals_total{reason=\"malformed\"}")
    };

    for (counted, (offence, code)) in [
        ("no frame", 2),
        ("no message", 2),
        ("a second hello", 3),
        ("a datagram of nothing", 4),
        ("garbage for a datagram", 4),
        ("the future", 4),
    ]
    .into_iter()
    .enumerate()
    {
        let mut offender = Spectator::come(&running).await.unwrap();
        // The offender is in the match once it gets a snapshot.
        offender.see().await;
        let datagram = |bytes: &[u8]| offender.web.send_datagram(bytes.to_vec().into()).unwrap();
        match offence {
            "no frame" => offender.send.write_all(&[0, 0]).await.unwrap(),
            "no message" => offender.send.write_all(&[1, 0, 250]).await.unwrap(),
            "a second hello" => offender.send.write_all(&hello()).await.unwrap(),
            "a datagram of nothing" => datagram(&[]),
            "garbage for a datagram" => datagram(&[0xa5; 900]),
            _ => datagram(&from_the_future()),
        }
        assert_eq!(sentence(&offender).await, code, "{offence}");
        assert_eq!(malformed().await, (counted + 1) as f64, "{offence}");
        for _ in 0..SEEN {
            assert_ne!(witness.see().await.1, Some(false), "after {offence}");
        }
    }
    end(running).await;
}

#[tokio::test]
async fn a_spectator_that_never_finishes_a_message_is_not_waited_for() {
    let running = serve(options());
    let mut witness = Spectator::come(&running).await.unwrap();
    let web = Spectator::connect(&running).await;
    let (mut send, _receive) = web.open_bi().await.unwrap();
    // Only the beginning of a frame is sent.
    send.write_all(&[200, 0, 0]).await.unwrap();
    let gone = async {
        tokio::select! {
            closed = timeout(HANG, web.closed()) => closed.is_ok(),
            () = async { loop { witness.see().await; } } => unreachable!(),
        }
    };
    assert!(gone.await, "the server still waits for the message");
    let page = get(running.http_addr(), "/metrics").await.body;
    assert_eq!(metric(&page, "game_refusals_total{reason=\"no_hello\"}"), 1.0);
    assert_eq!(metric(&page, "game_connections{state=\"watching\"}"), 1.0);
    end(running).await;
}
