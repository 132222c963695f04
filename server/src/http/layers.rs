//! The layers that a page can lay over the match: contacts, the pairs that the filter
//! cascade tests, and a cut through the onion BSP.

use std::sync::Arc;

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use glam::DVec3;
use obsp::World;
use obsp_sim::{AwakeReason, Stage};
use serde::Serialize;

use super::Pages;

/// Points along the longer side of a cut through the onion: one every 8 units
/// of a map of 2048.
const CUT_POINTS: f64 = 256.0;

/// Least units between them.
const CUT_SPACING: f64 = 4.0;

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

/// A level cut through the onion.
#[derive(Serialize)]
struct Cut {
    height: f64,
    /// Where the first point lies, and how far apart they are, in units.
    origin: [f64; 2],
    spacing: f64,
    /// The sizes, in the order of `spaces.toml`.
    sizes: Vec<String>,
    /// Row by row from the south, for each point how many sizes are in solid
    /// there, as a digit: of nested sizes those are the largest.
    rows: Vec<String>,
}

/// `/onion/HEIGHT`: which sizes have room at this height.
pub(super) async fn onion(Pages(pages): Pages, Path(height): Path<f64>) -> Response {
    if !height.is_finite() {
        return (StatusCode::BAD_REQUEST, "the height must be a number\n").into_response();
    }
    pages.level_views.respond(pages.game.level(), move |view| Json(cut(&view.map, height))).await
}

fn cut(map: &World, height: f64) -> Cut {
    let bounds = map.bounds();
    let size = if bounds.is_empty() { DVec3::ONE } else { bounds.max - bounds.min };
    let origin = if bounds.is_empty() { DVec3::ZERO } else { bounds.min };
    let spacing = CUT_SPACING.max(size.x.max(size.y) / CUT_POINTS);
    let points = |length: f64| 0..(length / spacing).ceil() as u32;
    let digit = |x: u32, y: u32| {
        let middle = |least: f64, n: u32| least + (f64::from(n) + 0.5) * spacing;
        let at = DVec3::new(middle(origin.x, x), middle(origin.y, y), height).as_vec3();
        let solidity = map.solidity(at);
        let sizes = map.sizes().iter().filter_map(|size| map.size(&size.name));
        let solid = sizes.filter(|&size| solidity.contains(size)).count();
        char::from_digit(solid as u32, 36).unwrap_or('z')
    };
    Cut {
        height,
        origin: [origin.x, origin.y],
        spacing,
        sizes: map.sizes().iter().map(|size| size.name.clone()).collect(),
        rows: points(size.y).map(|y| points(size.x).map(|x| digit(x, y)).collect()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_shows_rings_about_walls() {
        let path = crate::map_file::find("arena.obsp", &crate::map_file::folders()).unwrap();
        let map = crate::map_file::load(&path).unwrap();
        let cut = cut(&map, 60.0);
        let all = cut.rows.concat();
        for sizes in 0..=cut.sizes.len() {
            let digit = char::from_digit(sizes as u32, 36).unwrap();
            assert!(all.contains(digit), "nowhere are {sizes} sizes in solid");
        }
        assert!(cut.rows.iter().all(|row| row.len() == cut.rows[0].len()));
        assert!(cut.rows.len() <= 256 && cut.rows[0].len() <= 256);
        // In the void around the map there is no room for anybody.
        assert!(cut.rows[0].chars().all(|digit| digit == '4'), "{}", cut.rows[0]);
    }
}
