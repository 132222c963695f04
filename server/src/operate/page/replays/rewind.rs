//! `/rewind`: the last half minute of the match as a recording, for a page that shows it again.

use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use tokio::sync::Mutex;

use crate::operate::page::Pages;
use crate::operate::page::level_view::in_turn;

/// The recording that was written last. A request holds the lock while it writes one, and the
/// replay buffer grows only once a second. So at most one recording a second is written, however
/// many visitors ask.
#[derive(Default)]
pub(crate) struct Excerpts(Arc<Mutex<Option<Excerpt>>>);

/// A recording of the last half minute.
struct Excerpt {
    level: u64,
    last_tick: u64,
    bytes: Bytes,
}

/// Answers with the recording. It shows all that a spectator sees.
pub(crate) async fn last_seconds(Pages(pages): Pages) -> Response {
    let level = pages.game.level();
    let written = in_turn(&pages.excerpts.0, move |last: &mut Option<Excerpt>| {
        let (number, last_tick) = (level.number, level.replay_buffer.last_tick());
        let known = |last: &&Excerpt| last.level == number && last.last_tick == last_tick;
        if let Some(known) = last.as_ref().filter(known) {
            return Some(Ok(known.bytes.clone()));
        }
        let excerpt = level.replay_buffer.excerpt(&level.roster.introductions())?;
        Some(excerpt.map(|bytes| {
            let bytes = Bytes::from(bytes);
            *last = Some(Excerpt { level: number, last_tick, bytes: bytes.clone() });
            bytes
        }))
    });
    match written.await {
        Ok(Some(Ok(bytes))) => {
            let headers = [
                (header::CONTENT_TYPE, "application/octet-stream"),
                (header::CACHE_CONTROL, "no-store"),
            ];
            (headers, bytes).into_response()
        }
        Ok(None) => (StatusCode::NOT_FOUND, "the match has just begun; ask again in a second\n")
            .into_response(),
        Ok(Some(Err(error))) => {
            (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
