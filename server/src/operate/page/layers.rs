//! The data of the layers that a page can draw over the match: contacts, the pairs that the filter
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

use crate::operate::page::Pages;

/// Points at which props touch something.
#[derive(Serialize)]
struct Contacts {
    tick: u64,
    /// Each point's x, y, z and gap, in units, and its impulse, in kilogram units per second.
    points: Vec<[f32; 5]>,
}

/// `/contacts`: the contact points. A request makes later published states hold contacts for a
/// while. So after a pause between requests, the first answer is empty.
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

/// The pairs that the filter cascade has to test, and the bodies that are awake.
#[derive(Serialize)]
struct Cascade {
    tick: u64,
    /// The names of the stages, the cheapest first.
    stages: [&'static str; Stage::COUNT],
    /// The slots of both bodies, and the number of the stage that decided the pair.
    pairs: Vec<(u16, u16, u8)>,
    /// The names of the reasons why bodies are awake.
    reasons: [&'static str; AwakeReason::COUNT],
    /// The slots of the bodies that are awake, and the number of the reason.
    awake: Vec<(u16, u8)>,
}

/// `/cascade`: the pairs of [`Heat`](obsp_sim::query::Heat), and why bodies are awake. A request
/// makes later published states hold these reasons for a while. So after a pause between requests,
/// the first answer lacks them.
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

/// `/onion/HEIGHT`: a cut through the onion BSP at this height. The cut shows where each size has
/// room.
pub(super) async fn onion(Pages(pages): Pages, Path(height): Path<f64>) -> Response {
    if !height.is_finite() {
        return (StatusCode::BAD_REQUEST, "the height must be a number\n").into_response();
    }
    pages
        .level_views
        .respond(pages.game.level(), move |view| Json(Cut::through(&view.map, height)))
        .await
}
