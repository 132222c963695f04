use std::net::IpAddr;

use super::address_prefix::AddressPrefix;

/// The key by which limits count clients whose identity is not known yet: an IPv4 address, or the
/// /64 prefix of an IPv6 address, because one host may use every address inside its /64 prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AddressKey(AddressPrefix);

impl From<IpAddr> for AddressKey {
    fn from(address: IpAddr) -> Self {
        Self(AddressPrefix::host(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(address: &str) -> AddressKey {
        AddressKey::from(address.parse::<IpAddr>().unwrap())
    }

    #[test]
    fn an_ipv6_host_is_its_prefix_and_a_mapped_address_the_one_it_maps() {
        assert_eq!(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff:ffff:ffff:ffff"));
        assert_ne!(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
        assert_eq!(key("::ffff:192.0.2.1"), key("192.0.2.1"));
        assert_ne!(key("192.0.2.1"), key("192.0.2.2"));
        assert_ne!(key("127.0.0.1"), key("::1"));
    }
}
