//! The bodies of requests to the admin interface.

use serde::{Deserialize, Serialize};

/// The body of a request to remove a player or spectator.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kick {
    /// The reason that the client is given.
    #[serde(default)]
    pub(crate) reason: String,
}

/// The body of a request to mute or unmute a player.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mute {
    pub(crate) muted: bool,
    #[serde(default)]
    pub(crate) reason: String,
    /// Seconds from now until the mute ends. Without them, the mute is permanent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<u64>,
}

/// The body of a request to ban, or to mute, a player or addresses.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewBan {
    /// An address, a prefix or `player:NUMBER`.
    pub(crate) subject: String,
    #[serde(default)]
    pub(crate) reason: String,
    /// Seconds from now until the ban ends. Without them, the ban is permanent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<u64>,
}

/// The body of a request to lift a ban or a mute.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Unban {
    pub(crate) subject: String,
}

/// The body of a request to show a line to all clients.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Say {
    pub(crate) line: String,
}

/// The body of a request to change the map.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeMap {
    pub(crate) map: String,
}

/// The body of a request to drain the server. Without `seconds`, players have ten minutes left, or
/// the server's `--drain` time if that is longer.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drain {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<u64>,
}

/// The body of a request to change the log filter, which has the syntax of `RUST_LOG`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogFilter {
    pub(crate) filter: String,
}

/// The body of a request to change settings. A setting that is left out keeps its value.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Seconds that rounds last; 0 for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) round_seconds: Option<u64>,
    /// The score that ends a round; 0 for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) score_limit: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) intermission_seconds: Option<u64>,
    /// Seconds that players may be idle before they are removed; 0 for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) idle_seconds: Option<u64>,
}

/// The end of a ban or a mute that begins at `now` and lasts for `seconds`, but at most
/// [`LONGEST`]. Dates are in seconds since 1970. `None` if it is permanent.
pub(crate) fn expires(seconds: Option<u64>, now: u64) -> Option<u64> {
    seconds.map(|seconds| now.saturating_add(seconds.min(LONGEST)))
}

/// The longest time that a request may set, in seconds: a year.
pub(crate) const LONGEST: u64 = 366 * 24 * 3600;

/// Parses the body of a request. An empty body is read as `{}`, so it is valid for a request whose
/// fields are all optional.
///
/// # Errors
/// The body is not JSON, or its fields are not those of `T`. The error is the parser's message.
pub(crate) fn read<T: for<'a> Deserialize<'a>>(body: &[u8]) -> Result<T, String> {
    let body = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(body).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use obsp_sim::Random;

    use super::*;

    /// Parses a body as each kind of request. A readable body must be equal after it is written and
    /// read again.
    fn read_as_all(body: &[u8]) {
        fn again<T: for<'a> Deserialize<'a> + Serialize + PartialEq + std::fmt::Debug>(
            body: &[u8],
        ) {
            if let Ok(read_once) = read::<T>(body) {
                let written = serde_json::to_vec(&read_once).unwrap();
                assert_eq!(read::<T>(&written).unwrap(), read_once);
            }
        }
        again::<Kick>(body);
        again::<Mute>(body);
        again::<NewBan>(body);
        again::<Unban>(body);
        again::<Say>(body);
        again::<ChangeMap>(body);
        again::<Drain>(body);
        again::<LogFilter>(body);
        again::<Settings>(body);
    }

    #[test]
    fn any_body_is_read_or_refused() {
        let seed = 41;
        let mut random = Random::new(seed);
        let bodies = [
            r#"{"reason":"spam"}"#,
            r#"{"muted":true,"reason":"x","seconds":9}"#,
            r#"{"subject":"192.0.2.0/24","reason":"x","seconds":60}"#,
            r#"{"line":"hello"}"#,
            r#"{"round_seconds":1,"score_limit":2,"intermission_seconds":3,"idle_seconds":4}"#,
            "",
        ];
        for _ in 0..100_000 {
            let mut body = bodies[random.below(bodies.len() as u64) as usize].as_bytes().to_vec();
            for _ in 0..random.below(4) {
                let at = random.below(body.len() as u64 + 1) as usize;
                match random.below(3) {
                    0 => body.insert(at, random.bits() as u8),
                    1 if at < body.len() => body[at] ^= 1 << random.below(8),
                    _ => body.truncate(at),
                }
            }
            read_as_all(&body);
        }
        assert!(read::<Kick>(br#"{"raeson":"spam"}"#).unwrap_err().contains("raeson"));
        assert!(read::<Mute>(b"").is_err());
        assert_eq!(read::<Drain>(b""), Ok(Drain::default()));
    }
}
