//! Recorded steps of people on `dm4`: the compiled map must block no step that the exact brushes
//! leave free.

use tests::harness::{OneSize, compile, foreign_map, shared};
use tests::oracle::brushes::Brushes;
use tests::oracle::map_text::parse;
use tests::oracle::verify::{Answer, Subject};

/// Offset from the origin of Quake's player box to its centre.
const CENTRE: f32 = 4.0;

/// Half extents of Quake's player box of 32 × 32 × 56 units, the size `standing`.
const HALF: [f64; 3] = [16.0, 16.0, 28.0];

/// Longest time between two records of one step, in seconds.
const STEP: f64 = 0.25;

struct Record {
    time: f64,
    slot: u32,
    centre: [f32; 3],
}

fn records(text: &str) -> Vec<Record> {
    let rows = text.lines().skip(1).enumerate().map(|(row, line)| {
        let numbers: Vec<f64> = line.split(',').filter_map(|word| word.parse().ok()).collect();
        let &[time, slot, x, y, z] = &*numbers else { panic!("row {}: {line}", row + 2) };
        Record { time, slot: slot as u32, centre: [x as f32, y as f32, z as f32 + CENTRE] }
    });
    rows.collect()
}

#[test]
fn no_recorded_step_is_blocked_that_was_free() {
    let (Some(map), Some(trace)) = (foreign_map("id-gpl/dm4.map"), shared("traces/dm4.csv")) else {
        return;
    };
    let text = std::fs::read_to_string(&map).unwrap_or_else(|e| panic!("{}: {e}", map.display()));
    let entities = parse(&text).unwrap_or_else(|e| panic!("{}: {e}", map.display()));
    let brushes = Brushes::new(&entities, HALF);
    let world = compile(&map);
    let size = world.size("standing").expect("a default size");
    let subject = OneSize { map: &world, size };
    let records =
        records(&std::fs::read_to_string(&trace).expect("the recorded steps can be read"));
    let (mut free, mut others) = (0, 0);
    let mut blocked = Vec::new();
    for (i, from) in records.iter().enumerate() {
        let next = records[i + 1..].iter().find(|to| to.slot == from.slot);
        let Some(to) = next.filter(|to| to.time - from.time <= STEP) else { continue };
        let [a, b] = [from.centre, to.centre].map(|p| p.map(f64::from));
        if brushes.holds(a) || brushes.first_entry(a, b).is_some() {
            // The player was on a lift or in a door, or made two steps between the records.
            others += 1;
            continue;
        }
        free += 1;
        let answer = subject.trace(from.centre, to.centre);
        if answer != Answer::Clear {
            blocked.push(format!("{:?} to {:?}: {answer:?}", from.centre, to.centre));
        }
    }
    eprintln!("{free} free steps, {} of them blocked, {others} others", blocked.len());
    assert!(free > 10_000, "only {free} steps are free");
    assert!(
        blocked.is_empty(),
        "{} of {free}: {:#?}",
        blocked.len(),
        &blocked[..blocked.len().min(10)]
    );
}
