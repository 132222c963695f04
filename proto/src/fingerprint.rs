//! Certificate fingerprints.

use std::fmt;
use std::str::FromStr;

/// SHA-256 of a certificate, which a server prints and a client pins.
///
/// ```
/// use obsp_proto::Fingerprint;
///
/// let printed = "AB:".repeat(31) + "AB";
/// let pin: Fingerprint = printed.parse()?;
/// assert_eq!(pin, Fingerprint([0xab; 32]));
/// assert_eq!(pin.to_string(), "ab".repeat(32));
/// # Ok::<(), obsp_proto::FingerprintSyntax>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

/// The text is not a SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text is not a SHA-256 of 64 hexadecimal digits")]
pub struct FingerprintSyntax;

impl FromStr for Fingerprint {
    type Err = FingerprintSyntax;

    /// Reads 64 hexadecimal digits, upper or lower case. Colons between bytes are allowed, because
    /// many tools print them.
    fn from_str(text: &str) -> Result<Self, FingerprintSyntax> {
        let digits: Vec<u8> = text
            .chars()
            .filter(|character| *character != ':')
            .map(|character| character.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
            .collect::<Option<_>>()
            .ok_or(FingerprintSyntax)?;
        let bytes: Vec<u8> = digits
            .chunks(2)
            .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
            .collect();
        let whole = digits.len() == 64;
        bytes.try_into().ok().filter(|_| whole).map(Self).ok_or(FingerprintSyntax)
    }
}

/// Lower-case hexadecimal.
impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn fingerprints_are_read_as_tools_print_them() {
        let fingerprint: Fingerprint = ABC.parse().unwrap();
        assert_eq!(fingerprint.to_string(), ABC);
        let colons: Vec<_> = ABC.as_bytes().chunks(2).map(|b| String::from_utf8_lossy(b)).collect();
        assert_eq!(colons.join(":").to_uppercase().parse(), Ok(fingerprint));
        for bad in ["", "abc", &ABC[1..], &format!("{ABC}00"), &ABC.replace('b', "g")] {
            assert_eq!(bad.parse::<Fingerprint>(), Err(FingerprintSyntax), "{bad}");
        }
    }
}
