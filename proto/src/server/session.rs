use std::num::NonZeroU16;
use std::sync::Arc;

use sim::EntityId;

use crate::commands::CommandBatch;
use crate::control::{ClosingReason, MapHash, MapName, PlayerName, RefusalReason};
use crate::quantise::{Quantised, WorldBounds};
use crate::snapshot::Lead;
use crate::{ProtocolError, Tick, Time};

/// What a server offers to all its clients.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Ticks a second.
    pub tick_rate: NonZeroU16,
    /// Snapshots a second.
    pub snapshot_rate: NonZeroU16,
    /// Which map is played.
    pub map: MapHash,
    /// What that map is called.
    pub map_name: MapName,
    /// The lattice that positions are rounded to.
    pub bounds: WorldBounds,
    /// How many players are taken.
    pub player_limit: u16,
}

/// What a session tells its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A client that fits would like to join: answer with
    /// [`Session::accept`] or [`Session::refuse`].
    Hello {
        /// What it wants to be called.
        name: PlayerName,
    },
    /// The client did not fit and has been told why: write
    /// [`Session::stream_output`], finish the stream and forget the session.
    Refused(RefusalReason),
    /// The client said goodbye: close the connection without an error.
    Left,
    /// The client was silent too long: write [`Session::stream_output`] and
    /// close the connection.
    TimedOut,
}

/// What a session has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionStats {
    /// Snapshots encoded.
    pub snapshots: u64,
    /// Their bytes.
    pub snapshot_bytes: u64,
    /// Snapshots the client has acknowledged.
    pub acknowledged: u64,
    /// Entity records written, removals included.
    pub records: u64,
    /// Records that had no place in their snapshot and had to wait.
    pub postponed: u64,
    /// Command datagrams received.
    pub command_datagrams: u64,
}

/// One client as the server sees it: bytes and a time in, bytes and events out.
#[derive(Debug)]
pub struct Session {}

impl Session {
    /// A session for a connection just made.
    pub fn new(terms: Arc<Terms>, now: Time) -> Self {
        let _ = (terms, now);
        unimplemented!()
    }

    /// Takes in what came on the control stream.
    ///
    /// # Errors
    /// The client broke the protocol: the session is over, and the caller
    /// closes the connection with the error's code.
    pub fn receive_stream(&mut self, now: Time, bytes: &[u8]) -> Result<Vec<Event>, ProtocolError> {
        let _ = (now, bytes);
        unimplemented!()
    }

    /// Takes in a datagram and gives the commands in it; `None` while the
    /// client has not joined.
    ///
    /// # Errors
    /// As [`Session::receive_stream`].
    pub fn receive_datagram(
        &mut self,
        now: Time,
        bytes: &[u8],
    ) -> Result<Option<CommandBatch>, ProtocolError> {
        let _ = (now, bytes);
        unimplemented!()
    }

    /// Lets time pass; call it at [`Session::next_timeout`] at the latest, or
    /// as often as convenient.
    pub fn advance(&mut self, now: Time) -> Option<Event> {
        let _ = now;
        unimplemented!()
    }

    /// When silence ends the session; `None` if it is over.
    pub fn next_timeout(&self) -> Option<Time> {
        unimplemented!()
    }

    /// Bytes to be written to the control stream; ask after each other call.
    pub fn stream_output(&mut self) -> Vec<u8> {
        unimplemented!()
    }

    /// Lets the client in who said hello, as `player`; `tick` is the last one
    /// simulated. Does nothing unless an [`Event::Hello`] waits for its answer.
    pub fn accept(&mut self, player: EntityId, tick: Tick) {
        let _ = (player, tick);
        unimplemented!()
    }

    /// Turns the client away who said hello; the session is over then.
    pub fn refuse(&mut self, reason: RefusalReason) {
        let _ = reason;
        unimplemented!()
    }

    /// Ends the session and tells the client why.
    pub fn close(&mut self, reason: ClosingReason) {
        let _ = reason;
        unimplemented!()
    }

    /// The entity the client steers, while it has joined.
    pub fn player(&self) -> Option<EntityId> {
        unimplemented!()
    }

    /// Whether the session has ended, one way or another.
    pub fn is_over(&self) -> bool {
        unimplemented!()
    }

    /// The snapshot of `state` for this client, at most `limit` bytes: the
    /// size that the path carries now, or less to save bandwidth. `None` if
    /// the client has not joined, the state is no later than the last one
    /// encoded, or the limit leaves no room for a header
    /// ([`crate::snapshot::MIN_SNAPSHOT`]).
    ///
    /// A snapshot once encoded may be dropped instead of sent: to the session
    /// it is one that the line lost.
    pub fn encode_snapshot(
        &mut self,
        state: &Arc<Quantised>,
        lead: Option<Lead>,
        limit: usize,
    ) -> Option<Vec<u8>> {
        let _ = (state, lead, limit);
        unimplemented!()
    }

    /// What has been counted.
    pub fn stats(&self) -> &SessionStats {
        unimplemented!()
    }
}
