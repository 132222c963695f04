//! The routes of the admin interface and their handlers.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::body::{Bytes, to_bytes};
use axum::extract::{DefaultBodyLimit, FromRequestParts, Path, RawQuery, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use obsp_proto::control::{ChatLine, MatchEvent, Reason};
use tracing::{info, warn};

use super::access::{Access, Denied};
use super::bodies::{LONGEST, read};
use super::{Context, bodies, mutes, views};
use crate::common::error::BanError;
use crate::door::bans::{Ban, Subject};
use crate::door::clients::Removal;
use crate::matches::happening::Happening;
use crate::matches::match_handle::MatchHandle;
use crate::matches::rounds::{RoundRequest, Rules};
use crate::operate::reload::Report;

/// Bytes of the longest body that is read.
const LONGEST_BODY: usize = 16 * 1024;

/// The time of a drain whose request names none: ten minutes, which is also the default time of a
/// round. A longer `--drain` is used instead.
const DRAIN: Duration = Duration::from_secs(600);

/// The description of the interface, as `/openapi.json` serves it.
const OPENAPI: &str = include_str!("openapi.json");

/// The routes: the method, the path, and the name under which requests are counted and logged.
pub(super) const ROUTES: [(&str, &str, &str); 18] = [
    ("get", "/v1/status", "status"),
    ("get", "/v1/players", "players"),
    ("post", "/v1/players/{number}/kick", "kick"),
    ("post", "/v1/players/{number}/mute", "mute"),
    ("get", "/v1/bans", "bans"),
    ("post", "/v1/bans", "ban"),
    ("post", "/v1/bans/lift", "unban"),
    ("get", "/v1/mutes", "mutes"),
    ("post", "/v1/mutes", "mute_subject"),
    ("post", "/v1/mutes/lift", "unmute_subject"),
    ("post", "/v1/say", "say"),
    ("post", "/v1/map", "map"),
    ("post", "/v1/restart", "restart"),
    ("post", "/v1/settings", "settings"),
    ("post", "/v1/drain", "drain"),
    ("post", "/v1/log", "log"),
    ("post", "/v1/reload", "reload"),
    ("get", "/openapi.json", "openapi"),
];

/// The state of all handlers.
pub(super) type Here = State<Arc<Context>>;

/// The administrator who sent a request.
#[derive(Clone)]
pub(super) struct Who(pub(super) String);

/// The answer to a request that was not carried out: its status and the reason.
pub(super) struct Refusal(pub(super) StatusCode, pub(super) String);

/// The match that a request names by `?match=`, or the server's first match.
struct Game(Arc<MatchHandle>);

impl FromRequestParts<Arc<Context>> for Game {
    type Rejection = Refusal;

    async fn from_request_parts(
        parts: &mut Parts,
        context: &Arc<Context>,
    ) -> Result<Self, Refusal> {
        let missing = |names| {
            Refusal(StatusCode::NOT_FOUND, format!("no such match; the matches are: {names}"))
        };
        context.games.asked(parts.uri.query()).map(|game| Self(Arc::clone(game))).map_err(missing)
    }
}

/// The outcome of a request.
pub(super) type Outcome<T> = Result<Json<T>, Refusal>;

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, Json(views::Refused { error: self.1 })).into_response()
    }
}

pub(super) fn wrong(why: impl ToString) -> Refusal {
    Refusal(StatusCode::BAD_REQUEST, why.to_string())
}

/// Refuses a request that needs a running match, if the match has failed.
fn going_on(game: &MatchHandle) -> Result<(), Refusal> {
    let Some(why) = game.failure.get() else { return Ok(()) };
    let error =
        format!("the match {} has ended: {why}; restart the server to begin it again", game.name);
    Err(Refusal(StatusCode::CONFLICT, error))
}

pub(super) fn done(what: impl Into<String>) -> Outcome<views::Done> {
    Ok(Json(views::Done { done: what.into() }))
}

/// All routes, behind the check of tokens.
pub(super) fn router(context: Context, access: Arc<Access>) -> Router {
    let gate = Arc::new((context.clone(), access));
    Router::new()
        .route("/v1/status", get(status))
        .route("/v1/players", get(players))
        .route("/v1/players/{number}/kick", post(kick))
        .route("/v1/players/{number}/mute", post(mutes::mute_client))
        .route("/v1/bans", get(bans).post(ban))
        .route("/v1/bans/lift", post(unban))
        .route("/v1/mutes", get(mutes::list).post(mutes::add))
        .route("/v1/mutes/lift", post(mutes::lift))
        .route("/v1/say", post(say))
        .route("/v1/map", post(change_map))
        .route("/v1/restart", post(restart))
        .route("/v1/settings", post(change_settings))
        .route("/v1/drain", post(drain))
        .route("/v1/log", post(set_log))
        .route("/v1/reload", post(reload))
        .route("/openapi.json", get(openapi))
        .fallback(async || Refusal(StatusCode::NOT_FOUND, "there is no such route".to_owned()))
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(from_fn_with_state(gate, authorise))
        .with_state(Arc::new(context))
}

/// The name under which a request is counted and logged. `None` if no route fits the request.
fn name_of(method: &Method, path: &str) -> Option<&'static str> {
    let fits = |pattern: &str| {
        let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
        loop {
            match (pattern.next(), path.next()) {
                (None, None) => return true,
                (Some(part), Some(own)) if part == own || part.starts_with('{') => {}
                _ => return false,
            }
        }
    };
    let is_asked = |(verb, pattern, _): &&(&str, &str, &str)| {
        method.as_str().eq_ignore_ascii_case(verb) && fits(pattern)
    };
    ROUTES.iter().find(is_asked).map(|(.., name)| *name)
}

/// Lets requests with a valid token through, and counts and logs their outcomes.
async fn authorise(
    State(gate): State<Arc<(Context, Arc<Access>)>>,
    mut request: Request,
    next: Next,
) -> Response {
    let (context, access) = &*gate;
    let game = context.games.first();
    let header = request.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes());
    let who = match access.judge(header, Instant::now()) {
        Ok(who) => who,
        Err(denied) => {
            let reason = denied.reason();
            warn!("a request to the admin interface was denied: {reason}");
            context.telemetry.admin.count("unauthorised", false);
            let error = reason.to_owned();
            return match denied {
                Denied::TooMany => Refusal(StatusCode::TOO_MANY_REQUESTS, error).into_response(),
                Denied::Missing | Denied::Scheme | Denied::Unknown => {
                    let scheme = [(header::WWW_AUTHENTICATE, "Bearer")];
                    (scheme, Refusal(StatusCode::UNAUTHORIZED, error)).into_response()
                }
            };
        }
    };
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    request.extensions_mut().insert(Who(who.clone()));
    // The body is read here, so that the log can show it.
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, LONGEST_BODY).await else {
        let error = format!("the body has more than {LONGEST_BODY} bytes");
        return Refusal(StatusCode::PAYLOAD_TOO_LARGE, error).into_response();
    };
    let asked = String::from_utf8_lossy(&body).into_owned();
    let request = Request::from_parts(head, body.into());
    let begin = Instant::now();
    let response = next.run(request).await;
    if let Some(name) = name_of(&method, &path) {
        let status = response.status();
        context.telemetry.admin.count(name, status.is_success());
        game.telemetry.spans.admin(name, &who, begin.elapsed(), status.as_u16());
        // A `GET` request changes nothing, so it is not logged.
        if method != Method::GET {
            info!(admin = who, request = name, path, asked, status = status.as_u16(), "admin");
        }
    }
    response
}

async fn status(State(context): Here, Game(game): Game) -> Json<views::Status> {
    Json(views::status(&game, &context.games))
}

async fn players(State(context): Here) -> Json<Vec<views::Client>> {
    Json(context.games.iter().flat_map(|game| views::clients(game)).collect())
}

async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI)
}

/// Finds the client of this connection among the clients of all matches.
pub(super) fn find(
    context: &Context,
    number: u64,
) -> Result<Arc<crate::door::clients::Client>, Refusal> {
    let missing = || Refusal(StatusCode::NOT_FOUND, format!("there is no connection {number}"));
    context.games.iter().find_map(|game| game.clients.find(number)).ok_or_else(missing)
}

async fn kick(State(context): Here, Path(number): Path<u64>, body: Bytes) -> Outcome<views::Done> {
    let bodies::Kick { reason } = read(&body).map_err(wrong)?;
    if !reason.is_empty() {
        ChatLine::new(&reason).map_err(wrong)?;
    }
    let client = find(&context, number)?;
    client.remove(Removal::new(Reason::Removed, &reason));
    done(format!("{} was removed", client.name))
}

async fn bans(State(context): Here) -> Json<Vec<Ban>> {
    let access = &context.games.first().access;
    Json(access.bans.list(access.clock.unix()))
}

async fn ban(
    State(context): Here,
    Extension(Who(by)): Extension<Who>,
    body: Bytes,
) -> Outcome<views::Done> {
    let bodies::NewBan { subject, reason, seconds } = read(&body).map_err(wrong)?;
    let written = subject;
    let subject: Subject = written.parse().map_err(wrong)?;
    let now = context.games.first().access.clock.now();
    let expires = bodies::expires(seconds, now.unix());
    let (name, why) = (subject.to_string(), reason.clone());
    let ban = Ban { subject: subject.clone(), reason, by, since: now.unix(), expires };
    let told = Happening::Ban {
        subject: ban.subject.to_string(),
        reason: ban.reason.clone(),
        by: ban.by.clone(),
        expires,
    };
    let kept = context.games.first().access.bans.add(ban, now);
    // A ban that cannot be written to the file still holds until the server ends.
    if !matches!(kept, Err(BanError::TooMany)) {
        context.games.first().webhook.tell(None, &told);
    }
    for client in context.games.iter().flat_map(|game| game.clients.list()) {
        if subject.is_about(client.address().ip(), client.player_id) {
            client.remove(Removal::new(
                Reason::Removed,
                if why.is_empty() { "banned" } else { &why },
            ));
        }
    }
    kept.map_err(|error| Refusal(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    let remark = subject.remark(&written).map(|remark| format!(" ({remark})")).unwrap_or_default();
    done(format!("{name} is banned{remark}"))
}

async fn unban(State(context): Here, body: Bytes) -> Outcome<views::Done> {
    let bodies::Unban { subject } = read(&body).map_err(wrong)?;
    let subject: Subject = subject.parse().map_err(wrong)?;
    let access = &context.games.first().access;
    match access.bans.lift(&subject, access.clock.now()) {
        Ok(true) => done(format!("{subject} may join again")),
        Ok(false) => Err(Refusal(StatusCode::NOT_FOUND, format!("{subject} is not banned"))),
        Err(error) => Err(Refusal(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())),
    }
}

async fn say(
    State(context): Here,
    Game(asked): Game,
    RawQuery(query): RawQuery,
    body: Bytes,
) -> Outcome<views::Done> {
    let bodies::Say { line } = read(&body).map_err(wrong)?;
    let line = ChatLine::new(&line).map_err(wrong)?;
    // Without `?match=`, the line is for all matches.
    let is_for = |game: &&Arc<MatchHandle>| query.is_none() || Arc::ptr_eq(game, &asked);
    for game in context.games.iter().filter(is_for) {
        game.announce(MatchEvent::Announced { line: line.clone() });
    }
    done("said")
}

async fn change_map(Game(game): Game, body: Bytes) -> Outcome<views::Done> {
    let bodies::ChangeMap { map } = read(&body).map_err(wrong)?;
    going_on(&game)?;
    let rounds = &game.rounds;
    let known = rounds
        .maps
        .iter()
        .find(|&known| crate::matches::rounds::short(known) == map || *known == map);
    let map = match known {
        Some(known) => known.clone(),
        // A path in a request is never opened: the map has to be in the rotation or in a folder of
        // maps.
        None => crate::matches::map_file::find_named(&map, &crate::matches::map_file::folders())
            .map_err(wrong)?,
    };
    rounds.request(RoundRequest::Map(map.clone()));
    done(format!("{map} is played as soon as it is loaded"))
}

async fn restart(Game(game): Game) -> Outcome<views::Done> {
    going_on(&game)?;
    game.rounds.request(RoundRequest::Restart);
    done("the round starts again as soon as its world is ready")
}

async fn change_settings(Game(game): Game, body: Bytes) -> Outcome<views::Settings> {
    let asked: bodies::Settings = read(&body).map_err(wrong)?;
    let times = [asked.round_seconds, asked.intermission_seconds, asked.idle_seconds];
    if times.into_iter().flatten().any(|seconds| seconds > LONGEST) {
        return Err(wrong("a round, an intermission and an idle time last at most a year"));
    }
    let mut rules: Rules = game.rounds.status().rules;
    if let Some(seconds) = asked.round_seconds {
        rules.round = (seconds > 0).then(|| Duration::from_secs(seconds));
    }
    if let Some(limit) = asked.score_limit {
        let limit = i16::try_from(limit).map_err(|_| wrong("the score limit is at most 32767"))?;
        rules.score_limit = (limit > 0).then_some(limit);
    }
    if let Some(seconds) = asked.intermission_seconds {
        rules.intermission = Duration::from_secs(seconds);
    }
    if let Some(seconds) = asked.idle_seconds {
        game.access.idle_seconds.store(seconds, Ordering::Relaxed);
    }
    game.rounds.change_rules(rules);
    Ok(Json(views::settings(&game)))
}

async fn drain(State(context): Here, body: Bytes) -> Outcome<views::Done> {
    let bodies::Drain { seconds } = read(&body).map_err(wrong)?;
    let asked = seconds.map(|seconds| Duration::from_secs(seconds.min(LONGEST)));
    let time = asked.unwrap_or(context.drain.max(DRAIN));
    context.games.first().stop.drain(time);
    done(format!(
        "the server ends in {} s, or earlier if the round ends or the last player leaves",
        time.as_secs()
    ))
}

async fn set_log(body: Bytes) -> Outcome<views::Done> {
    let bodies::LogFilter { filter } = read(&body).map_err(wrong)?;
    match crate::operate::log::set_filter(&filter) {
        Some(Ok(())) => done(format!("logging {filter:?}")),
        Some(Err(error)) => Err(wrong(error)),
        None => Err(Refusal(StatusCode::CONFLICT, "the server does not write the log of this process; set the filter of the program's own \
             `tracing` subscriber".to_owned())),
    }
}

/// Reads the options and their files again. The answer lists the changes, and is an error if any
/// part refused its new value.
async fn reload(State(context): Here, Extension(Who(by)): Extension<Who>) -> Outcome<Report> {
    // The disk may be slow, and this thread has to answer other requests meanwhile.
    let reload = Arc::clone(&context.reload);
    let read = tokio::task::spawn_blocking(move || reload(&by)).await;
    let report = read.map_err(|error| {
        Refusal(StatusCode::INTERNAL_SERVER_ERROR, format!("the reload crashed: {error}"))
    })?;
    if report.refused.is_empty() {
        return Ok(Json(report));
    }
    Err(Refusal(StatusCode::UNPROCESSABLE_ENTITY, report.to_string()))
}
