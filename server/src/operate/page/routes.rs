//! The routes of the pages, in one table. Each route states what it shows of a running match, and
//! who may use it. The router is built from the table alone, so the rule of who may see the match
//! applies to every route.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use axum::{Extension, Router};

use super::files::Edition;
use super::page_state::AllPages;
use super::replays::rewind;
use super::{effects, files as page, info, layers, probes, replays};
use crate::matches::match_handle::who_may_see::Viewer;
use crate::operate::http::gatekeeper::Audience;
use crate::operate::page::Pages;

/// How much a route shows of a running match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tells {
    /// Nothing, as for the page itself, or for a map, which clients are sent before they join.
    Nothing,
    /// The bodies, the shots and the players. The route is refused to those who may not see the
    /// match.
    Match,
    /// Some data of the match. The handler leaves them out for those who may not see the match.
    Part,
}

/// A route of the pages.
struct Route {
    path: &'static str,
    tells: Tells,
    /// Whether only the listener for operators has the route.
    for_operators: bool,
    handler: fn() -> MethodRouter<Arc<AllPages>>,
}

const fn route(
    path: &'static str,
    tells: Tells,
    handler: fn() -> MethodRouter<Arc<AllPages>>,
) -> Route {
    Route { path, tells, for_operators: false, handler }
}

const fn operators(path: &'static str, handler: fn() -> MethodRouter<Arc<AllPages>>) -> Route {
    Route { path, tells: Tells::Match, for_operators: true, handler }
}

const ROUTES: &[Route] = &[
    route("/", Tells::Nothing, || get(page::index)),
    route("/web/{*path}", Tells::Nothing, || get(page::file)),
    route("/scene", Tells::Nothing, || get(replays::scene)),
    route("/scene/{hash}", Tells::Nothing, || get(replays::scene_of)),
    route("/maps/{hash}", Tells::Nothing, || get(replays::map)),
    route("/games/{hash}", Tells::Nothing, || get(replays::game)),
    route("/onion/{height}", Tells::Nothing, || get(layers::onion)),
    route("/info", Tells::Part, || get(info::info)),
    route("/replays", Tells::Part, || get(replays::list)),
    route("/replays/{name}", Tells::Part, || get(replays::one)),
    route("/rewind", Tells::Match, || get(rewind::last_seconds)),
    route("/effects/{after}", Tells::Match, || get(effects::after)),
    route("/contacts", Tells::Match, || get(layers::contacts)),
    operators("/cascade", || get(layers::cascade)),
    operators("/metrics", || get(super::metrics)),
    operators("/figures", || get(super::figures)),
    operators("/healthz", || get(probes::health)),
    operators("/readyz", || get(probes::readiness)),
];

/// The routes of a listener for `audience`, which serves this edition of the page.
pub(super) fn of(state: &Arc<AllPages>, edition: &Arc<Edition>, audience: Audience) -> Router {
    let is_there = |route: &&Route| !route.for_operators || audience == Audience::Operators;
    let router = ROUTES.iter().filter(is_there).fold(Router::new(), |router, route| {
        let handler = (route.handler)();
        let handler = match route.tells {
            Tells::Match => handler.layer(from_fn_with_state(Arc::clone(state), to_viewers)),
            Tells::Nothing | Tells::Part => handler,
        };
        router.route(route.path, handler)
    });
    router.with_state(Arc::clone(state)).layer(Extension(Arc::clone(edition)))
}

/// Passes a request on if its sender may see the match.
async fn to_viewers(
    State(_): State<Arc<AllPages>>,
    Pages(pages): Pages,
    Extension(viewer): Extension<Viewer>,
    request: Request,
    next: Next,
) -> Response {
    if pages.game.may_be_seen_by(viewer) {
        return next.run(request).await;
    }
    let closed = "this match is closed: the server takes no spectators, and no player of the match \
                  is at your address\n";
    (StatusCode::FORBIDDEN, closed).into_response()
}

/// The paths of all routes that the listener for everybody has, and whether a closed match refuses
/// them to strangers.
#[doc(hidden)]
pub fn public_routes() -> Vec<(&'static str, bool)> {
    let public = ROUTES.iter().filter(|route| !route.for_operators);
    public.map(|route| (route.path, route.tells == Tells::Match)).collect()
}

/// The paths of the routes that only operators have.
#[doc(hidden)]
pub fn operators_routes() -> Vec<&'static str> {
    ROUTES.iter().filter(|route| route.for_operators).map(|route| route.path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The author of a route in this list must check that it shows nothing of a running match, or
    /// that its handler leaves out everything that strangers may not see.
    #[test]
    fn every_route_that_is_open_in_a_closed_match_is_named_here() {
        let open: Vec<_> = ROUTES.iter().filter(|route| route.tells != Tells::Match).collect();
        let named = [
            ("/", Tells::Nothing),
            ("/web/{*path}", Tells::Nothing),
            ("/scene", Tells::Nothing),
            ("/scene/{hash}", Tells::Nothing),
            ("/maps/{hash}", Tells::Nothing),
            ("/games/{hash}", Tells::Nothing),
            ("/onion/{height}", Tells::Nothing),
            ("/info", Tells::Part),
            ("/replays", Tells::Part),
            ("/replays/{name}", Tells::Part),
        ];
        let found: Vec<_> = open.iter().map(|route| (route.path, route.tells)).collect();
        assert_eq!(found, named);
    }
}
