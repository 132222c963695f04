use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use glam::DVec3;
use indicatif::{ProgressBar, ProgressStyle};
use maps::{BevelAngle, Options, Report, Sealing, Source, Spaces, Stage, compile};
use serde::Serialize;

use crate::info::Summary;
use crate::{CurvesArgument, Usage, keep_apart};

/// Compiles a .map into an .obsp
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The map, in Standard or Valve 220 form, or with Quake 3's brushDef
    source: PathBuf,
    /// Where to write the world; beside the map if not given
    #[arg(short, long, value_name = "OUT.obsp")]
    output: Option<PathBuf>,
    /// The sizes to compile for; those of maps/spaces.toml if not given
    #[arg(long, value_name = "FILE")]
    spaces: Option<PathBuf>,
    /// Refuse degenerate brushes instead of leaving them out
    #[arg(long)]
    strict: bool,
    /// Whether Quake 3's curves (patchDef2) are solid
    #[arg(long, value_enum, default_value_t)]
    curves: CurvesArgument,
    /// Bevel solid cells where neighbouring planes differ by more than this,
    /// from 30 to 180 degrees; 180 never does
    #[arg(long, value_name = "DEG", default_value_t, value_parser = bevel_angle)]
    bevel_angle: BevelAngle,
    /// Leave the outside empty even where the map is sealed
    #[arg(long)]
    keep_outside: bool,
    /// How many threads to use; as many as the machine has if not given. The
    /// result does not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Compilation {
    output: PathBuf,
    seconds: f64,
    brushes: usize,
    surface_polygons: usize,
    shift_bevels: usize,
    warnings: Vec<Warning>,
    /// Entities at which players begin.
    spawns: usize,
    leaks: Vec<Leak>,
    /// Where the first leak's path was written, for editors.
    pointfile: Option<PathBuf>,
    #[serde(flatten)]
    world: Summary,
}

#[derive(Serialize)]
struct Warning {
    line: u64,
    reason: String,
}

/// A way from an entity into the void, for the size of this name.
#[derive(Serialize)]
struct Leak {
    size: String,
    classname: String,
    line: u64,
    origin: DVec3,
    path: Vec<DVec3>,
}

fn bevel_angle(text: &str) -> Result<BevelAngle, String> {
    let angle = text.parse().ok().and_then(BevelAngle::new);
    angle.ok_or_else(|| format!("it must be a number of degrees from {} to 180", BevelAngle::LEAST))
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let started = Instant::now();
    let output =
        arguments.output.clone().unwrap_or_else(|| arguments.source.with_extension("obsp"));
    keep_apart(&arguments.source, &output)?;
    let pointfile = output.with_extension("pts");
    if pointfile == output {
        let text = "ends in .pts, as the way out of a leak does that is written beside a world";
        return Err(Usage(format!("{} {text}", output.display())).into());
    }
    let source = Source::read(&arguments.source)?;
    let spaces = match &arguments.spaces {
        Some(path) => Spaces::load(path)?,
        None => Spaces::default(),
    };
    let options = Options {
        strict: arguments.strict,
        curves: arguments.curves.into(),
        bevel_angle: arguments.bevel_angle,
        keep_outside: arguments.keep_outside,
        threads: arguments.threads,
    };
    // Draws nothing where standard error is no terminal.
    let bar = ProgressBar::new(0)
        .with_style(ProgressStyle::with_template("{msg:20} {wide_bar} {percent:>3} %  {elapsed}")?);
    let compiled = compile(&source, &spaces, &options, &mut |stage, done, of| {
        bar.set_message(match stage {
            Stage::Surfaces => "uniting brushes",
            Stage::Tree => "dividing space",
            Stage::Filled => "dividing the inside",
            Stage::ShiftTree => "bevelling solids",
        });
        bar.set_length(of);
        bar.set_position(done);
    })?;
    bar.finish_and_clear();
    compiled.world.save(&output)?;
    let report = compiled.report;
    let pointfile = write_pointfile(&report, pointfile)?;
    let spawns = compiled.world.entities().iter();
    let spawns = spawns.filter(|e| e.classname().starts_with("info_player_")).count();
    if !arguments.json {
        warn(&report, &spaces, &arguments.source, pointfile.as_deref());
        for (number, entity) in compiled.world.entities().iter().enumerate() {
            if let Some(origin) = entity.get("origin")
                && entity.origin().is_none()
            {
                let (source, class) = (arguments.source.display(), entity.classname());
                eprintln!(
                    "warning: {source}: entity {number}, {class}: origin {origin:?} is not three \
                     numbers; it is nowhere"
                );
            }
        }
        if spawns == 0 {
            let source = arguments.source.display();
            eprintln!(
                "warning: {source}: no info_player_start or info_player_deathmatch: nobody can join"
            );
        }
    }
    let leaks = spaces.sizes().iter().zip(&report.sealings).filter_map(|(size, sealing)| {
        let Sealing::Leaks(leak) = sealing else { return None };
        let (size, classname) = (size.name.clone(), leak.classname.clone());
        let (line, origin, path) = (leak.line, leak.origin, leak.path.clone());
        Some(Leak { size, classname, line, origin, path })
    });
    let leaks = leaks.collect();
    let warnings = report.warnings.iter();
    let compilation = Compilation {
        seconds: started.elapsed().as_secs_f64(),
        brushes: report.brushes,
        surface_polygons: report.polygons,
        shift_bevels: report.shift_bevels,
        warnings: warnings.map(|w| Warning { line: w.line, reason: w.fault.to_string() }).collect(),
        spawns,
        leaks,
        pointfile,
        world: Summary::of(&compiled.world, std::fs::metadata(&output)?.len()),
        output,
    };
    if arguments.json {
        writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&compilation)?)?;
    } else {
        writeln!(io::stdout(), "{} in {:.2} s", compilation.output.display(), compilation.seconds)?;
        write!(io::stdout(), "{}", compilation.world)?;
    }
    Ok(())
}

/// Writes the way out of the first size that leaks beside the world; where
/// there is none, removes that of an earlier compilation.
fn write_pointfile(report: &Report, path: PathBuf) -> Result<Option<PathBuf>> {
    let leaks = report.sealings.iter().find_map(|sealing| match sealing {
        Sealing::Leaks(leak) => Some(leak),
        _ => None,
    });
    let done = match leaks {
        Some(leak) => std::fs::write(&path, leak.pointfile()),
        None if is_pointfile(&path) => std::fs::remove_file(&path),
        None => Ok(()),
    };
    done.with_context(|| path.display().to_string())?;
    Ok(leaks.map(|_| path))
}

/// Whether there is a file of points and nothing else.
fn is_pointfile(path: &Path) -> bool {
    let point = |line: &str| {
        let numbers = line.split_ascii_whitespace().map(str::parse::<f64>);
        numbers.filter(Result::is_ok).count() == 3 && line.split_ascii_whitespace().count() == 3
    };
    std::fs::read_to_string(path).is_ok_and(|text| text.lines().all(point))
}

/// Says on standard error what a designer should look at.
fn warn(report: &Report, spaces: &Spaces, source: &Path, mut pointfile: Option<&Path>) {
    for warning in &report.warnings {
        eprintln!("warning: {warning}");
    }
    let source = source.display();
    for (size, sealing) in spaces.sizes().iter().zip(&report.sealings) {
        let name = &size.name;
        match sealing {
            Sealing::Sealed => (),
            Sealing::Leaks(leak) => {
                let maps::Leak { classname, line, origin, path } = leak;
                let out = path.last().unwrap_or(origin);
                let way = pointfile.map(|file| format!("the way out is in {}; ", file.display()));
                let way = way.unwrap_or_default();
                // It holds that of the first size that leaks.
                pointfile = None;
                eprintln!(
                    "warning: {source}:{line}: leak for size {name}: {classname} at {origin} \
                     reaches the void at {out:.0}; {way}the outside is left empty"
                );
            }
            Sealing::Unoccupied => eprintln!(
                "warning: {source}: no point entity has room for size {name}, so that nothing \
                 tells inside from outside; the outside is left empty"
            ),
        }
    }
}
