use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The number of leading bits of an IPv6 address that a network assigns to one host. The host may
/// use every address with these bits, and takes a new one every day (RFC 8981).
const IPV6_HOST_BITS: u8 = 64;

/// The shortest prefixes that a ban or a proxy may have, of IPv4 and of IPv6. A shorter one is a
/// mistake: an IPv4 /8 is 1/256 of all addresses already, and no provider has an IPv6 /16 for
/// itself.
const BROADEST: [u8; 2] = [8, 16];

/// Addresses that begin with the same bits, such as `192.0.2.0/24`. A single address is also a
/// prefix. IPv4 addresses that are written as IPv6 ones (`::ffff:192.0.2.1`) are the same as IPv4
/// ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct AddressPrefix {
    /// The first address. All bits after the first `length` are zero.
    first: IpAddr,
    length: u8,
}

/// The text is not an [`AddressPrefix`].
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0:?} is neither an address nor a prefix such as 192.0.2.0/24 or 2001:db8::/48")]
pub struct AddressPrefixSyntax(String);

/// A prefix covers so many addresses that naming it must be a mistake.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "{0} covers too many addresses: use a prefix of IPv4 of /{v4} or longer, or one of IPv6 of \
     /{v6} or longer", v4 = BROADEST[0], v6 = BROADEST[1]
)]
pub struct TooBroad(AddressPrefix);

/// Parses a prefix for an option that must not apply to everybody.
pub(crate) fn parse_not_too_broad(text: &str) -> Result<AddressPrefix, String> {
    let prefix: AddressPrefix =
        text.parse().map_err(|error: AddressPrefixSyntax| error.to_string())?;
    prefix.not_too_broad().map_err(|error| error.to_string())
}

impl AddressPrefix {
    /// Exactly this address.
    pub fn address(address: IpAddr) -> Self {
        Self::cut(address.to_canonical(), 128)
    }

    /// All addresses that the host at `address` may use: an IPv4 address alone, or the /64 of an
    /// IPv6 address. The loopback address stands for itself alone.
    pub fn host(address: IpAddr) -> Self {
        match address.to_canonical() {
            address @ IpAddr::V6(v6) if !v6.is_loopback() => Self::cut(address, IPV6_HOST_BITS),
            address => Self::address(address),
        }
    }

    /// Parses an address or a prefix. An address without a length stands for the
    /// [host](Self::host).
    ///
    /// # Errors
    /// The text is neither an address nor a prefix.
    pub fn parse_host(text: &str) -> Result<Self, AddressPrefixSyntax> {
        text.parse::<IpAddr>().map_or_else(|_| text.parse(), |address| Ok(Self::host(address)))
    }

    /// This prefix, unless it is so short that it covers most of the internet.
    pub(crate) fn not_too_broad(self) -> Result<Self, TooBroad> {
        let shortest = BROADEST[usize::from(!self.is_ipv4())];
        if self.length < shortest { Err(TooBroad(self)) } else { Ok(self) }
    }

    /// Whether the address begins with these bits.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_ipv4() == self.first.is_ipv4() && Self::cut(address, self.length) == *self
    }

    /// The length in bits: at most 32 for IPv4 and 128 for IPv6.
    pub fn length(&self) -> u8 {
        self.length
    }

    /// Whether these are IPv4 addresses.
    pub fn is_ipv4(&self) -> bool {
        self.first.is_ipv4()
    }

    /// The first `length` bits of this address, or all of them if it is shorter.
    fn cut(address: IpAddr, length: u8) -> Self {
        match address {
            IpAddr::V4(v4) => {
                let length = length.min(32);
                let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
                Self { first: IpAddr::V4((v4.to_bits() & mask).into()), length }
            }
            IpAddr::V6(v6) => {
                let length = length.min(128);
                let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
                Self { first: IpAddr::V6((v6.to_bits() & mask).into()), length }
            }
        }
    }
}

impl FromStr for AddressPrefix {
    type Err = AddressPrefixSyntax;

    fn from_str(text: &str) -> Result<Self, AddressPrefixSyntax> {
        let wrong = || AddressPrefixSyntax(text.to_owned());
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address = address.parse::<IpAddr>().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let length: u8 = length.map_or(Ok(most), |length| length.parse().map_err(|_| wrong()))?;
        if length > most {
            return Err(wrong());
        }
        match address.to_canonical() {
            v4 if v4.is_ipv4() && address.is_ipv6() => {
                // The first 96 bits say that the rest is an IPv4 address.
                Ok(Self::cut(v4, length.checked_sub(96).ok_or_else(wrong)?))
            }
            address => Ok(Self::cut(address, length)),
        }
    }
}

impl fmt::Display for AddressPrefix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, length } = self;
        // The length of an IPv6 prefix is always written: `parse_host` reads an address without a
        // length as a /64.
        match first {
            IpAddr::V4(first) if *length == 32 => write!(formatter, "{first}"),
            first => write!(formatter, "{first}/{length}"),
        }
    }
}

impl From<AddressPrefix> for String {
    fn from(prefix: AddressPrefix) -> Self {
        prefix.to_string()
    }
}

impl TryFrom<String> for AddressPrefix {
    type Error = AddressPrefixSyntax;

    fn try_from(text: String) -> Result<Self, AddressPrefixSyntax> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_hold_the_addresses_that_begin_with_their_bits() {
        for (prefix, address, is_inside) in [
            ("192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "::ffff:192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
            ("::ffff:192.0.2.1", "192.0.2.1", true),
            ("::ffff:192.0.2.0/120", "192.0.2.77", true),
            ("::ffff:192.0.2.0/120", "192.0.3.77", false),
            ("192.0.2.77/24", "192.0.2.255", true),
            ("192.0.2.0/24", "192.0.3.0", false),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "::1", false),
            ("2001:db8::/64", "2001:db8::1:2", true),
            ("2001:db8::/64", "2001:db8:0:1::", false),
            ("2001:db8::1", "2001:db8::1", true),
            ("2001:db8::1", "2001:db8::2", false),
        ] {
            let prefix: AddressPrefix = prefix.parse().unwrap();
            assert_eq!(prefix.contains(address.parse().unwrap()), is_inside, "{prefix} {address}");
            assert_eq!(prefix.to_string().parse(), Ok(prefix));
            assert_eq!(AddressPrefix::parse_host(&prefix.to_string()), Ok(prefix));
        }
        for bad in ["", "192.0.2", "192.0.2.1/33", "::1/129", "::1/", "::1/-1", "::ffff:0.0.0.0/95"]
        {
            assert!(bad.parse::<AddressPrefix>().is_err(), "{bad}");
            assert!(AddressPrefix::parse_host(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_prefix_of_a_proxy_covers_a_part_of_the_internet_alone() {
        for text in ["10.0.0.0/8", "10.0.0.3", "2001::/16", "::1"] {
            assert!(parse_not_too_broad(text).is_ok(), "{text}");
        }
        for text in ["10.0.0.0/7", "0.0.0.0/0", "2000::/15", "::/0", "10.0.0"] {
            assert!(parse_not_too_broad(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_bare_ipv6_address_of_a_host_is_its_64() {
        for (text, prefix) in [
            ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
            ("2001:db8:1:2::1/128", "2001:db8:1:2::1/128"),
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("::1", "::1/128"),
        ] {
            assert_eq!(AddressPrefix::parse_host(text).unwrap().to_string(), prefix);
        }
    }
}
