//! Groups of connections: the snapshots of a tick leave group by group, so that its
//! datagrams do not all leave at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use obsp_proto::quantise::{Quantised, Quantiser};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use crate::common::error::RunError;
use crate::matches::telemetry::{Part, RoundMetrics};
use crate::matches::tick_thread::published::{PublishedState, PublishedStates};
use crate::matches::tick_thread::recent_effects::{RecentEffects, TicksEffects};

/// Players whose snapshots leave together. A default socket buffer (200 KiB), the server's or a
/// client machine's, holds their datagrams several times over. It does not hold all datagrams that
/// a tick sends to 256 players.
const PLAYERS_PER_GROUP: usize = 16;

/// Time between two groups: the shortest that tokio's timer can wait.
const GROUP_SPACING: Duration = Duration::from_millis(1);

/// A tick has this many parts, and all groups must have left within one of them.
const SPREAD: u32 = 4;

/// A state older than this is left out if there is a later one. The time is most of a tick at 60
/// Hz.
const OLD: Duration = Duration::from_millis(12);

/// A state to send: rounded to integers, and as it was published.
#[derive(Clone, Debug)]
pub(crate) struct SnapshotJob {
    pub(crate) state: Arc<Quantised>,
    pub(crate) published: Arc<PublishedState>,
    /// The effects of the ticks up to this state.
    pub(crate) effects: TicksEffects,
}

/// Hands each state to the connections, group by group, so that a tick's datagrams do not
/// all leave at once.
pub(crate) struct SendGroups(Vec<watch::Sender<Option<SnapshotJob>>>);

impl SendGroups {
    /// Makes as many groups as `max_players` need, but no more than a tick has time for.
    pub(crate) fn new(max_players: u16, tick_rate: u32) -> Self {
        let room = Duration::from_secs(1).div_f64(f64::from(tick_rate * SPREAD));
        let most = (room.as_millis() / GROUP_SPACING.as_millis()).max(1) as usize;
        let wanted = usize::from(max_players).div_ceil(PLAYERS_PER_GROUP);
        Self((0..wanted.min(most)).map(|_| watch::Sender::new(None)).collect())
    }

    /// The states to send, as the group with the fewest connections receives them.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Option<SnapshotJob>> {
        match self.0.iter().min_by_key(|group| group.receiver_count()) {
            Some(group) => group.subscribe(),
            None => unreachable!("there is at least one player and so one group"),
        }
    }

    /// Rounds each state once and hands it to one group after another, until the match
    /// ends.
    pub(crate) async fn run(
        &self,
        mut states: PublishedStates,
        mut cadence: Cadence,
        metrics: &RoundMetrics,
    ) -> Result<(), RunError> {
        let mut quantiser = None;
        let mut recent = RecentEffects::default();
        loop {
            let published = match states.recv().await {
                Ok(published) => published,
                Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => return Ok(()),
            };
            recent.note(&published);
            // While the match catches up with the clock, clients are sent every tick. A state is
            // left out only if this thread itself is late with it.
            let is_old = !states.is_empty() && published.simulated.elapsed() > OLD;
            if is_old || !cadence.is_due(published.state.tick) {
                continue;
            }
            metrics.close();
            let begin = Instant::now();
            let number = published.level.number;
            let of_another = |(level, _): &mut (u64, Quantiser)| *level != number;
            if quantiser.as_mut().is_none_or(of_another) {
                quantiser = Some((number, Quantiser::new(published.level.match_info.bounds)));
            }
            let Some((_, quantiser)) = &mut quantiser else { continue };
            let state = Arc::new(quantiser.quantise_with(&published.state, &published.values)?);
            metrics.spent(Part::Quantise, begin);
            for (number, group) in self.0.iter().enumerate() {
                if number > 0 {
                    tokio::time::sleep(GROUP_SPACING).await;
                }
                let (state, published) = (Arc::clone(&state), Arc::clone(&published));
                let effects = recent.ticks();
                group.send_replace(Some(SnapshotJob { state, published, effects }));
            }
            if !states.is_empty() {
                // The snapshots that were just handed out leave first.
                tokio::time::sleep(GROUP_SPACING).await;
            }
        }
    }
}

/// Decides for which ticks clients are sent a snapshot, if not for all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cadence {
    snapshot_rate: u64,
    tick_rate: u64,
    last: Option<u64>,
}

impl Cadence {
    /// A cadence of `snapshot_rate` snapshots a second, at `tick_rate` ticks a second.
    pub(crate) fn new(snapshot_rate: u32, tick_rate: u32) -> Self {
        Self { snapshot_rate: snapshot_rate.into(), tick_rate: tick_rate.into(), last: None }
    }

    /// Whether a snapshot of `tick` is due. Callers ask for ticks in order, and may leave some out.
    pub(crate) fn is_due(&mut self, tick: u64) -> bool {
        let number = tick * self.snapshot_rate / self.tick_rate;
        self.last.replace(number) != Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_come_evenly_at_their_rate() {
        for (snapshots, ticks) in [(60, 60), (20, 60), (25, 64), (1, 128)] {
            let mut cadence = Cadence::new(snapshots, ticks);
            let due = (1..=u64::from(ticks) * 10).filter(|&tick| cadence.is_due(tick)).count();
            assert!(due.abs_diff(snapshots as usize * 10) <= 1, "{due} of {snapshots} a second");
        }
    }

    #[test]
    fn players_are_spread_evenly_over_as_many_groups_as_there_is_time_for() {
        for (players, rate, groups) in [(1, 60, 1), (32, 60, 2), (256, 60, 4), (256, 128, 1)] {
            let spread = SendGroups::new(players, rate);
            assert_eq!(spread.0.len(), groups, "{players} players at {rate} Hz");
            let _all: Vec<_> = (0..players).map(|_| spread.subscribe()).collect();
            let counts: Vec<_> = spread.0.iter().map(watch::Sender::receiver_count).collect();
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(most - least <= 1, "{counts:?}");
        }
    }
}
