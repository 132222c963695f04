//! The parts of a server that are read again while it runs, each with the options that it reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::match_setup::Shared;
use super::reload::Part;
use crate::door::AccessRules;
use crate::door::admission::Shares;
use crate::door::clients::Removal;
use crate::door::token_gate::join_key::read_join_key;
use crate::matches::Matches;
use crate::matches::match_handle::MatchHandle;
use crate::network::{Credentials, Renewal};
use crate::operate::admin::Tokens;
use obsp_proto::control::Reason;

/// All parts that may change.
pub(super) fn parts(
    shared: &Shared,
    shares: &Shares,
    games: &Matches<Arc<MatchHandle>>,
    renewal: &Arc<Renewal>,
    admin: Option<Tokens>,
) -> Vec<Part> {
    let access = &shared.access;
    let mut parts = vec![
        certificate(Arc::clone(renewal)),
        bans(Arc::clone(access), games.clone()),
        mutes(Arc::clone(access)),
        join_key(Arc::clone(access)),
        admittance(Arc::clone(access)),
        idle(Arc::clone(access)),
        addresses(shares.clone()),
    ];
    let introduction = Arc::clone(&shared.introduction);
    parts.push(Part::new("motd", &["motd"], move |now| {
        let is_new = introduction.set_motd(now.introduction.motd.clone());
        Ok(is_new.then(|| "the message of the day has changed".to_owned()).into_iter().collect())
    }));
    parts.extend(admin.map(administrators));
    parts
}

fn certificate(renewal: Arc<Renewal>) -> Part {
    Part::new("certificate", &["cert", "key"], move |now| {
        renewal.reload(Credentials::new(now.cert.as_deref(), now.key.as_deref()))
    })
}

fn bans(access: Arc<AccessRules>, games: Matches<Arc<MatchHandle>>) -> Part {
    Part::new("bans", &["ban"], move |now| {
        let changes = access.bans.reload(now.ban.clone()).map_err(|error| error.to_string())?;
        if !changes.is_empty() {
            let unix = access.clock.unix();
            for client in games.iter().flat_map(|game| game.clients.list()) {
                if access.bans.is_banned(client.address().ip(), client.player_id, unix) {
                    client.remove(Removal::new(Reason::Removed, "banned"));
                }
            }
        }
        Ok(named("bans", changes))
    })
}

fn mutes(access: Arc<AccessRules>) -> Part {
    Part::new("mutes", &[], move |_| {
        let changes = access.mutes.list().reload(Vec::new()).map_err(|error| error.to_string())?;
        Ok(named("mutes", changes))
    })
}

fn join_key(access: Arc<AccessRules>) -> Part {
    Part::new("join key", &["join-key"], move |now| match (&access.gate, &now.joining.join_key) {
        (Some(gate), Some(path)) => {
            let key = read_join_key(path).map_err(|error| error.to_string())?;
            let changes = gate.change_key(key);
            let told = "from now on, tokens must be sealed with the new join key";
            Ok(changes.then(|| told.to_owned()).into_iter().collect())
        }
        (None, None) => Ok(Vec::new()),
        (Some(_), None) => Err("a server with --join-key needs a restart to run without it".into()),
        (None, Some(_)) => {
            Err("a server without --join-key needs a restart to ask for tokens".into())
        }
    })
}

fn admittance(access: Arc<AccessRules>) -> Part {
    Part::new("password and list of players", &["password", "allow"], move |now| {
        access.admittance.reload(&now.joining).map_err(|error| error.to_string())
    })
}

fn idle(access: Arc<AccessRules>) -> Part {
    let taken = AtomicU64::new(access.idle_seconds.load(Ordering::Relaxed));
    Part::new("idle time", &["idle"], move |now| {
        let new = now.joining.idle.as_secs();
        // A time that an administrator has set meanwhile stays, unless the options have changed.
        if taken.swap(new, Ordering::Relaxed) == new {
            return Ok(Vec::new());
        }
        let old = access.idle_seconds.swap(new, Ordering::Relaxed);
        let told =
            || format!("idle players are removed after {new} s (0 for never), not after {old} s");
        Ok((new != old).then(told).into_iter().collect())
    })
}

fn addresses(shares: Shares) -> Part {
    let names = &["address-players", "address-spectators", "address-exempt"];
    Part::new("limits of an address", names, move |now| {
        let new = &now.addresses;
        let old = shares.change(new);
        let mut changes = Vec::new();
        for (name, new, old) in [
            ("players", new.address_players, old.address_players),
            ("spectators", new.address_spectators, old.address_spectators),
        ] {
            if new != old {
                changes.push(format!("an address may have {new} {name} (0 for any), not {old}"));
            }
        }
        if new.address_exempt != old.address_exempt {
            let exempt = new.address_exempt.iter().map(ToString::to_string).collect::<Vec<_>>();
            changes.push(format!("exempt from the limits of an address: {}", exempt.join(", ")));
        }
        Ok(changes)
    })
}

fn administrators(tokens: Tokens) -> Part {
    Part::new("admin tokens", &["admin-tokens"], move |now| tokens.reload(&now.admin))
}

/// The changes of a list, with the name of the list before each.
fn named(list: &str, changes: Vec<String>) -> Vec<String> {
    changes.into_iter().map(|change| format!("{list}: {change}")).collect()
}
