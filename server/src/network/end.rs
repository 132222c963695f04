//! Why and how a connection ended: one [`Reason`] that is counted, logged and sent to the client,
//! and the connection's statistics at the end.

use std::net::SocketAddr;

use obsp_proto::ProtocolError;
use obsp_proto::control::{PlayerName, Reason, RefusalReason};
use obsp_sim::EntityId;
use quinn::{ConnectionError, ReadError, VarInt};
use tracing::info;

use super::feed::{Broken, Feed};
use super::path::Path;
use crate::door::admission::limit::Limit;
use crate::matches::telemetry::Connected;

/// Application error code of a connection that ends by the rules of the protocol. The control
/// stream says why.
pub(super) const DONE: VarInt = VarInt::from_u32(0);

/// Limit of characters of a detail that are kept, because a client writes some details.
const MAX_DETAIL: usize = 200;

/// Why a connection ends.
#[derive(Debug)]
pub(super) struct End {
    /// The reason that is counted.
    pub(super) reason: Reason,
    /// A detail beyond the reason, for the log.
    pub(super) detail: Option<String>,
    /// Whether the reason can still be sent to the client.
    pub(super) is_heard: bool,
    /// Code to close the connection with.
    pub(super) code: VarInt,
}

impl End {
    /// An end with a detail beside its reason.
    pub(super) fn with_detail(reason: Reason, detail: impl ToString) -> Self {
        let detail = detail.to_string().chars().take(MAX_DETAIL).collect();
        Self { detail: Some(detail), ..Self::from(reason) }
    }

    /// The end of a client that sends more than any client needs.
    pub(super) fn flooding(limit: Limit) -> Self {
        Self { is_heard: false, ..Self::with_detail(Reason::Flooding, limit.label()) }
    }

    /// The cause of the end of `connection`, or `otherwise` if it is still open.
    pub(super) fn of(connection: &quinn::Connection, otherwise: Self) -> Self {
        connection.close_reason().map_or(otherwise, |error| Self::from(&error))
    }

    /// The reason phrase to close the connection with.
    pub(super) fn phrase(&self) -> String {
        let code = self.reason.code();
        match &self.detail {
            Some(detail) if self.code != DONE => format!("{code}: {detail}"),
            _ => code.to_owned(),
        }
    }

    /// Turns the end of a client that has not joined into a refusal. An end whose reason is not a
    /// refusal becomes [`Reason::NoHello`], with that reason as its detail.
    pub(super) fn before_joining(self) -> Self {
        if self.reason.refuses() {
            return self;
        }
        let detail = self.detail.unwrap_or_else(|| self.reason.to_string());
        Self { reason: Reason::NoHello, detail: Some(detail), ..self }
    }

    /// Logs the end of a connection that had no session yet.
    pub(super) fn log_without_session(&self, connected: &Connected, address: SocketAddr) {
        info!(
            reason = self.reason.code(),
            detail = self.detail,
            connection = connected.number(),
            %address,
            "refused: {}",
            self.reason,
        );
    }
}

impl From<Reason> for End {
    fn from(reason: Reason) -> Self {
        let gone = [Reason::Left, Reason::Closed, Reason::Lost, Reason::Unread];
        Self { reason, detail: None, is_heard: !gone.contains(&reason), code: DONE }
    }
}

impl From<&RefusalReason> for End {
    fn from(reason: &RefusalReason) -> Self {
        Self::with_detail(Reason::from(reason), reason)
    }
}

impl From<ProtocolError> for End {
    fn from(error: ProtocolError) -> Self {
        let code = VarInt::from_u32(error.code());
        Self { code, is_heard: false, ..Self::with_detail(Reason::Malformed, error) }
    }
}

impl From<Broken> for End {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Silent => Reason::TimedOut.into(),
            Broken::NoDatagrams => Reason::NoDatagrams.into(),
            Broken::Unread => Reason::Unread.into(),
            Broken::FellBehind => Reason::FellBehind.into(),
        }
    }
}

impl From<&ConnectionError> for End {
    fn from(error: &ConnectionError) -> Self {
        let reason = match error {
            ConnectionError::ApplicationClosed(_) => Reason::Closed,
            ConnectionError::TimedOut => Reason::TimedOut,
            // A connection that this side has closed is lost, too. While a client is served, only
            // the WebTransport library closes its connection. It does so when the line has timed
            // out, and quinn then reports the close instead of the time-out.
            _ => Reason::Lost,
        };
        Self::with_detail(reason, error)
    }
}

impl From<&ReadError> for End {
    fn from(error: &ReadError) -> Self {
        match error {
            ReadError::ConnectionLost(error) => error.into(),
            error => Self::with_detail(Reason::Closed, error),
        }
    }
}

/// The client of a connection, for the log.
pub(super) struct Client<'a> {
    /// The client's role: `player`, `spectator`, or none yet.
    pub(super) role: Option<&'static str>,
    /// The entity of a player.
    pub(super) player: Option<EntityId>,
    /// The name that the client's hello asked for, if it sent one.
    pub(super) name: Option<&'a PlayerName>,
    pub(super) connected: &'a Connected,
}

impl<P: Path> Feed<'_, P> {
    /// Logs why and how a client's connection ended. `players` is the number of players who remain.
    pub(super) fn log_end(&mut self, client: &Client<'_>, end: &End, players: usize) {
        let now = self.game.now();
        let silence = now.since(self.session.last_received()).as_secs_f64();
        let tick_rate = f64::from(self.level.match_info.tick_rate.get());
        let stats = self.path.connection().stats();
        // Each expansion is a callsite of its own, and the log limits each callsite by itself. So a
        // flood of refusals does not hide the players who left.
        macro_rules! log {
            ($($message:tt)*) => {
                info!(
                    reason = end.reason.code(),
                    detail = end.detail,
                    connection = client.connected.number(),
                    address = %self.path.connection().remote_address(),
                    slot = client.player.map(|player| player.slot),
                    generation = client.player.map(|player| player.generation),
                    name = client.name.map(PlayerName::as_str),
                    seconds = tenths(client.connected.age().as_secs_f64()),
                    ticks_unheard = (silence * tick_rate) as u64,
                    rtt_ms = tenths(stats.path.rtt.as_secs_f64() * 1000.0),
                    packets_sent = stats.path.sent_packets,
                    packets_lost = stats.path.lost_packets,
                    bytes_sent = stats.udp_tx.bytes,
                    bytes_received = stats.udp_rx.bytes,
                    budget_bytes = self.budget.available(now),
                    players,
                    $($message)*
                )
            };
        }
        match client.role {
            Some(role) => log!("{role} left: {}", end.reason),
            None => log!("refused: {}", end.reason),
        }
    }
}

/// Rounds to a tenth, for readers of the log.
fn tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use obsp_proto::DatagramError;

    use super::*;
    use crate::network::away::may_come_back;

    /// Guards against a past fault: now and then a page whose line was lost came back as another
    /// player. The WebTransport library closes a connection whose stream broke off at the time-out.
    /// If its task ran first, the server took this close for its own shutdown.
    #[test]
    fn a_connection_that_was_closed_under_its_conversation_is_lost() {
        for error in [ConnectionError::LocallyClosed, ConnectionError::TimedOut] {
            assert!(may_come_back(End::from(&error).reason), "{error}");
        }
    }

    #[test]
    fn a_client_that_goes_before_its_hello_is_refused_for_want_of_one() {
        let gone = End::from(&ConnectionError::Reset).before_joining();
        assert_eq!((gone.reason, gone.detail.as_deref()), (Reason::NoHello, Some("reset by peer")));
        let gone = End::from(Reason::TimedOut).before_joining();
        assert_eq!(gone.reason, Reason::NoHello);
        assert!(gone.detail.unwrap().contains("too long"));
        for reason in Reason::ALL {
            assert!(End::from(reason).before_joining().reason.refuses(), "{reason:?}");
        }
    }

    #[test]
    fn a_close_begins_with_the_code_and_details_are_bounded() {
        let end = End::from(ProtocolError::Datagram(DatagramError::Truncated));
        assert_eq!(end.code, VarInt::from_u32(4));
        assert!(end.phrase().starts_with("malformed: datagram: "), "{}", end.phrase());
        assert_eq!(End::from(&RefusalReason::BadName).phrase(), "bad_name");
        let long = End::with_detail(Reason::Closed, "ä".repeat(5000));
        assert_eq!(long.detail.unwrap().chars().count(), MAX_DETAIL);
    }
}
