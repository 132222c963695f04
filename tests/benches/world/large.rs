//! Large maps: time to compile, time to load and bytes, by the number of brushes.

use std::time::Instant;

use obsp::{CompileOptions, Map, Source, Spaces};
use oracle::Random;
use oracle::generate::wide;

/// Numbers of brushes: from a small map to more than any known map has.
const BRUSHES: [usize; 5] = [500, 1_000, 2_500, 10_000, 20_000];

pub(crate) fn print() {
    println!("\n== rooms of boxes and ramps, by the number of these; a room grows with its number");
    println!(
        "  {:>8} {:>10} {:>8} {:>8} {:>8} {:>12}",
        "brushes", "compile s", "cpu s", "load ms", "nodes", "bytes/brush"
    );
    for brushes in BRUSHES {
        let source = Source::from_text("wide", wide(brushes, &mut Random::new(1)));
        let (begun, spent) = (Instant::now(), processor_seconds());
        let options = CompileOptions::default();
        let compiled = obsp::compile(&source, &Spaces::default(), &options, &mut |_, _, _| {});
        let world = match compiled {
            Ok(compiled) => compiled.map,
            Err(error) => {
                println!("  {brushes:8} {error}");
                continue;
            }
        };
        let (compile, cpu) = (begun.elapsed().as_secs_f64(), processor_seconds() - spent);
        let nodes = world.counts().onion_nodes;
        let bytes = world.to_bytes();
        let begun = Instant::now();
        Map::from_bytes(&bytes).expect("these bytes were just written by the compiler");
        let load = begun.elapsed().as_secs_f64() * 1e3;
        let size = bytes.len() / brushes;
        println!("  {brushes:8} {compile:10.1} {cpu:8.1} {load:8.0} {nodes:8} {size:12}");
    }
}

/// CPU time of all threads of this process, in seconds. Other processes hardly affect it, unlike
/// wall time. Zero where the system does not report it.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // User and system time in 1/100 s follow the process's name, which may contain anything.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|f| f.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}
