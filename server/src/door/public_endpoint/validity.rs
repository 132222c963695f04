//! The period for which a certificate is valid: read from its DER, and compared with the clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The server warns of a certificate that ends within this time. Automatic renewal happens weeks
/// before the end.
const ENDING: Duration = Duration::from_secs(7 * 24 * 3600);

/// The begin and the end of a certificate's validity, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Validity {
    /// The certificate's `notBefore`.
    pub(crate) begin: i64,
    /// The certificate's `notAfter`.
    pub(crate) end: i64,
}

impl Validity {
    /// The validity of this certificate, in DER. `None` if it cannot be read.
    pub(crate) fn of(certificate: &[u8]) -> Option<Self> {
        validity(certificate).map(|[begin, end]| Self { begin, end })
    }

    /// The fault of a certificate that is not valid at `now`.
    pub(crate) fn fault(&self, now: SystemTime) -> Option<String> {
        let [wait, left] = self.distances(now);
        if left < 0 {
            Some(format!(
                "the certificate expired {} ago, by this machine's clock ({})",
                span(left),
                date(now)
            ))
        } else if wait > 0 {
            Some(format!(
                "the certificate becomes valid only in {}, by this machine's clock ({})",
                span(wait),
                date(now)
            ))
        } else {
            None
        }
    }

    /// A warning if the certificate is not valid at `now`, or soon will not be.
    pub(crate) fn warning(&self, now: SystemTime) -> Option<String> {
        if let Some(fault) = self.fault(now) {
            let effect = "browsers and other clients that check the certificate cannot join";
            return Some(format!("{fault}: {effect}, unless that clock is wrong"));
        }
        let [_, left] = self.distances(now);
        let ends = left.unsigned_abs() < ENDING.as_secs();
        ends.then(|| format!("the certificate expires in {}", span(left)))
    }

    /// Seconds until the validity begins and until it ends, negative afterwards.
    pub(crate) fn distances(&self, now: SystemTime) -> [i64; 2] {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        [self.begin, self.end].map(|moment| moment.saturating_sub_unsigned(now))
    }
}

impl std::fmt::Display for Validity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let moment = |seconds: i64| {
            let since = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
            UNIX_EPOCH.checked_add(since).map_or_else(|| "for ever".to_owned(), date)
        };
        write!(formatter, "from {} to {}", moment(self.begin), moment(self.end))
    }
}

/// A date for people, to the second.
pub(crate) fn date(moment: SystemTime) -> String {
    // The `Display` of the crate panics beyond the year 9999, and a certificate may contain such a
    // date.
    let last = UNIX_EPOCH + Duration::from_secs(253_402_300_799);
    humantime::format_rfc3339_seconds(moment.clamp(UNIX_EPOCH, last)).to_string()
}

/// A length of time for people.
fn span(seconds: i64) -> String {
    let hours = seconds.unsigned_abs() / 3600;
    if hours < 48 { format!("{hours} hours") } else { format!("{} days", hours / 24) }
}

/// When the validity of `certificate`, in DER, begins and ends: its `notBefore` and `notAfter` (RFC
/// 5280, section 4.1.2.5), in seconds since 1970. `None` if they cannot be found.
fn validity(certificate: &[u8]) -> Option<[i64; 2]> {
    let (mut signed, _) = element(certificate, SEQUENCE)?;
    let mut fields = take(&mut signed, SEQUENCE)?;
    // The version may be left out; serial number, algorithm and issuer may not.
    if fields.first() == Some(&VERSION) {
        take(&mut fields, VERSION)?;
    }
    take(&mut fields, INTEGER)?;
    take(&mut fields, SEQUENCE)?;
    take(&mut fields, SEQUENCE)?;
    let mut validity = take(&mut fields, SEQUENCE)?;
    Some([time(&mut validity)?, time(&mut validity)?])
}

const INTEGER: u8 = 0x02;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xA0;

/// The content of the first element of `bytes`, and the bytes after that element. The element must
/// have this tag.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, length], rest) = bytes.split_first_chunk()?;
    if found != tag {
        return None;
    }
    let (length, rest) = match length {
        0..=0x7F => (usize::from(length), rest),
        // One to three bytes hold the length. A certificate needs no more.
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(length - 0x80))?;
            (digits.iter().fold(0, |sum, &digit| sum << 8 | usize::from(digit)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

/// Removes the first element of `bytes`, and returns its content. The element must have this tag.
fn take<'a>(bytes: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    let (content, rest) = element(bytes, tag)?;
    *bytes = rest;
    Some(content)
}

/// Removes the time at the start of `bytes`, and returns it in seconds since 1970.
fn time(bytes: &mut &[u8]) -> Option<i64> {
    let tag = *bytes.first()?;
    let digits = take(bytes, tag)?.strip_suffix(b"Z")?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number =
        |digits: &[u8]| digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    let (year, rest) = match (tag, digits.len()) {
        // Two digits stand for the years 1950 to 2049.
        (UTC_TIME, 12) => {
            let year = number(&digits[..2]);
            (if year < 50 { 2000 + year } else { 1900 + year }, &digits[2..])
        }
        (GENERALIZED_TIME, 14) => (number(&digits[..4]), &digits[4..]),
        _ => return None,
    };
    let [month, day, hour, minute, second] =
        [0, 2, 4, 6, 8].map(|begin| number(&rest[begin..begin + 2]));
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Some(((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
}

/// Days from the first of January 1970 to a day of the Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // If a year begins in March, the day that leap years add is its last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days_before_month = (153 * month + 2) / 5;
    // 719,468 days lie between the first of March of the year 0 and the first of January 1970.
    year * 365 + leap_days + days_before_month + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    const DAY: i64 = 24 * 3600;

    fn certificate_until(year: i32, month: u8, day: u8) -> Vec<u8> {
        let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        parameters.not_before = date_time_ymd(1970, 1, 1);
        parameters.not_after = date_time_ymd(year, month, day);
        parameters.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn the_end_of_a_certificate_is_found_in_both_ways_to_write_it() {
        for ((year, month, day), seconds) in [
            ((1970, 1, 2), DAY),
            ((2000, 2, 29), 951_782_400),
            ((2000, 3, 1), 951_868_800),
            ((2038, 1, 19), 2_147_472_000),
            // From 2050 on, years have four digits.
            ((2049, 12, 31), 2_524_521_600),
            ((2050, 1, 1), 2_524_608_000),
            ((2100, 3, 1), 4_107_542_400),
        ] {
            let found = validity(&certificate_until(year, month, day));
            assert_eq!(found, Some([0, seconds]), "{year}-{month}-{day}");
        }
    }

    #[test]
    fn bytes_that_are_no_certificate_have_no_end() {
        let certificate = certificate_until(2030, 1, 1);
        for length in 0..certificate.len() {
            assert_eq!(validity(&certificate[..length]), None, "{length} bytes");
        }
        // No changed byte makes the parser panic.
        for index in 0..certificate.len() {
            for byte in [0, 0x30, 0x7F, 0x80, 0x83, 0x84, 0xFF] {
                let mut wrong = certificate.clone();
                wrong[index] = byte;
                validity(&wrong);
            }
        }
    }
}
