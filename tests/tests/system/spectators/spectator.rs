//! A spectator over WebTransport.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use obsp_proto::client::{Event, Session};
use obsp_proto::control::{
    ClientHello, ClosingReason, MapHash, MatchEvent, MatchName, PlayerName, RefusalReason,
};
use obsp_proto::effects::Effect;
use obsp_proto::quantise::QuantisedEntity;
use obsp_proto::{Tick, Time};
use obsp_sim::Command;
use server::Server;
use tokio::time::timeout;
use web_transport_quinn::{
    ClientBuilder, ClientError, RecvStream, SendStream, Session as WebSession,
};

/// Far longer than anything here takes: only a hang lasts as long.
pub(crate) const HANG: Duration = Duration::from_secs(20);

/// A spectator with the sessions of `obsp_proto`, over WebTransport.
pub(crate) struct Spectator {
    pub(crate) web: WebSession,
    pub(crate) send: SendStream,
    receive: RecvStream,
    pub(crate) session: Session,
    epoch: Instant,
}

impl Spectator {
    /// Opens a session, and sends nothing in it.
    pub(crate) async fn connect(running: &Server) -> WebSession {
        Self::try_connect(running).await.unwrap()
    }

    /// Like [`Spectator::connect`], for a server that may refuse the connection.
    pub(crate) async fn try_connect(running: &Server) -> Result<WebSession, ClientError> {
        let hash = running.certificate_sha256().to_string();
        let byte = |i: usize| u8::from_str_radix(&hash[2 * i..2 * i + 2], 16).unwrap();
        let client =
            ClientBuilder::new().with_server_certificate_hashes(vec![(0..32).map(byte).collect()]);
        let url = format!("https://127.0.0.1:{}/", running.local_addr().port());
        let url: url::Url = url.parse().unwrap();
        timeout(HANG, client.unwrap().connect(url)).await.unwrap()
    }

    /// Joins as a spectator of the first match, or returns the reason of the refusal.
    pub(crate) async fn come(running: &Server) -> Result<Self, RefusalReason> {
        Self::come_to(running, None).await
    }

    /// Like [`Spectator::come`], for the match of this name.
    pub(crate) async fn come_to(
        running: &Server,
        match_name: Option<&MatchName>,
    ) -> Result<Self, RefusalReason> {
        let web = Self::connect(running).await;
        let (send, receive) = web.open_bi().await.unwrap();
        let name = PlayerName::new("spectator").unwrap();
        let hello = ClientHello::new(MapHash::ANY, &name)
            .with_match(match_name.cloned())
            .with_effects(true);
        let session = Session::with_hello(hello, Time::ZERO);
        let mut this = Self { web, send, receive, session, epoch: Instant::now() };
        while this.session.hello().is_none() {
            this.say().await;
            for event in this.hear().await {
                if let Event::Refused(reason) = event {
                    return Err(reason);
                }
            }
        }
        Ok(this)
    }

    fn now(&self) -> Time {
        Time::since_start(self.epoch.elapsed())
    }

    async fn say(&mut self) {
        let output = self.session.stream_output();
        self.send.write_all(&output).await.unwrap();
    }

    async fn hear(&mut self) -> Vec<Event> {
        let mut chunk = [0; 2048];
        let length = timeout(HANG, self.receive.read(&mut chunk)).await.unwrap().unwrap();
        self.session.receive_stream(self.now(), &chunk[..length.unwrap_or(0)]).unwrap()
    }

    /// Waits for the next snapshot and acknowledges it. Returns the snapshot's tick, and whether
    /// its digest agreed; `None` without a digest.
    pub(crate) async fn see(&mut self) -> (Tick, Option<bool>) {
        loop {
            let datagram = timeout(HANG, self.web.read_datagram()).await.unwrap().unwrap();
            let now = self.now();
            let Some(snapshot) = self.session.receive_datagram(now, &datagram).unwrap() else {
                continue;
            };
            if let Some(sent) = self.session.command(now, Command::default(), None) {
                self.web.send_datagram(sent.datagram.into()).unwrap();
            }
            return (snapshot.tick, snapshot.digest_agrees);
        }
    }

    /// The next event of the match, if it has come or comes with the server's next message.
    pub(crate) async fn next_event(&mut self) -> Option<MatchEvent> {
        let latest = Tick(u32::MAX);
        if let Some((_, event)) = self.session.next_event(latest) {
            return Some(event);
        }
        self.hear().await;
        self.session.next_event(latest).map(|(_, event)| event)
    }

    /// Waits until the server ends the session, and returns the reason.
    pub(crate) async fn closing(&mut self) -> ClosingReason {
        loop {
            let closed = self.hear().await.into_iter().find_map(|event| match event {
                Event::Closed(reason) => Some(reason),
                _ => None,
            });
            if let Some(reason) = closed {
                return reason;
            }
        }
    }

    /// The next effect, with its tick.
    pub(crate) async fn next_effect(&mut self) -> (Tick, Effect) {
        loop {
            if let Some(effect) = self.session.next_effect() {
                return effect;
            }
            self.see().await;
        }
    }

    /// The entities that the spectator knows, by slot.
    pub(crate) fn holds(&self) -> BTreeMap<u16, QuantisedEntity> {
        (0..4096).filter_map(|slot| Some((slot, *self.session.quantised(slot)?))).collect()
    }
}
