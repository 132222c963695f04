//! Counts of the datagrams of a proxy, by their fates.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::{Cause, Fate};

/// Counts of a proxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Different client addresses from which datagrams came.
    pub clients: u64,
    /// From clients to the server.
    pub up: Counts,
    /// From the server to clients.
    pub down: Counts,
}

/// The fates of the datagrams of one direction, over all clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Counts {
    /// Datagrams that came.
    pub received: u64,
    /// Bytes of UDP payload that came.
    pub received_bytes: u64,
    /// Datagrams handed on, copies included.
    pub delivered: u64,
    /// Bytes of UDP payload handed on.
    pub delivered_bytes: u64,
    /// Datagrams that were delivered twice.
    pub duplicated: u64,
    /// Datagrams that were held back so that others overtake them.
    pub reordered: u64,
    /// Datagrams dropped because they were larger than the MTU.
    pub dropped_mtu: u64,
    /// Datagrams dropped in a blackout.
    pub dropped_blackout: u64,
    /// Datagrams dropped because the queue of the narrow link was full.
    pub dropped_queue: u64,
    /// Datagrams lost by chance.
    pub dropped_loss: u64,
    /// Datagrams that this machine's own network refused to send.
    pub undeliverable: u64,
    /// Maximum number of datagrams that were under way at once.
    pub most_under_way: u64,
    /// Longest time from a datagram's arrival here to its delivery, in milliseconds.
    pub longest_ms: f64,
}

impl Counts {
    /// Counts the fate of a datagram that came at `now`.
    pub(super) fn note(&mut self, now: Duration, bytes: usize, fate: &Fate) {
        self.received += 1;
        self.received_bytes += bytes as u64;
        match *fate {
            Fate::Arrives { at, copy, held } => {
                self.duplicated += u64::from(copy.is_some());
                self.reordered += u64::from(held);
                let late = at.saturating_sub(now).as_secs_f64() * 1000.0;
                self.longest_ms = self.longest_ms.max(late);
            }
            Fate::Dropped(Cause::Mtu) => self.dropped_mtu += 1,
            Fate::Dropped(Cause::Blackout) => self.dropped_blackout += 1,
            Fate::Dropped(Cause::Queue) => self.dropped_queue += 1,
            Fate::Dropped(Cause::Loss) => self.dropped_loss += 1,
        }
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "clients {}", self.clients)?;
        writeln!(out, "{:6}{}", "up", self.up)?;
        write!(out, "{:6}{}", "down", self.down)
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} datagrams ({} bytes) came, {} ({} bytes) were handed on; dropped: {} lost, \
             {} queue full, {} blackout, {} above the MTU; {} duplicated, {} reordered; \
             at most {} under way at once, for {:.1} ms at most",
            self.received,
            self.received_bytes,
            self.delivered,
            self.delivered_bytes,
            self.dropped_loss,
            self.dropped_queue,
            self.dropped_blackout,
            self.dropped_mtu,
            self.duplicated,
            self.reordered,
            self.most_under_way,
            self.longest_ms,
        )?;
        if self.undeliverable > 0 {
            write!(out, "; {} refused by this machine's network", self.undeliverable)?;
        }
        Ok(())
    }
}
