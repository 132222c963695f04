//! Mutes: players and addresses whose chat nobody receives, for a time or permanently. A muted
//! player who comes back stays muted. Where everybody needs a connect token, the player is muted.
//! Elsewhere the address is muted. A player who presented a word of `--allow` is muted, too: the
//! player may come back from another address with the word, or from this one without it. A player
//! who comes back by a ticket keeps the mute of the connection.
//!
//! Mutes are kept in a file (`--mutes`) that has the form of the file of bans.

use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use super::bans::{Ban, Bans, Subject};
use crate::common::address_prefix::AddressPrefix;
use crate::common::clock::Reading;
use crate::common::error::BanError;
use crate::door::admission::Shares;
use crate::door::clients::Client;

#[derive(Debug)]
pub(crate) struct Mutes {
    list: Bans,
    /// Tells which addresses many people share. A mute of one player does not cover such an
    /// address.
    shares: Shares,
    /// Whether every player needs a connect token.
    needs_tokens: bool,
}

impl Mutes {
    /// The mutes in `file`, which need not exist yet.
    ///
    /// # Errors
    /// The file cannot be read, or is not a list of mutes.
    pub(crate) fn read(
        file: Option<&Path>,
        shares: Shares,
        needs_tokens: bool,
    ) -> Result<Self, BanError> {
        Ok(Self { list: Bans::read(Vec::new(), file)?, shares, needs_tokens })
    }

    /// The list of mutes. It has the type of the list of bans.
    pub(crate) fn list(&self) -> &Bans {
        &self.list
    }

    /// Whether nobody receives this client's chat.
    pub(crate) fn holds_for(&self, client: &Client, now: Reading) -> bool {
        client.is_muted(now.elapsed)
            || self.covers(client.address().ip(), client.player_id, now.unix())
    }

    fn covers(&self, address: IpAddr, player: Option<u64>, now: u64) -> bool {
        self.list.is_banned(address, player, now)
    }

    /// The subjects that identify a client when it comes back: its player, its address or both.
    /// Empty if the client has no id and its address is exempt because many people share it. Then
    /// only the connection and its ticket identify the client.
    pub(crate) fn subjects_of(&self, client: &Client) -> Vec<Subject> {
        let address = client.address().ip();
        let is_known_by_address = !self.needs_tokens && !self.shares.is_exempt(address);
        let address = is_known_by_address.then(|| AddressPrefix::host(address));
        let player = client.player_id.map(Subject::Player);
        player.into_iter().chain(address.map(Subject::Prefix)).collect()
    }

    /// Mutes the connection of a client, its player and its address. Returns the subjects that are
    /// on the list from now on.
    ///
    /// # Errors
    /// The errors of [`Bans::add`]. The connection is muted even then.
    pub(crate) fn mute(
        &self,
        client: &Client,
        mute: Mute,
        now: Reading,
    ) -> Result<Vec<Subject>, BanError> {
        let lasts = mute.expires.map_or(Duration::MAX, |expires| {
            Duration::from_secs(expires.saturating_sub(now.unix()))
        });
        client.mute_until(Some(now.elapsed.saturating_add(lasts)));
        let subjects = self.subjects_of(client);
        for subject in &subjects {
            self.list.add(mute.clone().of(subject.clone(), now.unix()), now)?;
        }
        Ok(subjects)
    }

    /// Lifts the mute of a client. Returns the subject of a mute that still covers the client, if
    /// there is one. Such a mute is of a prefix, which also covers other clients.
    ///
    /// # Errors
    /// The errors of [`Bans::lift`].
    pub(crate) fn unmute(
        &self,
        client: &Client,
        now: Reading,
    ) -> Result<Option<Subject>, BanError> {
        client.mute_until(None);
        for subject in self.subjects_of(client) {
            self.list.lift(&subject, now)?;
        }
        let (address, player) = (client.address().ip(), client.player_id);
        let covers = |mute: &Ban| mute.subject.is_about(address, player);
        Ok(self.list.list(now.unix()).into_iter().find(covers).map(|mute| mute.subject))
    }
}

/// A mute without its subject.
#[derive(Clone, Debug)]
pub(crate) struct Mute {
    pub(crate) reason: String,
    /// The name of the administrator.
    pub(crate) by: String,
    /// The time at which the mute ends, in seconds since 1970. `None` if it is permanent.
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
    use crate::common::clock::Clock;
    use crate::door::admission::options::AddressOptions;

    /// A reading in which both clocks show `unix` seconds: since 1970, and since the machine's
    /// start.
    fn at(unix: u64) -> Reading {
        let elapsed = Duration::from_secs(unix);
        Reading { wall: std::time::UNIX_EPOCH + elapsed, elapsed }
    }

    fn client(number: u64, address: &str, player: Option<u64>) -> Client {
        let name = PlayerName::new("Ann").unwrap();
        let address = (address.parse::<IpAddr>().unwrap(), 5).into();
        Client::new(number, name, address, player, false)
    }

    fn mute(expires: Option<u64>) -> Mute {
        Mute { reason: "spam".into(), by: "ops".into(), expires }
    }

    fn mutes(file: Option<&Path>) -> Mutes {
        Mutes::read(file, Shares::from(&AddressOptions::default()), false).unwrap()
    }

    /// Symptom: a muted player left, joined again and was heard, even with a connect token.
    #[test]
    fn a_muted_player_stays_muted_whichever_way_they_come_back() {
        let path = std::env::temp_dir().join(format!("mutes-{}.toml", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let mutes = self::mutes(Some(&path));
        let with_token = client(1, "192.0.2.1", Some(7));
        let without = client(2, "192.0.2.2", None);
        let ipv6 = client(3, "2001:db8::1", None);
        mutes.mute(&with_token, mute(Some(100)), at(5)).unwrap();
        mutes.mute(&without, mute(None), at(5)).unwrap();
        mutes.mute(&ipv6, mute(None), at(5)).unwrap();
        // A mute is the same after a restart of the server.
        for mutes in [&mutes, &self::mutes(Some(&path))] {
            for (back, is_muted) in [
                (client(4, "198.51.100.9", Some(7)), true),
                (client(5, "192.0.2.1", Some(8)), true),
                // The player's id may come from a word of the list, and the next client may present
                // no word.
                (client(6, "192.0.2.1", None), true),
                (client(7, "192.0.2.2", None), true),
                (client(8, "::ffff:192.0.2.2", None), true),
                (client(9, "192.0.2.3", None), false),
                (client(10, "2001:db8::ffff:2", None), true),
                (client(11, "2001:db8:0:1::1", None), false),
            ] {
                assert_eq!(mutes.holds_for(&back, at(99)), is_muted, "{back:?}");
            }
        }
        assert!(!mutes.holds_for(&client(4, "198.51.100.9", Some(7)), at(100)), "its time is over");
        assert!(!mutes.holds_for(&with_token, at(100)) && mutes.holds_for(&without, at(100)));
        assert_eq!(mutes.unmute(&without, at(101)).unwrap(), None);
        assert!(!mutes.holds_for(&without, at(101)));
        assert!(!mutes.holds_for(&client(7, "192.0.2.2", None), at(101)));
        std::fs::remove_file(path).unwrap();
    }

    /// With connect tokens everybody has an id, and many players may be behind one address.
    #[test]
    fn where_everybody_needs_a_token_the_player_is_muted_and_not_the_address() {
        let shares = Shares::from(&AddressOptions::default());
        let mutes = Mutes::read(None, shares, true).unwrap();
        let noisy = client(1, "192.0.2.1", Some(7));
        assert_eq!(mutes.mute(&noisy, mute(None), at(5)).unwrap(), [Subject::Player(7)]);
        assert!(mutes.holds_for(&client(2, "198.51.100.9", Some(7)), at(6)));
        assert!(!mutes.holds_for(&client(3, "192.0.2.1", Some(8)), at(6)));
    }

    /// A machine boots in 2000, a player is muted for two hours, and the clock is set.
    #[test]
    fn a_stepped_clock_neither_ends_nor_prolongs_the_mute_of_a_connection() {
        // At an exempt address only the connection is muted. At another address, the address is
        // muted, too.
        for address in ["127.0.0.1", "192.0.2.1"] {
            for (start, set) in [(946_684_800, 1_800_000_000), (1_800_000_000, 1_765_000_000)] {
                let clock = Clock::by_hand(start);
                let mutes = self::mutes(None);
                let noisy = client(1, address, None);
                mutes.mute(&noisy, mute(Some(start + 7200)), clock.now()).unwrap();
                clock.pass(Duration::from_secs(3600));
                clock.set(set);
                mutes.list().follow_clock(clock.now()).unwrap();
                assert!(mutes.holds_for(&noisy, clock.now()), "{address}");
                clock.pass(Duration::from_secs(3599));
                assert!(mutes.holds_for(&noisy, clock.now()), "{address}");
                clock.pass(Duration::from_secs(1));
                assert!(!mutes.holds_for(&noisy, clock.now()), "{address}");
            }
        }
    }

    #[test]
    fn one_player_behind_a_shared_address_is_muted_alone() {
        let mutes = self::mutes(None);
        let [noisy, neighbour] = [1, 2].map(|number| client(number, "127.0.0.1", None));
        assert_eq!(mutes.mute(&noisy, mute(None), at(5)).unwrap(), []);
        assert!(mutes.holds_for(&noisy, at(6)) && !mutes.holds_for(&neighbour, at(6)));
    }

    #[test]
    fn a_mute_of_a_prefix_outlives_the_unmuting_of_one_client() {
        let mutes = self::mutes(None);
        let subject: Subject = "192.0.2.0/24".parse().unwrap();
        mutes.list().add(mute(None).of(subject.clone(), 5), at(5)).unwrap();
        let one = client(1, "192.0.2.77", None);
        assert_eq!(mutes.unmute(&one, at(6)).unwrap(), Some(subject));
        assert!(mutes.holds_for(&one, at(6)));
    }
}
