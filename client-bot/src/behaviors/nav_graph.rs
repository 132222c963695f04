//! The navigation graph of a map: which positions players can reach from the spawn
//! points, and by which moves.
//!
//! [`NavGraph::explore`] builds it once per map; [`NavGraph::route`] finds the shortest
//! route between two positions.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use glam::{DVec3, Vec3};
use obsp::geometry::Aabb;
use obsp::{Map, SizeId, Trace};
use obsp_sim::{
    CollisionLayers, Command, MovementParameters, MovementSets, PlayerMotion, Posture, Predictor,
    Random, Walker,
};

use super::gates::{Gate, Switch};
use super::sight::sees;

/// Units between two neighbouring nodes.
const STRIDE: f32 = 48.0;

/// Positions in one cell whose heights differ by no more than this, in units, are one node.
const SAME_FLOOR: f32 = 18.0;

/// Maximum height of a ledge to jump onto, as a share of the height of a jump.
const JUMPED: f64 = 0.88;

/// Highest ledge, in units, for which a jump is tried, however high a jump would reach.
const MAX_JUMP: f64 = 400.0;

/// Deepest fall, in units, along an edge of the graph.
const MAX_FALL: f32 = 400.0;

/// Length, in seconds, of the ticks by which a flight is simulated.
const TICK: f64 = 1.0 / 60.0;

/// Maximum number of ticks per flight: more than most jump pads' throws take in half the usual
/// gravity.
const MAX_FLIGHT: usize = 600;

/// A player who stands still and yet moves this far in a tick, in units, is thrown by a
/// jump pad or moved by a teleporter.
const MIN_TRANSPORT: f32 = 1.0;

/// Classes of volumes in which players climb.
const LADDERS: [&str; 2] = ["trigger_ladder", "func_ladder"];

/// The headings in which a ladder is tried. Most ladders lean on a wall along an axis.
const HEADINGS: [u16; 4] = [0, 1 << 14, 1 << 15, 3 << 14];

/// Ticks for which a player who has climbed a ladder walks on, so that the next node is not at the
/// edge above the ladder.
const WALKS_ON: usize = 10;

/// Maximum number of nodes per graph: enough for a large map at this stride. On a larger map, bots
/// know only the surroundings of its spawn points.
const MAX_NODES: usize = 8192;

/// The positions of a map that players can reach from its spawn points.
#[derive(Clone, Debug, Default)]
pub struct NavGraph {
    nodes: Vec<Node>,
    /// The nodes in each grid cell. The nodes of one cell differ in height.
    cells: HashMap<(i32, i32), Vec<u32>>,
    movement: MovementParameters,
    /// The doors that are opened by a switch.
    gates: Vec<Gate>,
}

/// A position where a player can stand.
#[derive(Clone, Debug)]
struct Node {
    /// Centre of a crouching player's box.
    position: Vec3,
    /// Whether there is only room to crouch.
    crouch: bool,
    edges: Vec<u32>,
}

/// One position of a route.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waypoint {
    /// Centre of a crouching player's box.
    pub position: DVec3,
    /// Whether there is only room to crouch.
    pub crouch: bool,
}

struct Explorer<'a> {
    map: &'a Map,
    crouching: SizeId,
    standing: SizeId,
    /// The vector from the centre of the crouching box to the centre of the standing box.
    rise: Vec3,
    /// The highest ledge that is walked up, and the highest that a jump reaches, in units.
    ledges: [f32; 2],
    /// The server's own movement code; without it jump pads and teleporters are ignored.
    predictor: Option<Predictor>,
    movement: &'a MovementParameters,
    ladders: Vec<Aabb>,
}

/// The highest ledge that is walked up, and the highest that a jump reaches, in units.
fn ledges(movement: &MovementParameters) -> [f32; 2] {
    let jumped = (JUMPED * movement.jump_height()).min(MAX_JUMP);
    [movement.step_height, jumped.max(movement.step_height)].map(|height| height as f32)
}

impl NavGraph {
    /// The movement parameters of the players on the map.
    pub(super) fn movement(&self) -> &MovementParameters {
        &self.movement
    }

    /// Explores the map from its spawn points, by walking, ladders, jump pads and teleporters, for
    /// players with these movement parameters. Doors are taken to be open.
    pub fn explore(map: &Arc<Map>, movement: &MovementParameters) -> Self {
        let mut graph = Self { movement: *movement, ..Self::default() };
        let (Some(crouching), Some(standing)) = (map.size("crouching"), map.size("standing"))
        else {
            return graph;
        };
        let height = |size: SizeId| map.sizes()[size.index()].half_extents.z;
        let rise = Vec3::Z * (height(standing) - height(crouching));
        let predictor = Predictor::new(Arc::clone(map), &[]).ok();
        let ledges = ledges(movement);
        let ladders = map.entities().iter().filter(|it| LADDERS.contains(&it.classname()));
        let ladders = ladders.flat_map(|it| it.solids()).map(|solid| *solid.bounds()).collect();
        let explorer =
            Explorer { map, crouching, standing, rise, ledges, predictor, movement, ladders };
        let spawn_points = map.entities().iter().filter(|entity| {
            matches!(entity.classname(), "info_player_deathmatch" | "info_player_start")
        });
        let mut open = VecDeque::new();
        for origin in spawn_points.filter_map(|entity| entity.origin()) {
            if let Some(position) = explorer.ground_below(origin.as_vec3()) {
                open.extend(graph.add(&explorer, position).1);
            }
        }
        while let Some(from) = open.pop_front() {
            let Node { position, crouch, .. } = graph.nodes[from as usize];
            if let Some(end) = explorer.transported(position, crouch) {
                // A player who arrives here is transported, and cannot walk on.
                let (to, new) = graph.add(&explorer, end);
                open.extend(new);
                graph.nodes[from as usize].edges.extend((to != from).then_some(to));
                continue;
            }
            if let Some(end) = explorer.climbed(position, crouch) {
                let (to, new) = graph.add(&explorer, end);
                open.extend(new);
                graph.nodes[from as usize].edges.extend((to != from).then_some(to));
            }
            for (dx, dy) in [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)] {
                let start = graph.nodes[from as usize].position;
                let stride = Vec3::new(dx as f32, dy as f32, 0.0) * STRIDE;
                let Some(end) = explorer.walk(start, stride) else { continue };
                if graph.nodes.len() >= MAX_NODES {
                    break;
                }
                let (to, new) = graph.add(&explorer, end);
                open.extend(new);
                let edges = &mut graph.nodes[from as usize].edges;
                if to != from && !edges.contains(&to) {
                    edges.push(to);
                }
            }
        }
        graph.gates = Gate::of(map);
        graph.find_stands(map);
        graph
    }

    /// Finds where a player stands to use each switch: at the nearest node that sees it.
    fn find_stands(&mut self, map: &Map) {
        let mut gates = std::mem::take(&mut self.gates);
        for switch in gates.iter_mut().flat_map(|gate| &mut gate.switches) {
            let seeing = |node: &Node| sees(map, node.position.as_dvec3(), switch.middle);
            let near = self.nearest_where(switch.middle, seeing);
            if let Some(node) = near.or_else(|| self.nearest(switch.middle)) {
                switch.from = self.nodes[node as usize].position.as_dvec3();
            }
        }
        self.gates = gates;
    }

    /// The shortest way to a switch that opens the door in front of a bot on `route`, and the
    /// switch. `None` if there is no such door, or if all ways to its switches lead through it.
    pub(super) fn way_to_open(
        &self,
        here: DVec3,
        route: &[Waypoint],
    ) -> Option<(Vec<Waypoint>, Switch)> {
        let gate = self.gates.iter().find(|gate| gate.is_before(here, route))?;
        let ways = gate.switches.iter().map(|switch| (self.route(here, switch.from), *switch));
        let ways = ways.filter(|(way, _)| !way.is_empty() && !gate.is_crossed(here, way));
        ways.min_by_key(|(way, _)| way.len())
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The position of a random node; `None` if there is none.
    pub fn random_position(&self, random: &mut Random) -> Option<DVec3> {
        let count = self.nodes.len() as u64;
        let index = (count > 0).then(|| random.below(count))?;
        Some(self.nodes[index as usize].position.as_dvec3())
    }

    /// The route with the fewest nodes from the node nearest to `from` to the one
    /// nearest to `to`; empty if there is none.
    pub fn route(&self, from: DVec3, to: DVec3) -> Vec<Waypoint> {
        let (Some(start), Some(goal)) = (self.nearest(from), self.nearest(to)) else {
            return Vec::new();
        };
        // The search is breadth first and forwards, because edges have one direction.
        let mut before = vec![u32::MAX; self.nodes.len()];
        let mut open = VecDeque::from([start]);
        before[start as usize] = start;
        while let Some(node) = open.pop_front() {
            if node == goal {
                break;
            }
            for &edge in &self.nodes[node as usize].edges {
                if before[edge as usize] == u32::MAX {
                    before[edge as usize] = node;
                    open.push_back(edge);
                }
            }
        }
        let mut route = Vec::new();
        let mut node = goal;
        while before[node as usize] != u32::MAX {
            let Node { position, crouch, .. } = self.nodes[node as usize];
            route.push(Waypoint { position: position.as_dvec3(), crouch });
            if node == start {
                route.reverse();
                return route;
            }
            node = before[node as usize];
        }
        Vec::new()
    }

    /// The node nearest to a position, among those in its cell and the cells around.
    fn nearest(&self, position: DVec3) -> Option<u32> {
        self.nearest_where(position, |_| true)
    }

    /// The nearest of the nodes for which `is_meant` holds, in the same cells.
    fn nearest_where(&self, position: DVec3, is_meant: impl Fn(&Node) -> bool) -> Option<u32> {
        let position = position.as_vec3();
        let (x, y) = cell(position);
        let around = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (x + dx, y + dy)));
        let nodes = around.filter_map(|cell| self.cells.get(&cell)).flatten();
        let distance = |node: u32| self.nodes[node as usize].position.distance_squared(position);
        let nodes = nodes.copied().filter(|&node| is_meant(&self.nodes[node as usize]));
        nodes.min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
    }

    /// The node at a position. If there is none yet, adds it, and returns it as the second value as
    /// well.
    fn add(&mut self, explorer: &Explorer<'_>, position: Vec3) -> (u32, Option<u32>) {
        let cell = self.cells.entry(cell(position)).or_default();
        let same =
            |&&node: &&u32| (self.nodes[node as usize].position.z - position.z).abs() <= SAME_FLOOR;
        if let Some(&node) = cell.iter().find(same) {
            return (node, None);
        }
        let node = self.nodes.len() as u32;
        cell.push(node);
        let crouch = explorer.map.is_solid(explorer.standing, position + explorer.rise);
        self.nodes.push(Node { position, crouch, edges: Vec::new() });
        (node, Some(node))
    }
}

impl Explorer<'_> {
    /// Where a player stands after walking one stride; `None` if they do not get there.
    fn walk(&self, start: Vec3, stride: Vec3) -> Option<Vec3> {
        for height in self.ledges {
            let up = self.reach(start, start + Vec3::Z * height);
            let across = self.reach(up, up + stride);
            if across.distance_squared(up) < (stride * 0.9).length_squared() {
                continue;
            }
            return self.ground_below(across);
        }
        None
    }

    /// Where a player stands after a jump pad or teleporter at their position has
    /// transported them; `None` if there is none.
    fn transported(&self, position: Vec3, crouch: bool) -> Option<Vec3> {
        let predictor = self.predictor.as_ref()?;
        let (posture, rise) =
            if crouch { (Posture::Crouching, Vec3::ZERO) } else { (Posture::Standing, self.rise) };
        let walker = Walker { posture, grounded: true, ..Walker::default() };
        let buttons = if crouch { obsp_sim::Buttons::CROUCH } else { obsp_sim::Buttons::default() };
        let command = Command { buttons, ..Command::default() };
        let start = PlayerMotion { position: position + rise, velocity: Vec3::ZERO, walker };
        let layers = CollisionLayers::default();
        let by = (TICK, &MovementSets::from(*self.movement), layers);
        let step = |motion| predictor.step(motion, command, by, &mut [], &[], &[]).motion;
        let mut motion = step(step(start));
        if motion.position.distance(start.position) < MIN_TRANSPORT {
            return None;
        }
        for _ in 0..MAX_FLIGHT {
            if motion.walker.grounded {
                let feet = if motion.walker.posture == posture { rise } else { self.rise - rise };
                return self.ground_below(motion.position - feet);
            }
            motion = step(motion);
        }
        None
    }

    /// Where a player stands after climbing the ladder beside their position; `None` if there is
    /// none that leads higher than a jump.
    fn climbed(&self, position: Vec3, crouch: bool) -> Option<Vec3> {
        let predictor = self.predictor.as_ref().filter(|_| !crouch)?;
        let here = position.as_dvec3();
        let near = Aabb::from_centre(here, DVec3::splat(f64::from(STRIDE)));
        let jumped = f64::from(self.ledges[1]);
        let leads_up = |ladder: &&Aabb| ladder.overlaps(&near) && ladder.max.z > here.z + jumped;
        self.ladders.iter().find(leads_up)?;
        let mut ends = HEADINGS.into_iter().filter_map(|yaw| self.climb(predictor, position, yaw));
        ends.next()
    }

    /// Where a player stands after climbing with this heading, and walking on for a moment.
    fn climb(&self, predictor: &Predictor, position: Vec3, yaw: u16) -> Option<Vec3> {
        let buttons = obsp_sim::Buttons::JUMP;
        let command = Command { forward: i8::MAX, yaw, buttons, ..Command::default() };
        let walker = Walker { grounded: true, ..Walker::default() };
        let start = PlayerMotion { position: position + self.rise, velocity: Vec3::ZERO, walker };
        let by = (TICK, &MovementSets::from(*self.movement), CollisionLayers::default());
        let step = |motion: &PlayerMotion| {
            Some(predictor.step(*motion, command, by, &mut [], &[], &[]).motion)
        };
        let motions = std::iter::successors(step(&start), step).take(MAX_FLIGHT);
        let is_up = |motion: &PlayerMotion| {
            motion.walker.grounded && motion.position.z - start.position.z > self.ledges[1]
        };
        let above = motions.skip_while(|motion| !is_up(motion));
        let walked = above.take_while(is_up).take(WALKS_ON).last()?;
        self.ground_below(walked.position - self.rise)
    }

    /// Where a sweep of the crouching box ends.
    fn reach(&self, start: Vec3, end: Vec3) -> Vec3 {
        match self.map.find_first_transition(self.crouching, start, end) {
            Trace::Clear => end,
            Trace::Hit(hit) => hit.end,
            Trace::StartSolid => start,
        }
    }

    fn ground_below(&self, position: Vec3) -> Option<Vec3> {
        let below = position - Vec3::Z * MAX_FALL;
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

    fn arena() -> Arc<Map> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../maps/arena.obsp");
        Arc::new(Map::load(std::path::Path::new(path)).unwrap())
    }

    #[test]
    fn every_spawn_point_of_the_arena_leads_to_most_others() {
        let map = arena();
        let graph = NavGraph::explore(&map, &MovementParameters::default());
        assert!(graph.len() > 200, "{} nodes", graph.len());
        let origins: Vec<DVec3> = map
            .entities()
            .iter()
            .filter(|entity| entity.classname() == "info_player_deathmatch")
            .filter_map(|entity| entity.origin())
            .collect();
        assert!(origins.len() >= 32);
        let pairs = origins.iter().flat_map(|a| origins.iter().map(move |b| (*a, *b)));
        let found = pairs.clone().filter(|(a, b)| !graph.route(*a, *b).is_empty()).count();
        let share = found as f64 / pairs.count() as f64;
        assert!(share > 0.8, "{share}");
    }

    /// The trigger that transports a player who stands here.
    fn transporter(map: &Map, position: Vec3) -> Option<&str> {
        let half = |name| map.sizes()[map.size(name).unwrap().index()].half_extents;
        let (standing, crouching) = (half("standing"), half("crouching"));
        let centre = position + Vec3::Z * (standing.z - crouching.z);
        let body = obsp::geometry::Aabb::from_centre(centre.as_dvec3(), standing.as_dvec3());
        let carries = |entity: &&obsp::MapEntity| {
            matches!(entity.classname(), "trigger_push" | "trigger_teleport")
                && entity.solids().iter().any(|solid| solid.bounds().overlaps(&body))
        };
        map.entities().iter().find(carries).map(|entity| entity.classname())
    }

    /// Whether nobody can walk from one node to the other. Neighbours are a stride apart, and
    /// each may be anywhere within its cell.
    fn is_flight(from: Vec3, to: Vec3) -> bool {
        let way = to - from;
        way.truncate().length() >= 3.0 * STRIDE
            || way.z > ledges(&MovementParameters::default()).iter().sum()
    }

    /// Edges lead over the arena's jump pads and through its teleporters to where the movement code
    /// leads, and nowhere else through the air.
    #[test]
    fn jump_pads_and_teleporters_lead_to_where_a_player_lands() {
        let map = arena();
        let graph = NavGraph::explore(&map, &MovementParameters::default());
        let mut taken = HashMap::new();
        for node in &graph.nodes {
            for &edge in &node.edges {
                let lands = graph.nodes[edge as usize].position;
                if is_flight(node.position, lands) {
                    let transporter = transporter(&map, node.position);
                    let transporter = transporter.unwrap_or_else(|| panic!("{node:?} to {lands}"));
                    assert_eq!(node.edges.len(), 1, "nobody walks on from {node:?}");
                    *taken.entry(transporter).or_insert(0) += 1;
                }
            }
        }
        println!("nodes that throw or take away: {taken:?}");
        assert!(["trigger_push", "trigger_teleport"].iter().all(|kind| taken.contains_key(kind)));
    }

    /// Symptom: bots walked up ledges of 18 units and jumped onto ledges of 40, whatever
    /// `game.toml` said. Cause: constants instead of the game's parameters. Cure: the heights of
    /// ledges come from the game's own numbers.
    #[test]
    fn ledges_are_those_that_the_games_numbers_reach() {
        let with = |step_height, jump_speed, gravity| {
            let usual = MovementParameters::default();
            ledges(&MovementParameters { step_height, jump_speed, gravity, ..usual })
        };
        let [step, jump] = with(18.0, 270.0, 800.0);
        assert!(step == 18.0 && (jump - 40.0).abs() < 0.2, "Quake's: {step}, {jump}");
        let [step, jump] = with(8.0, 270.0, 400.0);
        assert!(step == 8.0 && (jump - 80.0).abs() < 0.5, "{step}, {jump}");
        assert_eq!(with(30.0, 0.0, 0.0), [30.0, 30.0], "nobody jumps");
        assert_eq!(with(18.0, 270.0, 0.0), [18.0, MAX_JUMP as f32], "nobody comes down");
    }

    #[test]
    fn a_route_goes_in_strides_through_free_space() {
        let map = arena();
        let graph = NavGraph::explore(&map, &MovementParameters::default());
        let size = map.size("crouching").unwrap();
        let mut random = Random::new(5);
        let mut steps = 0;
        for _ in 0..50 {
            let (from, to) = (
                graph.random_position(&mut random).unwrap(),
                graph.random_position(&mut random).unwrap(),
            );
            for pair in graph.route(from, to).windows(2) {
                let [a, b] = [pair[0].position.as_vec3(), pair[1].position.as_vec3()];
                assert!(!is_flight(a, b) || transporter(&map, a).is_some(), "{a} to {b}");
                assert!(!map.is_solid(size, b));
                steps += 1;
            }
        }
        assert!(steps > 100, "{steps}");
    }
}
