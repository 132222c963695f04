//! Data for layers of the page: the work of the cascade, and cuts through the onion. For a live
//! match the server computes them, for a replay this module.

use obsp_sim::query::{Cut, Heat};
use obsp_sim::{AwakeReason, Stage, World};

use crate::json;

/// The work of the cascade, in the form of the server's `/cascade`.
pub(crate) fn cascade(heat: &Heat, world: &World) -> String {
    let state = world.state();
    let pairs = heat.of(&state);
    let pair = |met: &obsp_sim::query::Met| {
        format!("[{},{},{}]", met.slots[0], met.slots[1], met.stage as u8)
    };
    let awake = |(slot, reason): (u16, AwakeReason)| format!("[{slot},{}]", reason as u8);
    format!(
        r#"{{"stages":{},"pairs":{},"reasons":{},"awake":{}}}"#,
        json::list(Stage::ALL.map(|stage| json::text(stage.name()))),
        json::list(pairs.iter().map(pair)),
        json::list(AwakeReason::ALL.map(|reason| json::text(reason.name()))),
        json::list(world.awake_because().map(awake)),
    )
}

/// A cut through the onion, in the form of the server's `/onion`.
pub(crate) fn cut(map: &obsp::Map, height: f64) -> String {
    let Cut { height, origin, spacing, sizes, rows } = Cut::through(map, height);
    format!(
        r#"{{"height":{height},"origin":{},"spacing":{spacing},"sizes":{},"rows":{}}}"#,
        json::numbers(origin),
        json::list(sizes.iter().map(|size| json::text(size))),
        json::list(rows.iter().map(|row| json::text(row))),
    )
}
