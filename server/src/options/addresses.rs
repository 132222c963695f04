use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use clap::Args;

/// The default of `--address-players`: enough for a household, and an eighth of a full match.
const DEFAULT_PLAYERS: u16 = 4;
/// The default of `--address-spectators`: a quarter of all places for spectators.
const DEFAULT_SPECTATORS: u16 = 4;

/// The default of `--address-exempt`: load tests on this machine come from these addresses.
const LOOPBACK: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

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

    /// Addresses that may have any number of players, spectators, joins and connections, such as
    /// that of a load test or of a proxy; the list replaces the default
    #[arg(long, value_name = "IP", env = "ARENA_ADDRESS_EXEMPT", value_delimiter = ',',
          default_values_t = LOOPBACK)]
    pub address_exempt: Vec<IpAddr>,
}

impl Default for AddressOptions {
    fn default() -> Self {
        Self {
            address_players: DEFAULT_PLAYERS,
            address_spectators: DEFAULT_SPECTATORS,
            address_exempt: LOOPBACK.to_vec(),
        }
    }
}
