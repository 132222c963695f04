//! A player whose connection is lost rejoins as the same player while the ticket is valid.

use std::time::{Duration, Instant};

use obsp_client::quic::Client;
use obsp_client::{Credentials, Disconnected};
use obsp_proto::control::{
    ClientHello, ClientMessage, ClosingReason, MapHash, MatchEvent, encode_client_message,
};
use server::{JoiningOptions, Options, Server};
use tests::harness::pages::{get, metric};

use crate::joining::{HANG, connector, end, join, lost, name, options, play};

#[tokio::test]
async fn a_player_whose_connection_is_lost_rejoins_as_the_same_player() {
    let joining = JoiningOptions { rejoin: Duration::from_secs(2), ..JoiningOptions::default() };
    let running = Server::start(&Options { joining, ..options(2) }).unwrap();
    let mut witness = join(&running, "witness", &Credentials::default()).await.unwrap();
    let mut first = join(&running, "ann", &Credentials::default()).await.unwrap();
    assert_eq!(first.session().hello().unwrap().rejoin_seconds, 2);
    let (body, ticket) = (first.session().player().unwrap(), first.ticket());
    let moved = |client: &mut Client, _| {
        client.motion().map(|(_, motion)| motion.position).filter(|at| at.length() > 1.0)
    };
    play(&mut first, 127, moved).await.unwrap();

    // The older connection is still open. The newer one takes over.
    let by = Credentials { ticket, ..Credentials::default() };
    let second = join(&running, "whoever", &by).await.unwrap();
    assert_eq!(second.session().player(), Some(body));
    assert!(matches!(lost(&mut first, 0).await, Disconnected::Closed(ClosingReason::Replaced)));
    // This connection never reads the server's hello, so its ticket stays valid.
    let unheard = connector(&running).connect().await.unwrap();
    let (mut send, _receive) = unheard.open_bi().await.unwrap();
    let hello = ClientHello::new(MapHash::ANY, &name("ann")).with_ticket(ticket);
    send.write_all(&encode_client_message(&ClientMessage::Hello(hello))).await.unwrap();
    let rejoins = async || {
        let page = get(running.http_addr(), "/metrics").await.body;
        assert_eq!(metric(&page, "game_players"), 2.0);
        metric(&page, "game_rejoins_total")
    };
    let begin = Instant::now();
    while rejoins().await < 2.0 {
        assert!(begin.elapsed() < HANG, "the server does not accept the second rejoin");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut third = join(&running, "ann", &by).await.unwrap();
    assert_eq!(third.session().player(), Some(body));
    while rejoins().await < 3.0 {
        assert!(begin.elapsed() < 2 * HANG, "the server does not accept the third rejoin");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(rejoins().await, 3.0);
    play(&mut third, 0, |client, _| client.motion()).await.unwrap();

    // The other player saw nobody leave or come.
    let mut heard = Vec::new();
    let until = Instant::now() + Duration::from_secs(1);
    play(&mut witness, 0, |_, event| {
        heard.extend(event);
        (Instant::now() > until).then_some(())
    })
    .await
    .unwrap();
    let left = heard.iter().any(|event| matches!(event, MatchEvent::Left { .. }));
    let joined = heard.iter().filter(|event| matches!(event, MatchEvent::Joined { .. })).count();
    assert!(!left && joined == 2, "{heard:?}");
    // A ticket is void after a goodbye.
    let ticket = third.ticket();
    third.leave().await;
    let by = Credentials { ticket, ..Credentials::default() };
    let other = join(&running, "bob", &by).await.unwrap();
    assert_ne!(other.session().player(), Some(body));
    drop((witness, second, unheard, other));
    end(running).await;
}
