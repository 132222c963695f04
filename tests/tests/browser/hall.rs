//! A hall with known walls and a crate in a corner. A player who walks into the corner along a wall
//! meets the crate from either side, and cannot push it away.

use std::path::{Path, PathBuf};

use server::{Options, PageOptions};
use tests::harness::MapBuilder;

/// Half of the hall's side, in units.
pub(crate) const HALF: i32 = 320;

/// The side of the model `crate`, in units.
pub(crate) const CRATE: f64 = 32.0;

/// Half the width of a player, in units.
pub(crate) const PLAYER: f64 = 16.0;

/// The middle of the crate along X and Y: its faces are a unit from both walls.
pub(crate) const CRATE_AT: f64 = HALF as f64 - 1.0 - CRATE / 2.0;

/// Writes the map of the hall, and returns its path. A camera for the end of a round is in an upper
/// corner of the hall.
pub(crate) fn write_map(name: &str) -> PathBuf {
    let (inner, outer) = (HALF, HALF + 16);
    let spawn = |origin: &str| {
        MapBuilder::default().entity(&[("classname", "info_player_start"), ("origin", origin)])
    };
    let camera =
        [("classname", "info_intermission"), ("origin", "-300 -300 200"), ("mangle", "20 45 0")];
    let hall = spawn("-200 -200 25")
        .entity(&camera)
        .entity(&[("classname", "info_player_start"), ("origin", "200 -200 25")])
        .block([-outer, -outer, -16], [outer, outer, 0])
        .block([inner, -outer, 0], [outer, outer, 256])
        .block([-outer, -outer, 0], [-inner, outer, 256])
        .block([-inner, inner, 0], [inner, outer, 256])
        .block([-inner, -outer, 0], [inner, -inner, 256])
        .prop("crate", [CRATE_AT, CRATE_AT, CRATE / 2.0 + 0.1], 0.0);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.map"));
    std::fs::write(&path, hall.text()).unwrap();
    path
}

/// Options of a server on free loopback ports whose match is in the hall. `name` must differ for
/// each test.
pub(crate) fn options(name: &str) -> Options {
    let map = write_map(name).to_string_lossy().into_owned();
    Options {
        listen: vec![crate::ANY_PORT],
        pages: PageOptions::at(crate::ANY_PORT),
        ..Options::new(map)
    }
}
