use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use glam::{DVec3, Vec3};
use maps::{SizeId, Trace, World};
use sim::{Command, PlayerMotion, Posture, Predictor, Random, Walker};

/// Units between two neighbouring places.
const STRIDE: f32 = 48.0;

/// Highest ledge that is walked up.
const STEP: f32 = 18.0;

/// Highest ledge that a jump reaches, a little below what the jump itself does.
const JUMP: f32 = 40.0;

/// Deepest fall that a way may have.
const FALL: f32 = 400.0;

/// Seconds of a tick by which a flight is followed, and most ticks that it may
/// take: longer than any pad throws.
const TICK: f64 = 1.0 / 60.0;
const FLIGHT: usize = 300;

/// Whoever stands still and yet comes this far in a tick, in units, is thrown by
/// a pad or put elsewhere.
const CARRIED: f32 = 1.0;

/// Most places remembered: a large map at this stride; a bot in a huge one
/// knows its surroundings.
const MOST_PLACES: usize = 8192;

/// The places of a map that players can get to from its spawn points, and how.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    places: Vec<Place>,
    /// Which place is in a cell of the grid, by its height.
    cells: HashMap<(i32, i32), Vec<u32>>,
}

/// Somewhere to stand.
#[derive(Clone, Debug)]
struct Place {
    /// Centre of the smaller of the two boxes of a player.
    position: Vec3,
    /// Whether there is no room to stand upright.
    low: bool,
    exits: Vec<u32>,
}

/// One place of a route.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waypoint {
    /// Where it is, about half a crouching player above the ground.
    pub position: DVec3,
    /// Whether one must duck there.
    pub low: bool,
}

struct Explorer<'a> {
    map: &'a World,
    crouching: SizeId,
    standing: SizeId,
    /// Centre of the standing box over that of the crouching one.
    rise: Vec3,
    /// The server's own movement; without it nothing is known of pads.
    movement: Option<Predictor>,
}

impl Ways {
    /// Walks through the map from its spawn points, and lets itself be thrown by
    /// jump pads and put elsewhere by teleporters.
    pub fn explore(map: &Arc<World>) -> Self {
        let mut ways = Self::default();
        let (Some(crouching), Some(standing)) = (map.size("crouching"), map.size("standing"))
        else {
            return ways;
        };
        let height = |size: SizeId| map.sizes()[size.index()].half_extents.z;
        let rise = Vec3::Z * (height(standing) - height(crouching));
        let movement = Predictor::new(Arc::clone(map), &[]).ok();
        let explorer = Explorer { map, crouching, standing, rise, movement };
        let spawn_points = map.entities().iter().filter(|entity| {
            matches!(entity.classname(), "info_player_deathmatch" | "info_player_start")
        });
        let mut open = VecDeque::new();
        for origin in spawn_points.filter_map(|entity| entity.origin()) {
            if let Some(position) = explorer.ground_below(origin.as_vec3()) {
                open.extend(ways.add(&explorer, position).1);
            }
        }
        while let Some(from) = open.pop_front() {
            let Place { position, low, .. } = ways.places[from as usize];
            if let Some(end) = explorer.carried(position, low) {
                // Nobody walks on from where they are taken away.
                let (to, new) = ways.add(&explorer, end);
                open.extend(new);
                ways.places[from as usize].exits.extend((to != from).then_some(to));
                continue;
            }
            for (dx, dy) in [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)] {
                let start = ways.places[from as usize].position;
                let stride = Vec3::new(dx as f32, dy as f32, 0.0) * STRIDE;
                let Some(end) = explorer.walk(start, stride) else { continue };
                if ways.places.len() >= MOST_PLACES {
                    break;
                }
                let (to, new) = ways.add(&explorer, end);
                open.extend(new);
                let exits = &mut ways.places[from as usize].exits;
                if to != from && !exits.contains(&to) {
                    exits.push(to);
                }
            }
        }
        ways
    }

    /// How many places are known.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether no place is known.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// A place drawn by lot.
    pub fn any(&self, random: &mut Random) -> Option<DVec3> {
        let count = self.places.len() as u64;
        let index = (count > 0).then(|| random.below(count))?;
        Some(self.places[index as usize].position.as_dvec3())
    }

    /// The shortest way, by places passed, from the place nearest to `from` to
    /// the one nearest to `to`; nothing if there is none.
    pub fn route(&self, from: DVec3, to: DVec3) -> Vec<Waypoint> {
        let (Some(start), Some(goal)) = (self.nearest(from), self.nearest(to)) else {
            return Vec::new();
        };
        // Searched backwards would need entrances; forwards, exits do.
        let mut before = vec![u32::MAX; self.places.len()];
        let mut open = VecDeque::from([start]);
        before[start as usize] = start;
        while let Some(place) = open.pop_front() {
            if place == goal {
                break;
            }
            for &exit in &self.places[place as usize].exits {
                if before[exit as usize] == u32::MAX {
                    before[exit as usize] = place;
                    open.push_back(exit);
                }
            }
        }
        let mut route = Vec::new();
        let mut place = goal;
        while before[place as usize] != u32::MAX {
            let Place { position, low, .. } = self.places[place as usize];
            route.push(Waypoint { position: position.as_dvec3(), low });
            if place == start {
                route.reverse();
                return route;
            }
            place = before[place as usize];
        }
        Vec::new()
    }

    /// The place nearest to a position, near it at all.
    fn nearest(&self, position: DVec3) -> Option<u32> {
        let position = position.as_vec3();
        let (x, y) = cell(position);
        let around = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (x + dx, y + dy)));
        let places = around.filter_map(|cell| self.cells.get(&cell)).flatten();
        let distance = |place: u32| self.places[place as usize].position.distance_squared(position);
        places.copied().min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
    }

    /// The place at a position, and again if it is a new one.
    fn add(&mut self, explorer: &Explorer<'_>, position: Vec3) -> (u32, Option<u32>) {
        let cell = self.cells.entry(cell(position)).or_default();
        let same =
            |&&place: &&u32| (self.places[place as usize].position.z - position.z).abs() <= STEP;
        if let Some(&place) = cell.iter().find(same) {
            return (place, None);
        }
        let place = self.places.len() as u32;
        cell.push(place);
        let low = explorer.map.is_solid(explorer.standing, position + explorer.rise);
        self.places.push(Place { position, low, exits: Vec::new() });
        (place, Some(place))
    }
}

impl Explorer<'_> {
    /// Where a player comes to stand who walks a stride, if they get there.
    fn walk(&self, start: Vec3, stride: Vec3) -> Option<Vec3> {
        for height in [STEP, JUMP] {
            let up = self.reach(start, start + Vec3::Z * height);
            let across = self.reach(up, up + stride);
            if across.distance_squared(up) < (stride * 0.9).length_squared() {
                continue;
            }
            return self.ground_below(across);
        }
        None
    }

    /// Where a player comes to stand whom a pad throws or a teleporter takes in
    /// from where they stand; `None` if they stay.
    fn carried(&self, position: Vec3, low: bool) -> Option<Vec3> {
        let movement = self.movement.as_ref()?;
        let (posture, rise) =
            if low { (Posture::Crouching, Vec3::ZERO) } else { (Posture::Standing, self.rise) };
        let walker = Walker { posture, grounded: true, ..Walker::default() };
        let buttons = if low { sim::Buttons::CROUCH } else { sim::Buttons::default() };
        let command = Command { buttons, ..Command::default() };
        let start = PlayerMotion { position: position + rise, velocity: Vec3::ZERO, walker };
        let step = |motion| movement.step(motion, command, TICK, &mut [], &[]).motion;
        let mut motion = step(step(start));
        if motion.position.distance(start.position) < CARRIED {
            return None;
        }
        for _ in 0..FLIGHT {
            if motion.walker.grounded {
                let feet = if motion.walker.posture == posture { rise } else { self.rise - rise };
                return self.ground_below(motion.position - feet);
            }
            motion = step(motion);
        }
        None
    }

    /// Where a move ends.
    fn reach(&self, start: Vec3, end: Vec3) -> Vec3 {
        match self.map.find_first_transition(self.crouching, start, end) {
            Trace::Clear => end,
            Trace::Hit(hit) => hit.end,
            Trace::StartSolid => start,
        }
    }

    fn ground_below(&self, position: Vec3) -> Option<Vec3> {
        let below = position - Vec3::Z * FALL;
        match self.map.find_first_transition(self.crouching, position, below) {
            Trace::Hit(hit) if hit.normal.z > 0.7 => Some(hit.end),
            _ => None,
        }
    }
}

fn cell(position: Vec3) -> (i32, i32) {
    let index = |axis: f32| (axis / STRIDE).floor() as i32;
    (index(position.x), index(position.y))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arena() -> Arc<World> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../maps/arena.obsp");
        Arc::new(World::load(std::path::Path::new(path)).unwrap())
    }

    #[test]
    fn every_spawn_point_of_the_arena_leads_to_most_others() {
        let map = arena();
        let ways = Ways::explore(&map);
        assert!(ways.len() > 200, "{} places", ways.len());
        let origins: Vec<DVec3> = map
            .entities()
            .iter()
            .filter(|entity| entity.classname() == "info_player_deathmatch")
            .filter_map(|entity| entity.origin())
            .collect();
        assert!(origins.len() >= 32);
        let pairs = origins.iter().flat_map(|a| origins.iter().map(move |b| (*a, *b)));
        let found = pairs.clone().filter(|(a, b)| !ways.route(*a, *b).is_empty()).count();
        let share = found as f64 / pairs.count() as f64;
        assert!(share > 0.8, "{share}");
    }

    /// The trigger that takes away who stands here.
    fn carrier(map: &World, position: Vec3) -> Option<&str> {
        let half = |name| map.sizes()[map.size(name).unwrap().index()].half_extents;
        let (standing, crouching) = (half("standing"), half("crouching"));
        let centre = position + Vec3::Z * (standing.z - crouching.z);
        let body = maps::geometry::Aabb::from_centre(centre.as_dvec3(), standing.as_dvec3());
        let carries = |entity: &&maps::MapEntity| {
            matches!(entity.classname(), "trigger_push" | "trigger_teleport")
                && entity.solids().iter().any(|solid| solid.bounds().overlaps(&body))
        };
        map.entities().iter().find(carries).map(|entity| entity.classname())
    }

    /// Whether nobody comes from one place to the other on foot: neighbours are a
    /// stride apart, and each may be known by where somebody stood within a cell.
    fn is_flight(from: Vec3, to: Vec3) -> bool {
        let way = to - from;
        way.truncate().length() >= 3.0 * STRIDE || way.z > JUMP + STEP
    }

    /// Ways lead over the arena's pads and through its teleporters as the movement
    /// code itself takes them, and nowhere else through the air.
    #[test]
    fn pads_throw_to_where_one_comes_to_stand() {
        let map = arena();
        let ways = Ways::explore(&map);
        let mut taken = HashMap::new();
        for place in &ways.places {
            for &exit in &place.exits {
                let lands = ways.places[exit as usize].position;
                if is_flight(place.position, lands) {
                    let carrier = carrier(&map, place.position);
                    let carrier = carrier.unwrap_or_else(|| panic!("{place:?} to {lands}"));
                    assert_eq!(place.exits.len(), 1, "nobody walks on from {place:?}");
                    *taken.entry(carrier).or_insert(0) += 1;
                }
            }
        }
        println!("places that throw or take away: {taken:?}");
        assert!(["trigger_push", "trigger_teleport"].iter().all(|kind| taken.contains_key(kind)));
    }

    #[test]
    fn a_route_is_walked_in_strides_and_through_free_space() {
        let map = arena();
        let ways = Ways::explore(&map);
        let size = map.size("crouching").unwrap();
        let mut random = Random::new(5);
        let mut steps = 0;
        for _ in 0..50 {
            let (from, to) = (ways.any(&mut random).unwrap(), ways.any(&mut random).unwrap());
            for pair in ways.route(from, to).windows(2) {
                let [a, b] = [pair[0].position.as_vec3(), pair[1].position.as_vec3()];
                assert!(!is_flight(a, b) || carrier(&map, a).is_some(), "{a} to {b}");
                assert!(!map.is_solid(size, b));
                steps += 1;
            }
        }
        assert!(steps > 100, "{steps}");
    }
}
