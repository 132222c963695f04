//! Requests that mute and unmute.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::{Extension, Json, body::Bytes};

use super::bodies::{expires, read};
use super::routes::{Here, Outcome, Refusal, Who, done, find, wrong};
use super::{bodies, views};
use crate::common::clock::Reading;
use crate::common::error::BanError;
use crate::door::bans::{Ban, Subject};
use crate::door::clients::Client;
use crate::door::mutes::{Mute, Mutes};

fn unwritten(error: BanError) -> Refusal {
    Refusal(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

fn mutes(context: &super::Context) -> &Mutes {
    &context.games.first().access.mutes
}

fn now(context: &super::Context) -> Reading {
    context.games.first().access.clock.now()
}

/// Mutes or unmutes the client of a connection, and its player or address.
pub(super) async fn mute_client(
    State(context): Here,
    Path(number): Path<u64>,
    Extension(Who(by)): Extension<Who>,
    body: Bytes,
) -> Outcome<views::Done> {
    let bodies::Mute { muted, reason, seconds } = read(&body).map_err(wrong)?;
    let (client, now) = (find(&context, number)?, now(&context));
    let name = &client.name;
    if !muted {
        return match mutes(&context).unmute(&client, now).map_err(unwritten)? {
            None => done(format!("{name} is no longer muted")),
            Some(subject) => done(format!("{name} is still muted: lift the mute of {subject} too")),
        };
    }
    let mute = Mute { reason, by, expires: expires(seconds, now.unix()) };
    match mutes(&context).mute(&client, mute, now).map_err(unwritten)? {
        subjects if !subjects.is_empty() => {
            let subjects: Vec<_> = subjects.iter().map(ToString::to_string).collect();
            done(format!("{name} is muted, and so is {}", subjects.join(" and ")))
        }
        _ => done(format!(
            "{name} is muted as long as the connection, or a ticket for it, lasts: there is no \
             connect token, and many people share the address (--address-exempt), so nothing else \
             identifies the client"
        )),
    }
}

pub(super) async fn list(State(context): Here) -> Json<Vec<Ban>> {
    Json(mutes(&context).list().list(now(&context).unix()))
}

/// Mutes a player or addresses.
pub(super) async fn add(
    State(context): Here,
    Extension(Who(by)): Extension<Who>,
    body: Bytes,
) -> Outcome<views::Done> {
    let bodies::NewBan { subject: written, reason, seconds } = read(&body).map_err(wrong)?;
    let (subject, now) = (written.parse::<Subject>().map_err(wrong)?, now(&context));
    let mute = Mute { reason, by, expires: expires(seconds, now.unix()) };
    mutes(&context).list().add(mute.of(subject.clone(), now.unix()), now).map_err(unwritten)?;
    let remark = subject.remark(&written).map(|remark| format!(" ({remark})")).unwrap_or_default();
    done(format!("{subject} is muted{remark}"))
}

/// Lifts the mute of a player or of addresses.
pub(super) async fn lift(State(context): Here, body: Bytes) -> Outcome<views::Done> {
    let bodies::Unban { subject } = read(&body).map_err(wrong)?;
    let (subject, now) = (subject.parse::<Subject>().map_err(wrong)?, now(&context));
    let lifted = mutes(&context).list().lift(&subject, now).map_err(unwritten)?;
    if !lifted {
        return Err(Refusal(StatusCode::NOT_FOUND, format!("{subject} is not muted")));
    }
    // The connections that were muted together with the subject are heard again, too.
    let covered = |client: &Arc<Client>| mutes(&context).subjects_of(client).contains(&subject);
    let clients = context.games.iter().flat_map(|game| game.clients.list());
    clients.filter(covered).for_each(|client| client.mute_until(None));
    done(format!("{subject} is no longer muted"))
}
