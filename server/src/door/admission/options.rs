use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use clap::Args;

use crate::common::address_prefix::{AddressPrefix, parse_not_too_broad};
use crate::common::options::options_of;

/// The default of `--address-players`: enough for a household, and an eighth of a full match.
const DEFAULT_PLAYERS: u16 = 4;
/// The default of `--address-spectators`: a quarter of all places for spectators.
const DEFAULT_SPECTATORS: u16 = 4;

/// The default of `--address-exempt`: load tests on this machine come from these addresses.
fn loopback() -> [AddressPrefix; 2] {
    let addresses = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
    addresses.map(AddressPrefix::address)
}

/// The limits of one address. An IPv6 address stands for its /64 prefix.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct AddressOptions {
    /// Players that one address may have in the match; 0 for any number
    #[arg(long, value_name = "N", env = "ARENA_ADDRESS_PLAYERS",
          default_value_t = DEFAULT_PLAYERS)]
    pub address_players: u16,

    /// Spectators that one address may have; 0 for any number
    #[arg(long, value_name = "N", env = "ARENA_ADDRESS_SPECTATORS",
          default_value_t = DEFAULT_SPECTATORS)]
    pub address_spectators: u16,

    /// Addresses and prefixes, such as `192.0.2.0/24`, without a limit on players, spectators,
    /// joins and connections: for a load test, or for a proxy behind which many players share one
    /// address; the list replaces the default
    #[arg(long, value_name = "IP", env = "ARENA_ADDRESS_EXEMPT", value_delimiter = ',',
          default_values_t = loopback())]
    pub address_exempt: Vec<AddressPrefix>,

    /// Proxies in front of the UDP port: addresses and prefixes, separated by commas. Each of their
    /// datagrams must begin with a header of PROXY protocol version 2. Limits, bans and the log use
    /// the client's address in that header. Headers from other senders are not read
    #[arg(long, value_name = "IP", env = "ARENA_PROXY_FROM", value_delimiter = ',',
          value_parser = parse_not_too_broad)]
    pub proxy_from: Vec<AddressPrefix>,
}

impl Default for AddressOptions {
    fn default() -> Self {
        options_of(&[])
    }
}
