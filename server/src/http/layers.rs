//! The layers that a page can lay over the match: contacts, the pairs that the filter
//! cascade tests, and a cut through the onion BSP.

use std::sync::Arc;

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use glam::DVec3;
use obsp_sim::query::Cut;
use obsp_sim::{AwakeReason, Stage};
use serde::Serialize;

use super::Pages;

/// Points at which props touch something.
#[derive(Serialize)]
struct Contacts {
    tick: u64,
    /// x, y, z and the gap, in units, and the impulse, in kilogram units per
    /// second.
    points: Vec<[f32; 5]>,
}

/// `/contacts`: empty when asked for the first time in a while; published states hold
/// them from the next tick on.
pub(super) async fn contacts(Pages(pages): Pages) -> Response {
    let published = Arc::clone(&pages.game.latest.borrow());
    pages.contact_subscription.renew(published.state.tick);
    let point = |contact: &obsp_sim::Contact| {
        let DVec3 { x, y, z } = contact.at;
        [x, y, z, contact.gap, contact.impulse].map(|number| number as f32)
    };
    let work = move || Contacts {
        tick: published.state.tick,
        points: published.contacts.iter().flatten().map(point).collect(),
    };
    pages.level_views.respond_without_view(work).await
}

/// Pairs that the filter cascade has to tell apart.
#[derive(Serialize)]
struct Cascade {
    tick: u64,
    /// The names of the stages, the cheapest first.
    stages: [&'static str; Stage::COUNT],
    /// Two slots, and the stage that decided.
    pairs: Vec<(u16, u16, u8)>,
    /// The names of the reasons why bodies are awake.
    reasons: [&'static str; AwakeReason::COUNT],
    /// The slots of those that are, and the reason.
    awake: Vec<(u16, u8)>,
}

/// `/cascade`: see [`Heat`](obsp_sim::query::Heat). Why bodies are awake is not in the first
/// answer in a while: published states hold it from the next tick on.
pub(super) async fn cascade(Pages(pages): Pages) -> Response {
    let published = Arc::clone(&pages.game.latest.borrow());
    pages.contact_subscription.renew(published.state.tick);
    let level = Arc::clone(&published.level);
    let awake = |&(slot, reason): &(u16, AwakeReason)| (slot, reason as u8);
    let pair = |met: &obsp_sim::query::Met| (met.slots[0], met.slots[1], met.stage as u8);
    let respond = pages.level_views.respond(level, move |view| {
        Json(Cascade {
            tick: published.state.tick,
            stages: Stage::ALL.map(Stage::name),
            pairs: view.heat.of(&published.state).iter().map(pair).collect(),
            reasons: AwakeReason::ALL.map(AwakeReason::name),
            awake: published.awake_because.iter().flatten().map(awake).collect(),
        })
    });
    respond.await
}

/// `/onion/HEIGHT`: which sizes have room at this height.
pub(super) async fn onion(Pages(pages): Pages, Path(height): Path<f64>) -> Response {
    if !height.is_finite() {
        return (StatusCode::BAD_REQUEST, "the height must be a number\n").into_response();
    }
    pages
        .level_views
        .respond(pages.game.level(), move |view| Json(Cut::through(&view.map, height)))
        .await
}
