use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use maps::{BevelAngle, Options, Source, Spaces, Stage, compile};
use serde::Serialize;

use crate::info::Summary;

/// Compiles a .map into an .obsp
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The map, in Standard or Valve 220 form
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
    /// Bevel solid cells where neighbouring planes differ by more than this,
    /// from 30 to 180 degrees; 180 never does
    #[arg(long, value_name = "DEG", default_value_t, value_parser = bevel_angle)]
    bevel_angle: BevelAngle,
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
    #[serde(flatten)]
    world: Summary,
}

#[derive(Serialize)]
struct Warning {
    line: u64,
    reason: String,
}

fn bevel_angle(text: &str) -> Result<BevelAngle, String> {
    let angle = text.parse().ok().and_then(BevelAngle::new);
    angle.ok_or_else(|| format!("it must be a number of degrees from {} to 180", BevelAngle::LEAST))
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let started = Instant::now();
    let source = Source::read(&arguments.source)?;
    let spaces = match &arguments.spaces {
        Some(path) => Spaces::load(path)?,
        None => Spaces::default(),
    };
    let options = Options { strict: arguments.strict, bevel_angle: arguments.bevel_angle };
    // Draws nothing where standard error is no terminal.
    let bar = ProgressBar::new(0)
        .with_style(ProgressStyle::with_template("{msg:18} {wide_bar} {percent:>3} %  {elapsed}")?);
    let compiled = compile(&source, &spaces, &options, &mut |stage, done, of| {
        bar.set_message(match stage {
            Stage::Surfaces => "uniting brushes",
            Stage::Tree => "dividing space",
            Stage::ShiftTree => "bevelling solids",
        });
        bar.set_length(of);
        bar.set_position(done);
    })?;
    bar.finish_and_clear();
    let output =
        arguments.output.clone().unwrap_or_else(|| arguments.source.with_extension("obsp"));
    compiled.world.save(&output)?;
    let report = compiled.report;
    if !arguments.json {
        for warning in &report.warnings {
            eprintln!("warning: {warning}");
        }
    }
    let warnings = report.warnings.iter();
    let compilation = Compilation {
        seconds: started.elapsed().as_secs_f64(),
        brushes: report.brushes,
        surface_polygons: report.polygons,
        shift_bevels: report.shift_bevels,
        warnings: warnings
            .map(|w| Warning { line: w.line, reason: w.reason.to_string() })
            .collect(),
        world: Summary::of(&compiled.world, std::fs::metadata(&output)?.len()),
        output,
    };
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&compilation)?);
    } else {
        println!("{} in {:.2} s", compilation.output.display(), compilation.seconds);
        print!("{}", compilation.world);
    }
    Ok(())
}
