//! Players' input that the server does not use. Losses above the thresholds of the alerts
//! (`deploy/prometheus/rules.yml`) are logged, at most once a minute.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use obsp_proto::server::JitterStats;
use tracing::warn;

/// Time over which rates are averaged, and least time between two log lines of one kind. A player
/// whose connection is lost is dropped after a shorter time.
const WINDOW: Duration = Duration::from_secs(60);

/// A loss is reported if, on average, more players than this had none of their commands used: one
/// player, less a margin for rounding.
const UNUSED_PLAYERS: f64 = 0.9;

/// Early commands are reported if they are more than this share of the accepted ones and more than
/// [`EARLY_A_SECOND`].
const EARLY_SHARE: f64 = 0.5;
/// Up to this many early commands a second are never reported, because as many follow a stall.
const EARLY_A_SECOND: f64 = 10.0;

/// The kernel may drop this many datagrams a second without a report, because a single stall fills
/// its buffer once.
const DROPS_A_SECOND: f64 = 5.0;

/// The counts since the server began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) commands: JitterStats,
    /// Datagrams that the kernel dropped; 0 where it gives no count.
    pub(super) kernel_drops: u64,
}

/// A loss that lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Loss {
    /// This many players stand still because none of their commands is used.
    Unused { players: f64 },
    /// This many commands a second are for ticks too far ahead.
    Early { per_second: f64 },
    /// The kernel drops this many datagrams a second.
    KernelDrops { per_second: f64 },
}

/// Remembers the counts of a minute, and when each loss was logged. It reads no clock.
#[derive(Debug)]
pub(super) struct InputLosses {
    /// Counts and their times, the oldest first. Once the server has run for [`WINDOW`], the oldest
    /// counts have that age.
    counts: VecDeque<(Instant, Counts)>,
    /// When each kind of loss was logged last.
    logged: [Option<Instant>; 3],
    tick_rate: f64,
}

impl InputLosses {
    pub(super) fn new(tick_rate: u16) -> Self {
        Self { counts: VecDeque::new(), logged: [None; 3], tick_rate: tick_rate.into() }
    }

    /// The losses to log at `now` with these counts.
    pub(super) fn check(&mut self, now: Instant, counts: Counts) -> Vec<Loss> {
        self.counts.push_back((now, counts));
        let age = |then: Instant| now.saturating_duration_since(then);
        while self.counts.get(1).is_some_and(|&(then, _)| age(then) >= WINDOW) {
            self.counts.pop_front();
        }
        let Some(&(then, before)) = self.counts.front() else { return Vec::new() };
        if age(then) < WINDOW {
            return Vec::new();
        }
        let per_second = |count: fn(&Counts) -> u64| {
            count(&counts).saturating_sub(count(&before)) as f64 / age(then).as_secs_f64()
        };
        let players = per_second(|counts| counts.commands.neutral) / self.tick_rate;
        let early = per_second(|counts| counts.commands.early);
        let accepted = per_second(|counts| counts.commands.accepted);
        let drops = per_second(|counts| counts.kernel_drops);
        let losses = [
            (players > UNUSED_PLAYERS).then_some(Loss::Unused { players }),
            (early > EARLY_A_SECOND && early > EARLY_SHARE * accepted)
                .then_some(Loss::Early { per_second: early }),
            (drops > DROPS_A_SECOND).then_some(Loss::KernelDrops { per_second: drops }),
        ];
        let mut due = Vec::new();
        for (loss, logged) in losses.into_iter().zip(&mut self.logged) {
            if let Some(loss) = loss
                && logged.is_none_or(|then| age(then) >= WINDOW)
            {
                *logged = Some(now);
                due.push(loss);
            }
        }
        due
    }
}

impl Loss {
    /// Logs the loss, with the name of the alert for it.
    pub(super) fn tell(self) {
        let alert = self.alert();
        match self {
            Self::Unused { players } => warn!(
                alert,
                "in the last minute {players:.1} players stood still because none of their \
                 commands was used; their clocks may be off, or all their packets may get lost"
            ),
            Self::Early { per_second } => warn!(
                alert,
                "in the last minute {per_second:.0} commands a second were dropped because they \
                 were for ticks too far ahead; the clients may not follow the server's clock"
            ),
            Self::KernelDrops { per_second } => warn!(
                alert,
                "in the last minute the kernel dropped {per_second:.0} datagrams a second before \
                 the server read them: raise the UDP buffers (net.core.rmem_max), and check that \
                 the network thread gets CPU time"
            ),
        }
    }

    fn alert(self) -> &'static str {
        match self {
            Self::Unused { .. } => "ArenaCommandsUnused",
            Self::Early { .. } => "ArenaCommandsEarly",
            Self::KernelDrops { .. } => "ArenaUdpReceiveDrops",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a server, whose counts grow by `each`, every ten seconds. Returns the losses that
    /// were due, each with its time in seconds.
    fn due_losses(seconds: u64, each: impl Fn(u64) -> Counts) -> Vec<(u64, Loss)> {
        let (begin, mut losses, mut sum) =
            (Instant::now(), InputLosses::new(60), Counts::default());
        let mut due = Vec::new();
        for second in (0..=seconds).step_by(10) {
            let found = losses.check(begin + Duration::from_secs(second), sum);
            due.extend(found.into_iter().map(|loss| (second, loss)));
            let more = each(second);
            sum.commands.accepted += more.commands.accepted;
            sum.commands.early += more.commands.early;
            sum.commands.neutral += more.commands.neutral;
            sum.kernel_drops += more.kernel_drops;
        }
        due
    }

    fn counts(accepted: u64, early: u64, neutral: u64, kernel_drops: u64) -> Counts {
        let commands = JitterStats { accepted, early, neutral, ..JitterStats::default() };
        Counts { commands, kernel_drops }
    }

    #[test]
    fn losses_that_pass_are_not_told() {
        assert_eq!(due_losses(3600, |_| counts(4800, 20, 10, 10)), []);
        // A player whose line is lost stands still for 45 s at most.
        let lost = |second| counts(4200, 0, if (100..145).contains(&second) { 600 } else { 0 }, 0);
        assert_eq!(due_losses(600, lost), []);
        // After a stall, three seconds of eight players' commands come too early, and 300 datagrams
        // do not fit into the kernel's buffer.
        let stalled = |second| match second {
            100 => counts(3000, 1440, 0, 299),
            _ => counts(4800, 0, 0, 0),
        };
        assert_eq!(due_losses(600, stalled), []);
    }

    #[test]
    fn players_without_commands_are_told_once_a_minute() {
        let paralysed =
            |second| if second < 60 { counts(600, 0, 0, 0) } else { counts(0, 0, 600, 0) };
        let due = due_losses(300, paralysed);
        let times: Vec<_> = due.iter().map(|(second, _)| *second).collect();
        assert_eq!(times, [120, 180, 240, 300], "{due:?}");
        assert_eq!(due[0].1, Loss::Unused { players: 1.0 });
    }

    #[test]
    fn early_commands_and_drops_of_the_kernel_are_told() {
        assert_eq!(
            due_losses(60, |_| counts(0, 1200, 0, 0)),
            [(60, Loss::Early { per_second: 120.0 })]
        );
        let drops = [(60, Loss::KernelDrops { per_second: 7.0 })];
        assert_eq!(due_losses(60, |_| counts(4800, 0, 0, 70)), drops);
    }

    /// The log has the thresholds of the alerts.
    #[test]
    fn the_log_measures_as_the_alerts_do() {
        let rules = include_str!("../../../../../deploy/prometheus/rules.yml");
        let rule = |alert: &str| {
            let (_, rest) = rules.split_once(&format!("- alert: {alert}\n")).unwrap();
            rest.split("- alert: ").next().unwrap()
        };
        let of = |loss: Loss| rule(loss.alert());
        let unused = of(Loss::Unused { players: 1.0 });
        assert!(unused.contains(&format!("(game_tick_rate_hertz) > {UNUSED_PLAYERS}")), "{unused}");
        let early = of(Loss::Early { per_second: 1.0 });
        assert!(early.contains(&format!("> {EARLY_SHARE} *")), "{early}");
        assert!(early.contains(&format!("> {EARLY_A_SECOND}\n")), "{early}");
        let drops = of(Loss::KernelDrops { per_second: 1.0 });
        assert!(drops.contains(&format!("[1m]) > {DROPS_A_SECOND}\n")), "{drops}");
    }
}
