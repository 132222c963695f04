//! The soak, as an operator runs it. It is clean on the arena and repeatable, and its dump can be
//! audited by other programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use glam::{DQuat, DVec3};
use obsp_game::arena::Arena;
use obsp_game::{AnyGame, Game, WorldMut};
use obsp_sim::{Depth, EntityId, EntityState};
use serde_json::Value;
use server::soak::{Played, Report, SoakOptions, soak, soak_game};
use server::{ModelsOptions, write_models};
use tests::harness::{ExactJudge, Form, MapBuilder, drawn_number, own_map};
use tests::oracle::bodies::{Overlap, Placed, Shape, drawn_bodies, read_obj};
use tests::oracle::map_text;

fn short(seed: u64) -> SoakOptions {
    SoakOptions {
        players: 16,
        objects: 100,
        ticks: 600,
        seed,
        audit_every: 10,
        audit_first: 120,
        ..SoakOptions::new(own_map("arena.obsp").to_string_lossy())
    }
}

#[test]
fn a_soak_on_the_arena_is_clean_and_repeats_itself() {
    let seed = 7;
    let report = soak(&short(seed)).expect("the arena can be played");
    assert!(report.is_clean(), "seed {seed}: {report}");
    assert_eq!((report.ticks, report.players, report.limbo), (600, 16, 0));
    // An audit takes place before the first tick, after each of the first 120, and after every
    // tenth tick from then on.
    assert_eq!(report.audits, 1 + 120 + 48);
    assert!(report.awake_mean > 1.0 && report.time_of_impact.queries > 1_000, "{report}");
    // The report has every key that scripts read.
    let json = serde_json::to_value(&report).expect("the report is JSON");
    let check_keys = |object: &Value, names: &str| {
        for name in names.split(' ') {
            assert!(!object[name].is_null(), "no {name} in {object}");
        }
    };
    check_keys(
        &json,
        "ticks players objects awake_mean awake_because asleep_share tick_us audits \
         interpenetrations unsound deepest tunnelled emergency_replacements limbo stuck_players digest cascade time_of_impact \
         movers mover_moves rides blocked_movers items_taken swum_seconds unknown_classes",
    );
    assert_eq!((report.played.movers, report.played.unknown_classes), (6, 0), "{report}");
    assert!(report.asleep_share > 0.0 && report.asleep_share < 1.0, "{}", report.asleep_share);
    // The report counts the objects of the last tick. In earlier ticks there may have been some
    // dozens more, because grenades are objects, too.
    let awake = report.awake_because.values().sum::<f64>();
    assert!(awake > 0.0 && awake <= report.objects as f64 + 40.0, "{awake} awake");
    check_keys(&json["tick_us"], "p50 p90 p99 max");
    check_keys(&json["cascade"][0], "stage tests definitive");
    assert!(json["cascade"][0].get("mean_ns").is_some(), "{json}");
    check_keys(&json["time_of_impact"], "queries mean_iterations");
    let again = soak(&short(seed)).expect("the arena can be played");
    assert_eq!((&again.digest, again.time_of_impact), (&report.digest, report.time_of_impact));
    let other = soak(&short(seed + 1)).expect("the arena can be played");
    assert_ne!(other.digest, report.digest);
}

/// Soaks a game for half a minute on a test's map, and returns the report, which must be clean.
fn soak_of(game: &dyn AnyGame, name: &str, map: &MapBuilder, players: u16) -> Report {
    let folder = std::env::temp_dir().join(format!("soak-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let path = folder.join(format!("{name}.map"));
    std::fs::write(&path, map.text()).expect("the map can be written");
    let options = SoakOptions {
        players,
        objects: 0,
        ticks: 1_800,
        ..SoakOptions::new(path.to_string_lossy())
    };
    let report = soak_game(game, &options).expect("the map can be played");
    std::fs::remove_dir_all(&folder).expect("the folder was written");
    assert!(report.is_clean(), "{report}");
    report
}

/// The map has a lift, a button and items, which the players of a soak use, and a class that nobody
/// handles. A train comes down on a crate, which blocks it.
#[test]
fn a_soak_tells_what_the_entities_of_its_map_did() {
    let mut hall = MapBuilder::floor();
    for x in [-600, -200, 200, 600] {
        hall = hall.spawn_point([x, -600, 0]).spawn_point([x, 600, 0]);
        let shells = [("classname", "item_shells"), ("origin", &*format!("{x} 0 24"))];
        hall = hall.entity(&shells);
    }
    let lift = [("classname", "func_plat"), ("height", "96")];
    let button = [("classname", "func_button"), ("angle", "180")];
    let train = [("classname", "func_train"), ("target", "high")];
    for (name, next, z) in [("high", "low", 120), ("low", "high", 10)] {
        let origin = format!("700 -300 {z}");
        let corner = [("targetname", name), ("target", next), ("origin", &*origin)];
        hall = hall.entity(&[&[("classname", "path_corner")], &corner[..]].concat());
    }
    let map = hall
        .volume(&train, [700, -300, 120], [800, -200, 136])
        .prop("crate", [750.0, -250.0, 40.0], 0.0)
        .volume(&lift, [-500, 200, 100], [-300, 400, 112])
        .volume(&button, [400, 200, 0], [432, 264, 64])
        .entity(&[("classname", "func_unheard_of"), ("origin", "0 0 50")]);
    let report = soak_of(&Arena, "played", &map, 8);
    let Played { movers, mover_moves, rides, blocked_movers, items_taken, .. } = report.played;
    let Played { swum_seconds, unknown_classes, .. } = report.played;
    assert_eq!(swum_seconds, 0.0, "{report}");
    assert_eq!((movers, unknown_classes), (3, 1), "{report}");
    assert!(blocked_movers >= 1, "{report}");
    assert!(mover_moves >= 10 && rides >= 2 && items_taken >= 4, "{report}");
    assert!(report.to_string().contains("items taken"), "{report}");
}

/// A game that announces when somebody has been under water for as long as Quake's players hold
/// their breath.
#[derive(Clone, Debug)]
struct Bathers;

/// Ticks for which a player holds their breath: twelve seconds.
const BREATH: u32 = 720;

impl Game for Bathers {
    /// The ticks in a row for which each player has been under water.
    type State = BTreeMap<EntityId, u32>;

    fn set_up(&self, _: &mut WorldMut<'_>) -> Self::State {
        BTreeMap::new()
    }

    fn tick(&self, below: &mut Self::State, world: &mut WorldMut<'_>) {
        let players = world.state().entities.into_iter().filter(|entity| entity.kind.is_player());
        for EntityState { id, .. } in players {
            let is_below = world.submersion(id).is_some_and(|it| it.depth == Depth::Eyes);
            let ticks = below.entry(id).or_default();
            *ticks = if is_below { *ticks + 1 } else { 0 };
            if *ticks == BREATH {
                world.announce("somebody drowned");
            }
        }
    }
}

/// Four players spawn at the bottom of a deep basin. They swim all the time, and none drowns.
#[test]
fn players_of_a_soak_swim_and_do_not_drown() {
    let mut basin = MapBuilder::default().block([-512, -512, -32], [512, 512, 0]);
    for [min, max] in [
        [[-544, -544, -32], [-512, 544, 600]],
        [[512, -544, -32], [544, 544, 600]],
        [[-512, -544, -32], [512, -512, 600]],
        [[-512, 512, -32], [512, 544, 600]],
    ] {
        basin = basin.block(min, max);
    }
    basin = basin.water([-512, -512, 0], [512, 512, 400]);
    for (x, y) in [(-400, -400), (-400, 400), (400, -400), (400, 400)] {
        basin = basin.spawn_point([x, y, 0]);
    }
    let report = soak_of(&Bathers, "basin", &basin, 4);
    let swum = report.played.swum_seconds;
    assert!((110.0..=120.0).contains(&swum), "{report}");
    assert!(report.to_string().contains(&format!("swam for {swum:.1} s")), "{report}");
    assert_eq!(report.outcome.announced, None, "{report}");
}

/// An independent audit. It uses only the dump, the models' files and the map's source.
struct Stranger {
    judge: ExactJudge,
    /// Indices of the forms, by model or by half extents of a box.
    forms: BTreeMap<String, usize>,
}

impl Stranger {
    /// Reads all lines of a dump, the models in `folder` and the map's source.
    fn new(lines: &[Value], folder: &Path, map: &Path) -> Self {
        let source = std::fs::read_to_string(map).expect("the map's source");
        let map = map_text::parse(&source).expect("the map can be read");
        let drawn = drawn_bodies(&map);
        let (mut list, mut forms) = (Vec::new(), BTreeMap::new());
        for entity in entities(lines).filter(is_solid) {
            forms.entry(form(entity)).or_insert_with(|| {
                list.push(match entity["model"].as_str() {
                    Some(model) => match drawn_number(model) {
                        Some(number) => Form::Mover(drawn[number - 1].clone()),
                        None => {
                            let obj = folder.join(format!("{model}.obj"));
                            let text = std::fs::read_to_string(obj).expect("the model's file");
                            Form::Body(Shape::from_loops(&read_obj(&text)))
                        }
                    },
                    None => {
                        let half = DVec3::from(numbers(entity, "box"));
                        Form::Body(Shape::cuboid(-half, half))
                    }
                });
                list.len() - 1
            });
        }
        Self { judge: ExactJudge::of_forms(&map, list), forms }
    }

    /// The overlaps in one line of the dump. An overlap of a mover with the map is left out,
    /// because the path of a mover may lead into the map.
    fn judge(&mut self, line: &Value) -> Vec<Overlap> {
        let placed = |entity: &Value| {
            let [slot, generation] = numbers(entity, "id");
            Placed {
                id: slot as u64 * 65_536 + generation as u64,
                shape: self.forms[&form(entity)],
                orientation: DQuat::from_array(numbers(entity, "quaternion")),
                position: DVec3::from(numbers(entity, "position")),
            }
        };
        let solid = entities(std::slice::from_ref(line)).filter(is_solid);
        let things: Vec<Placed> = solid.map(placed).collect();
        let mut overlaps = self.judge.judge_things(&things);
        overlaps.retain(|found| !self.judge.is_of_mover_and_map(found));
        overlaps
    }
}

fn entities(lines: &[Value]) -> impl Iterator<Item = &Value> {
    lines.iter().flat_map(|line| line["entities"].as_array().expect("entities"))
}

/// Whether an entity has a body.
fn is_solid(entity: &&Value) -> bool {
    entity["solid"].as_bool().unwrap_or_else(|| panic!("no solid: {entity}"))
}

/// The shape of an entity as text: a player's box or a model's name.
fn form(entity: &Value) -> String {
    let form = if entity["kind"] == "player" { &entity["box"] } else { &entity["model"] };
    assert!(!form.is_null(), "{entity}");
    form.to_string()
}

fn numbers<const N: usize>(entity: &Value, key: &str) -> [f64; N] {
    let list = entity[key].as_array().unwrap_or_else(|| panic!("no {key}: {entity}"));
    let list: Vec<f64> = list.iter().map(|n| n.as_f64().expect("a number")).collect();
    list.try_into().unwrap_or_else(|_| panic!("{key} does not have {N} numbers: {entity}"))
}

#[test]
fn a_dump_and_the_models_are_all_that_a_stranger_needs() {
    let folder = std::env::temp_dir().join(format!("soak-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let dump = folder.join("dump.jsonl");
    let options =
        SoakOptions { ticks: 120, tanks: 2, dump: Some(dump.clone()), dump_every: 10, ..short(1) };
    soak(&options).expect("the arena can be played");
    write_models(&ModelsOptions { obj: folder.clone() }).expect("the models can be written");

    let text = std::fs::read_to_string(&dump).expect("the dump can be read");
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    let ticks: Vec<_> = lines.iter().filter_map(|line| line["tick"].as_u64()).collect();
    assert_eq!(ticks, (1..=12).map(|n| 10 * n).collect::<Vec<_>>());
    let kinds: BTreeSet<&str> = entities(&lines).filter_map(|e| e["kind"].as_str()).collect();
    assert_eq!(kinds, BTreeSet::from(["player", "prop", "vehicle"]));

    let mut stranger = Stranger::new(&lines, &folder, &own_map("arena.map"));
    for line in &lines {
        assert_eq!(stranger.judge(line), [], "tick {}", line["tick"]);
    }
    // The audit finds a body that is put into its neighbour, and one that is put into a mover.
    let last = lines.last_mut().expect("the last line");
    let of_last = last["entities"].as_array().expect("entities");
    let is_mover = |entity: &Value| entity["model"].as_str().is_some_and(|it| it.starts_with('*'));
    let mover = of_last.iter().position(is_mover).expect("the arena has movers");
    let mut bodies =
        (0..of_last.len()).filter(|&at| is_solid(&&of_last[at]) && !is_mover(&of_last[at]));
    let [body, neighbour] = [bodies.next(), bodies.next()].map(|at| at.expect("there are bodies"));
    for other in [neighbour, mover] {
        last["entities"][body]["position"] = last["entities"][other]["position"].clone();
        let found = stranger.judge(last);
        let is_pair = |it: &Overlap| matches!(it, Overlap::Bodies(..));
        assert!(found.iter().any(is_pair), "a forged overlap was missed: {found:?}");
    }
    let _ = std::fs::remove_dir_all(&folder);
}
