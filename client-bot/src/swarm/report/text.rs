//! The report as text.

use std::fmt;

use super::{Bottleneck, Errors, Joining, Report, Times};

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_joins(out)?;
        // If no bot has joined, none has measured anything in a match.
        if self.joined > 0 {
            self.write_rates(out)?;
            self.write_times(out)?;
            self.write_prediction(out)?;
            self.write_activity(out)?;
        }
        self.write_failures(out)
    }
}

impl Report {
    /// Writes the failures. A failure that several bots share is written once.
    fn write_failures(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reasons: Vec<(&str, &str, usize)> = Vec::new();
        for failure in &self.failures {
            let reason = failure.split_once(": ").map_or(failure.as_str(), |(_, reason)| reason);
            match reasons.iter_mut().find(|(same, ..)| *same == reason) {
                Some((.., more)) => *more += 1,
                None => reasons.push((reason, failure, 0)),
            }
        }
        reasons.into_iter().try_for_each(|(_, first, more)| match more {
            0 => write!(out, "\n{first}"),
            1 => write!(out, "\n{first} (and one more bot)"),
            _ => write!(out, "\n{first} (and {more} more bots)"),
        })
    }

    fn write_joins(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bots, joined, refused, unreachable, dropped, reconnects, seconds, .. } = self;
        writeln!(
            out,
            "bots                {joined} of {bots} joined, {refused} refused, \
             {unreachable} unreachable, {dropped} dropped, {seconds:.1} s"
        )?;
        for line in &self.greeting {
            writeln!(out, "server says         {line}")?;
        }
        if *reconnects > 0 {
            writeln!(out, "reconnects          {reconnects}")?;
        }
        if self.worlds_min > 1 {
            writeln!(out, "worlds              {} or more", self.worlds_min)?;
        }
        Ok(())
    }

    fn write_rates(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rates = &self.snapshots_per_second;
        writeln!(out, "snapshots/s         mean {:.2}, min {:.2}", rates.mean, rates.min)?;
        writeln!(
            out,
            "server              {:.2} ticks a second",
            self.server_ticks_per_second.mean
        )?;
        let bottleneck = match self.bottleneck {
            Some(Bottleneck::Swarm) => "this swarm's own threads",
            Some(Bottleneck::Server) => "the server's tick",
            Some(Bottleneck::Path) => "the network path, or the server's sending thread",
            None => return Ok(()),
        };
        writeln!(out, "bottleneck          {bottleneck}")
    }

    fn write_times(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, times) in [
            ("scheduling delay", &self.scheduling_delay_ms),
            ("snapshot gap", &self.snapshot_gap_ms),
            ("round trip", &self.rtt_ms),
            ("visible entity age", &self.visible_age_ms),
        ] {
            let Times { p50, p99, max } = times;
            writeln!(out, "{what:<20}p50 {p50:.1} ms, p99 {p99:.1} ms, max {max:.1} ms")?;
        }
        for (what, rate) in
            [("kbit/s per bot", &self.kbit_per_second), ("      p99", &self.kbit_per_second_p99)]
        {
            let (down, snapshots, up) = (rate.down, rate.snapshots, rate.up);
            writeln!(out, "{what:<20}down {down:.1} (snapshots {snapshots:.1}), up {up:.1}")?;
        }
        Ok(())
    }

    fn write_prediction(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, errors) in [
            ("prediction error", self.prediction_error),
            ("  undisturbed", self.prediction_error_undisturbed),
        ] {
            let Errors { compared, p50, p99, max } = errors;
            writeln!(
                out,
                "{what:<20}p50 {p50:.3}, p99 {p99:.3}, max {max:.2} units, {compared} compared"
            )?;
        }
        let (corrections, jumps) = (self.corrections_per_minute, self.jumps_per_minute);
        let smoothed = self.smoothed_jumps_per_minute;
        writeln!(
            out,
            "corrections         {corrections:.1} a minute and bot, {jumps:.1} of more than 4 units, \
             {smoothed:.1} after smoothing"
        )?;
        let Joining { snapshot_gap_ms: gap, visible_age_ms: age, prediction_error, .. } =
            &self.joining;
        let (error, jumps) = (prediction_error.max, self.joining.jumps);
        writeln!(
            out,
            "while joining       gap max {:.1} ms, age p99 {:.1} ms, error max {error:.2} units, \
             {jumps} corrections of more than 4",
            gap.max, age.p99
        )?;
        let (digests, mismatches) = (self.digests, self.digest_mismatches);
        writeln!(out, "digests             {digests} checked, {mismatches} mismatches")
    }

    fn write_activity(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let activity = &self.activity;
        writeln!(
            out,
            "activity            {:.0} units a minute, stuck {:.1} % (at most {} s), \
             crouching {:.0} %, shoving {:.0} %, {} jump pads, driving {:.0} %, {} kills",
            activity.units_per_minute,
            activity.stuck_share * 100.0,
            activity.longest_stuck_seconds,
            activity.crouched_share * 100.0,
            activity.shoving_share * 100.0,
            activity.pads_ridden,
            activity.driving_share * 100.0,
            self.kills
        )?;
        write!(
            out,
            "entities seen       {} by all, {} by the bot that saw the fewest",
            self.entities_seen, self.entities_seen_min
        )
    }
}
