//! Mutes: players and addresses whose chat nobody receives, for a time or for good. They hold
//! whichever way a muted player comes back. With a connect token the player is muted; without one
//! the address is. A ticket gives the connection back, and with it its mute.
//!
//! Mutes are kept as bans are, in a file of the same form (`--mutes`).

use std::net::IpAddr;
use std::path::Path;

use crate::address_prefix::AddressPrefix;
use crate::bans::{Ban, BanError, Bans, Subject};
use crate::clients::Client;
use crate::network::Shares;

/// All mutes.
#[derive(Debug)]
pub(crate) struct Mutes {
    list: Bans,
    /// Addresses that many share are not muted with one player.
    shares: Shares,
}

impl Mutes {
    /// The mutes in `file`, which need not exist yet.
    ///
    /// # Errors
    /// The file cannot be read, or is no such list.
    pub(crate) fn read(file: Option<&Path>, shares: Shares) -> Result<Self, BanError> {
        Ok(Self { list: Bans::read(Vec::new(), file)?, shares })
    }

    /// The list, which is read and changed as that of bans.
    pub(crate) fn list(&self) -> &Bans {
        &self.list
    }

    /// Whether nobody receives this client's chat. `now` is in seconds since 1970.
    pub(crate) fn holds_for(&self, client: &Client, now: u64) -> bool {
        client.is_muted(now) || self.covers(client.address().ip(), client.player_id, now)
    }

    fn covers(&self, address: IpAddr, player: Option<u64>, now: u64) -> bool {
        self.list.is_banned(address, player, now)
    }

    /// By what a client is known when it comes back. `None` if it has no connect token, and its
    /// address is exempt because many share it: then only its connection and its ticket are known.
    pub(crate) fn subject_of(&self, client: &Client) -> Option<Subject> {
        let address = client.address().ip();
        match client.player_id {
            Some(player) => Some(Subject::Player(player)),
            None if self.shares.is_exempt(address) => None,
            None => Some(Subject::Prefix(AddressPrefix::host(address))),
        }
    }

    /// Mutes a client, and whoever it comes back as. Returns what is on the list from now on.
    ///
    /// # Errors
    /// As [`Bans::add`]. The connection is muted even so.
    pub(crate) fn mute(
        &self,
        client: &Client,
        mute: Mute,
        now: u64,
    ) -> Result<Option<Subject>, BanError> {
        client.mute_until(Some(mute.expires.unwrap_or(u64::MAX)));
        let Some(subject) = self.subject_of(client) else { return Ok(None) };
        self.list.add(mute.of(subject.clone(), now), now)?;
        Ok(Some(subject))
    }

    /// Lifts the mute of a client. Returns the mute that still covers it, if there is one: that of a
    /// prefix, which covers others, too.
    ///
    /// # Errors
    /// As [`Bans::lift`].
    pub(crate) fn unmute(&self, client: &Client, now: u64) -> Result<Option<Subject>, BanError> {
        client.mute_until(None);
        if let Some(subject) = self.subject_of(client) {
            self.list.lift(&subject, now)?;
        }
        let (address, player) = (client.address().ip(), client.player_id);
        let covers = |mute: &Ban| mute.subject.is_about(address, player);
        Ok(self.list.list(now).into_iter().find(covers).map(|mute| mute.subject))
    }
}

/// A mute, but for whom.
#[derive(Clone, Debug)]
pub(crate) struct Mute {
    pub(crate) reason: String,
    /// The name of the administrator.
    pub(crate) by: String,
    /// The time at which it ends, in seconds since 1970. `None` if it is permanent.
    pub(crate) expires: Option<u64>,
}

impl Mute {
    /// The entry of the list that mutes this subject.
    pub(crate) fn of(self, subject: Subject, now: u64) -> Ban {
        let Self { reason, by, expires } = self;
        Ban { subject, reason, by, since: now, expires }
    }
}

#[cfg(test)]
mod tests {
    use obsp_proto::control::PlayerName;

    use super::*;
    use crate::options::AddressOptions;

    fn client(number: u64, address: &str, player: Option<u64>) -> Client {
        let name = PlayerName::new("Ann").unwrap();
        let address = (address.parse::<IpAddr>().unwrap(), 5).into();
        Client::new(number, name, address, player, false)
    }

    fn mute(expires: Option<u64>) -> Mute {
        Mute { reason: "spam".into(), by: "ops".into(), expires }
    }

    fn mutes(file: Option<&Path>) -> Mutes {
        Mutes::read(file, Shares::from(&AddressOptions::default())).unwrap()
    }

    /// A muted player left, joined again and was heard, with a connect token, too.
    #[test]
    fn a_muted_player_stays_muted_whichever_way_they_come_back() {
        let path = std::env::temp_dir().join(format!("mutes-{}.toml", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let mutes = self::mutes(Some(&path));
        let with_token = client(1, "192.0.2.1", Some(7));
        let without = client(2, "192.0.2.2", None);
        let ipv6 = client(3, "2001:db8::1", None);
        mutes.mute(&with_token, mute(Some(100)), 5).unwrap();
        mutes.mute(&without, mute(None), 5).unwrap();
        mutes.mute(&ipv6, mute(None), 5).unwrap();
        // The same after a restart of the server.
        for mutes in [&mutes, &self::mutes(Some(&path))] {
            for (back, is_muted) in [
                (client(4, "198.51.100.9", Some(7)), true),
                (client(5, "192.0.2.1", Some(8)), false),
                (client(6, "192.0.2.1", None), false),
                (client(7, "192.0.2.2", None), true),
                (client(8, "::ffff:192.0.2.2", None), true),
                (client(9, "192.0.2.3", None), false),
                (client(10, "2001:db8::ffff:2", None), true),
                (client(11, "2001:db8:0:1::1", None), false),
            ] {
                assert_eq!(mutes.holds_for(&back, 99), is_muted, "{back:?}");
            }
        }
        assert!(!mutes.holds_for(&client(4, "198.51.100.9", Some(7)), 100), "its time is over");
        assert!(!mutes.holds_for(&with_token, 100) && mutes.holds_for(&without, 100));
        assert_eq!(mutes.unmute(&without, 101).unwrap(), None);
        assert!(!mutes.holds_for(&without, 101));
        assert!(!mutes.holds_for(&client(7, "192.0.2.2", None), 101));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn one_player_behind_a_shared_address_is_muted_alone() {
        let mutes = self::mutes(None);
        let [noisy, neighbour] = [1, 2].map(|number| client(number, "127.0.0.1", None));
        assert_eq!(mutes.mute(&noisy, mute(None), 5).unwrap(), None);
        assert!(mutes.holds_for(&noisy, 6) && !mutes.holds_for(&neighbour, 6));
    }

    #[test]
    fn a_mute_of_a_prefix_outlives_the_unmuting_of_one_client() {
        let mutes = self::mutes(None);
        let subject: Subject = "192.0.2.0/24".parse().unwrap();
        mutes.list().add(mute(None).of(subject.clone(), 5), 5).unwrap();
        let one = client(1, "192.0.2.77", None);
        assert_eq!(mutes.unmute(&one, 6).unwrap(), Some(subject));
        assert!(mutes.holds_for(&one, 6));
    }
}
