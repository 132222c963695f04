use std::sync::Arc;
use std::time::{Duration, Instant};

use obsp_proto::quantise::{Quantised, Quantiser};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use crate::error::RunError;
use crate::telemetry::{Part, RoundMetrics};
use crate::tick_thread::{Frame, Ticks};

/// Players whose news leave together. Their datagrams fit a client machine's
/// and our own default socket buffer (200 KiB) several times over; an unspread
/// tick of 256 players does not.
const PLAYERS_IN_A_WAVE: usize = 16;

/// Time between two waves: the finest a runtime's timer has.
const WAVE_SPACING: Duration = Duration::from_millis(1);

/// Share of a tick within which all waves must have left.
const SPREAD: u32 = 4;

/// Age from which on a frame is left out if there is a later one: most of a
/// tick at 60 Hz.
const OLD: Duration = Duration::from_millis(12);

/// The news of one tick: the state in integers, and what goes beside it.
#[derive(Clone, Debug)]
pub(crate) struct SnapshotJob {
    pub(crate) state: Arc<Quantised>,
    pub(crate) frame: Arc<Frame>,
}

/// Hands each frame to the connections, group by group, so that a tick's
/// datagrams do not all leave at once.
pub(crate) struct Waves(Vec<watch::Sender<Option<SnapshotJob>>>);

impl Waves {
    /// As many waves as so many players need and a tick has time for.
    pub(crate) fn new(max_players: u16, tick_rate: u32) -> Self {
        let room = Duration::from_secs(1).div_f64(f64::from(tick_rate * SPREAD));
        let most = (room.as_millis() / WAVE_SPACING.as_millis()).max(1) as usize;
        let wanted = usize::from(max_players).div_ceil(PLAYERS_IN_A_WAVE);
        Self((0..wanted.min(most)).map(|_| watch::Sender::new(None)).collect())
    }

    /// The news, in the wave that the fewest share.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Option<SnapshotJob>> {
        match self.0.iter().min_by_key(|wave| wave.receiver_count()) {
            Some(wave) => wave.subscribe(),
            None => unreachable!("there is at least one player and so one wave"),
        }
    }

    /// Rounds each frame once and sends it out in waves, until the match ends.
    pub(crate) async fn run(
        &self,
        mut ticks: Ticks,
        mut cadence: Cadence,
        metrics: &RoundMetrics,
    ) -> Result<(), RunError> {
        let mut quantiser = None;
        loop {
            let frame = match ticks.recv().await {
                Ok(frame) => frame,
                Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => return Ok(()),
            };
            // Ticks that caught up with the clock are told of each. What this
            // thread itself is late with is news no longer.
            let is_old = !ticks.is_empty() && frame.simulated.elapsed() > OLD;
            if is_old || !cadence.is_due(frame.state.tick) {
                continue;
            }
            metrics.close();
            let begin = Instant::now();
            let number = frame.level.number;
            let of_another = |(level, _): &mut (u64, Quantiser)| *level != number;
            if quantiser.as_mut().is_none_or(of_another) {
                quantiser = Some((number, Quantiser::new(frame.level.terms.bounds)));
            }
            let Some((_, quantiser)) = &mut quantiser else { continue };
            let state = Arc::new(quantiser.quantise(&frame.state)?);
            metrics.spent(Part::Quantise, begin);
            for (number, wave) in self.0.iter().enumerate() {
                if number > 0 {
                    tokio::time::sleep(WAVE_SPACING).await;
                }
                let (state, frame) = (Arc::clone(&state), Arc::clone(&frame));
                wave.send_replace(Some(SnapshotJob { state, frame }));
            }
            if !ticks.is_empty() {
                // What has just been handed out is to leave first.
                tokio::time::sleep(WAVE_SPACING).await;
            }
        }
    }
}

/// Decides which ticks clients are told of, if not of all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cadence {
    snapshot_rate: u64,
    tick_rate: u64,
    last: Option<u64>,
}

impl Cadence {
    /// So many snapshots a second, of so many ticks.
    pub(crate) fn new(snapshot_rate: u32, tick_rate: u32) -> Self {
        Self { snapshot_rate: snapshot_rate.into(), tick_rate: tick_rate.into(), last: None }
    }

    /// Whether a snapshot of `tick` is due; ticks are asked for in order, and
    /// may be left out.
    pub(super) fn is_due(&mut self, tick: u64) -> bool {
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
    fn players_are_spread_evenly_over_as_many_waves_as_there_is_time_for() {
        for (players, rate, waves) in [(1, 60, 1), (32, 60, 2), (256, 60, 4), (256, 128, 1)] {
            let spread = Waves::new(players, rate);
            assert_eq!(spread.0.len(), waves, "{players} players at {rate} Hz");
            let _all: Vec<_> = (0..players).map(|_| spread.subscribe()).collect();
            let counts: Vec<_> = spread.0.iter().map(watch::Sender::receiver_count).collect();
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(most - least <= 1, "{counts:?}");
        }
    }
}
