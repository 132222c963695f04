//! Counts the corners of a scene that lie on the edges of other polygons without being corners of
//! those polygons, on whole maps. The background shows through at each such corner. The count
//! shares no code with `weld`.

use std::path::{Path, PathBuf};

use glam::{DVec3, Vec3};
use serde::Deserialize;

use crate::matches::map_file;

/// A corner nearer to an edge than this, in units, lies on it. It is half of the distance in
/// `weld`, because the scene's numbers are rounded.
const NEAR: f64 = 1.0 / 64.0;

/// A corner nearer to the end of an edge than this, in units, is at the end: a rounded number may
/// move by that much.
const AT_END: f64 = 1.0 / 512.0;

/// The part of a scene that these tests read.
#[derive(Deserialize)]
struct Served {
    polygons: Vec<Vec<f32>>,
}

/// The polygons of the scene that a server sends for the map at `path`.
fn served(path: &Path) -> Vec<Vec<DVec3>> {
    let map = map_file::load(path).unwrap();
    let scene: Served = serde_json::from_slice(&super::of(&map, None, &[])).unwrap();
    let polygons = scene.polygons.iter();
    polygons
        .map(|flat| flat.chunks(3).map(|at| Vec3::from_slice(at).as_dvec3()).collect())
        .collect()
}

/// The edges of polygons, and how many of them have a corner of another polygon between their ends.
fn count(polygons: &[Vec<DVec3>]) -> (usize, usize) {
    let mut corners: Vec<DVec3> = polygons.iter().flatten().copied().collect();
    corners.sort_by(|a, b| a.x.total_cmp(&b.x));
    let ends = |ring: &[DVec3], at: usize| (ring[at], ring[(at + 1) % ring.len()]);
    let edges = polygons.iter().flat_map(|ring| (0..ring.len()).map(|at| ends(ring, at)));
    let broken = edges.clone().filter(|&(a, b)| is_broken(a, b, &corners)).count();
    (edges.count(), broken)
}

/// Whether one of the corners, which are sorted by x, lies between the ends of an edge.
fn is_broken(a: DVec3, b: DVec3, corners: &[DVec3]) -> bool {
    let (low, high) = (a.min(b) - NEAR, a.max(b) + NEAR);
    let first = corners.partition_point(|corner| corner.x < low.x);
    let near = corners[first..].iter().take_while(|corner| corner.x <= high.x);
    near.filter(|corner| corner.cmpge(low).all() && corner.cmple(high).all()).any(|corner| {
        let (from_a, to_b) = (corner - a, b - corner);
        let length = (b - a).length();
        // The height of the triangle that the corner makes with the edge.
        let aside = from_a.cross(b - a).length() / length;
        let at = from_a.dot(b - a) / length;
        aside < NEAR && at > 0.0 && at < length && from_a.length().min(to_b.length()) > AT_END
    })
}

fn own(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../maps")).join(name)
}

/// A map of another project, which is not part of the repository. `None` if it is absent, unless
/// `ARENA_NEED_SHARED=1` is set.
fn foreign(name: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/maps")).join(name);
    if !path.exists() {
        let needed = std::env::var_os("ARENA_NEED_SHARED").is_some_and(|value| value == "1");
        assert!(!needed, "there is no {}", path.display());
        eprintln!("SKIPPED: there is no {}; nothing was tested on it", path.display());
        return None;
    }
    Some(path)
}

fn assert_whole(path: &Path) {
    let (edges, broken) = count(&served(path));
    println!("{}: {edges} edges, {broken} with a corner between their ends", path.display());
    assert!(edges > 1000, "{}: the scene has only {edges} edges", path.display());
    assert_eq!(broken, 0, "{}: of {edges} edges", path.display());
}

#[test]
fn a_corner_between_the_ends_of_an_edge_is_counted() {
    let square = |x: f64, y: f64, side: f64| {
        let corners = [[x, y], [x + side, y], [x + side, y + side], [x, y + side]];
        corners.map(|[x, y]| DVec3::new(x, y, 8.0)).to_vec()
    };
    // The corner of both small squares lies in the middle of the large one's edge.
    let tiles = [square(0.0, 0.0, 64.0), square(64.0, 0.0, 32.0), square(64.0, 32.0, 32.0)];
    assert_eq!(count(&tiles), (12, 1));
    assert_eq!(count(&[square(0.0, 0.0, 64.0), square(64.0, 0.0, 64.0)]), (8, 0));
}

#[test]
fn the_polygons_of_a_compiled_map_have_corners_on_edges() {
    let map = map_file::load(&own("arena.obsp")).unwrap();
    let polygons: Vec<Vec<DVec3>> =
        map.polygons().iter().map(|polygon| polygon.winding.vertices.clone()).collect();
    let (edges, broken) = count(&polygons);
    assert!(broken > 500, "only {broken} of {edges} edges, so the other tests prove nothing");
}

#[test]
fn scenes_of_shipped_maps_have_no_corner_on_an_edge() {
    for map in ["arena.obsp", "warren.obsp", "terrain.obsp"] {
        assert_whole(&own(map));
    }
}

#[test]
fn scenes_of_other_games_maps_have_no_corner_on_an_edge() {
    let maps = ["dm1", "dm3", "dm4", "e1m1", "e1m2"].map(|name| format!("id-gpl/{name}.map"));
    let free = ["lqdm2", "lqdm3", "lqdm11", "lqdm13"].map(|name| format!("librequake/{name}.map"));
    for path in maps.iter().chain(&free).filter_map(|name| foreign(name)) {
        assert_whole(&path);
    }
}
