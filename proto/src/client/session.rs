use std::time::Duration;

use sim::{Command, EntityId, EntityState};

use crate::control::{ClosingReason, MapHash, PlayerName, RefusalReason, ServerHello};
use crate::{ProtocolError, Tick, Time};

/// What a session tells its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The server let the client in.
    Joined(ServerHello),
    /// The server did not: close the connection.
    Refused(RefusalReason),
    /// The server ended the session: close the connection.
    Closed(ClosingReason),
    /// The server was silent too long: close the connection.
    TimedOut,
}

/// A snapshot that was new and has been taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotReceived {
    /// The tick it is of.
    pub tick: Tick,
    /// How long after the one received before it came; `None` for the first.
    pub gap: Option<Duration>,
    /// Whether its digest agreed; `None` if it had none that could be checked.
    pub digest_agrees: Option<bool>,
}

/// A datagram of commands to be sent now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSent {
    /// The tick the command is for. Ticks skipped since the last one, if any,
    /// get the same command.
    pub tick: Tick,
    /// The datagram.
    pub datagram: Vec<u8>,
}

/// What a session has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionStats {
    /// Snapshots taken in.
    pub snapshots: u64,
    /// Their bytes.
    pub snapshot_bytes: u64,
    /// Snapshots that came twice.
    pub duplicates: u64,
    /// Snapshots that came too late to be of use.
    pub stale: u64,
    /// Snapshots that never came, as far as the ticks tell.
    pub missing: u64,
    /// Digests checked.
    pub digests: u64,
    /// Digests that did not agree: a defect in either end's codec.
    pub digest_mismatches: u64,
    /// Entity records decoded.
    pub records: u64,
    /// Command datagrams sent.
    pub command_datagrams: u64,
    /// Their bytes.
    pub command_bytes: u64,
}

/// A client's end of one connection: bytes and a time in, bytes and events out.
#[derive(Debug)]
pub struct Session {}

impl Session {
    /// A session that asks to join as `name` with the map it has, or
    /// [`MapHash::ANY`].
    pub fn new(name: &PlayerName, map: MapHash, now: Time) -> Self {
        let _ = (name, map, now);
        unimplemented!()
    }

    /// Takes in what came on the control stream.
    ///
    /// # Errors
    /// The server broke the protocol: the session is over, and the caller
    /// closes the connection with the error's code.
    pub fn receive_stream(&mut self, now: Time, bytes: &[u8]) -> Result<Vec<Event>, ProtocolError> {
        let _ = (now, bytes);
        unimplemented!()
    }

    /// Takes in a datagram; `None` if it was a duplicate, stale, or came
    /// before the hello.
    ///
    /// # Errors
    /// As [`Session::receive_stream`].
    pub fn receive_datagram(
        &mut self,
        now: Time,
        bytes: &[u8],
    ) -> Result<Option<SnapshotReceived>, ProtocolError> {
        let _ = (now, bytes);
        unimplemented!()
    }

    /// Lets time pass; call it as often as convenient.
    pub fn advance(&mut self, now: Time) -> Option<Event> {
        let _ = now;
        unimplemented!()
    }

    /// Bytes to be written to the control stream; ask after each other call.
    pub fn stream_output(&mut self) -> Vec<u8> {
        unimplemented!()
    }

    /// Says goodbye: write [`Session::stream_output`], finish the stream, and
    /// let the server close the connection.
    pub fn leave(&mut self) {
        unimplemented!()
    }

    /// When the next command is due; `None` while the client has not joined.
    pub fn next_command_at(&self) -> Option<Time> {
        unimplemented!()
    }

    /// Gives the command for the tick that is due; `None` if none is due yet.
    pub fn command(&mut self, now: Time, command: Command) -> Option<CommandSent> {
        let _ = (now, command);
        unimplemented!()
    }

    /// The terms of the match, once joined.
    pub fn hello(&self) -> Option<&ServerHello> {
        unimplemented!()
    }

    /// The entity this client steers, once joined.
    pub fn player(&self) -> Option<EntityId> {
        unimplemented!()
    }

    /// Whether the session has ended, one way or another.
    pub fn is_over(&self) -> bool {
        unimplemented!()
    }

    /// The tick of the latest snapshot.
    pub fn latest_tick(&self) -> Option<Tick> {
        unimplemented!()
    }

    /// All entities as last heard of, in ascending order of slot.
    pub fn entities(&self) -> impl Iterator<Item = EntityState> {
        std::iter::empty()
    }

    /// One entity as last heard of.
    pub fn entity(&self, id: EntityId) -> Option<EntityState> {
        let _ = id;
        unimplemented!()
    }

    /// What was heard of one entity lately, the oldest first, for those who
    /// interpolate. It did not change between the ticks that are left out, or
    /// the news were lost.
    pub fn history(&self, id: EntityId) -> impl Iterator<Item = (Tick, EntityState)> {
        let _ = id;
        std::iter::empty()
    }

    /// What has been counted.
    pub fn stats(&self) -> &SessionStats {
        unimplemented!()
    }
}
