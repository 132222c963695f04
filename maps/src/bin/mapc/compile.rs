//! `mapc compile`.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use glam::DVec3;
use indicatif::{ProgressBar, ProgressStyle};
use obsp::{
    BevelAngle, BrushWarning, CompileOptions, CompileReport, CompileStage, Compiled, Curves,
    GameForm, MAX_COORDINATE, Map, MapEntity, OmittedLayers, PlayerSize, Sealing, Source, Spaces,
    Unsupported, compile,
};
use serde::Serialize;

use crate::arguments::{Usage, keep_apart};
use crate::entities::{self, FaultEntry};
use crate::info::Summary;

/// Compiles a .map into an .obsp
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A .map of Quake, Quake II, Half-Life or Quake III, as Radiant, J.A.C.K. and TrenchBroom
    /// write it
    source: PathBuf,
    /// Output file [default: beside the map]
    #[arg(short, long, value_name = "OUT.obsp")]
    output: Option<PathBuf>,
    /// File with the sizes to compile for [default: the sizes of maps/spaces.toml]
    #[arg(long, value_name = "FILE")]
    spaces: Option<PathBuf>,
    /// The game.toml whose `[player]` table sets the size of players, and whose `[classes]` are
    /// handled; the other sizes keep their defaults
    #[arg(long, value_name = "GAME.toml", conflicts_with = "spaces")]
    game: Option<PathBuf>,
    /// Refuse degenerate brushes, which are otherwise left out, classes that nobody handles, and
    /// targets that name no entity
    #[arg(long)]
    strict: bool,
    /// Whether Quake III's curves (patchDef2) are solid
    #[arg(long, value_enum, default_value_t)]
    curves: Curves,
    /// The game whose rules the map is written by [default: recognised from the map]
    #[arg(long, value_enum, value_name = "FORM")]
    game_form: Option<GameForm>,
    /// Bevel solid cells where neighbouring planes differ by more than this,
    /// from 30 to 180 degrees; 180 means never
    #[arg(long, value_name = "DEG", default_value_t, value_parser = bevel_angle)]
    bevel_angle: BevelAngle,
    /// Leave the outside empty even if the map is sealed
    #[arg(long)]
    keep_outside: bool,
    /// Number of threads; the result does not depend on it [default: those of the machine]
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
    /// The sign in the map by which its form was recognised.
    form_sign: String,
    /// Entities and brushes that are left out, because their layers are omitted from export.
    omitted: Option<OmittedLayers>,
    /// Names and flags of the map that the compiler does not support in full.
    unsupported: Vec<Unsupported>,
    /// Classes that nobody handles, and targets that name no entity.
    entity_faults: Vec<FaultEntry>,
    /// The number of entities at which players start.
    spawns: usize,
    leaks: Vec<Leak>,
    /// The file with the first leak's path, for editors.
    pointfile: Option<PathBuf>,
    #[serde(flatten)]
    world: Summary,
}

#[derive(Serialize)]
struct Warning {
    line: u64,
    reason: String,
}

/// A path from an entity to the void around the map, for the size with this name.
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
        let text = "ends in .pts, like the file for the path of a leak: name another output";
        return Err(Usage(format!("{} {text}", output.display())).into());
    }
    let spaces = match (&arguments.spaces, &arguments.game) {
        (Some(path), _) => Spaces::load(path)?,
        (None, Some(game)) => spaces_of_game(game)?,
        (None, None) => Spaces::default(),
    };
    let known = entities::known(arguments.game.as_deref())?;
    let Compiled { map, report } = compile_with_progress(arguments, &spaces)?;
    let entity_faults = FaultEntry::find(map.entities(), &report.entity_lines, &known);
    if let (true, Some(fault)) = (arguments.strict, entity_faults.first()) {
        return Err(anyhow!(fault.told_in(&arguments.source)));
    }
    map.save(&output)?;
    let pointfile = write_pointfile(&report, pointfile)?;
    if !arguments.json {
        warn_of_brushes_and_leaks(&report, &spaces, &arguments.source, pointfile.as_deref());
        warn_of_entities(&map, &entity_faults, &arguments.source);
    }
    let warning = |w: &BrushWarning| Warning { line: w.line, reason: w.fault.to_string() };
    let compilation = Compilation {
        leaks: Leak::all(&spaces, &report),
        seconds: started.elapsed().as_secs_f64(),
        brushes: report.brushes,
        surface_polygons: report.polygons,
        shift_bevels: report.shift_bevels,
        warnings: report.warnings.iter().map(warning).collect(),
        form_sign: report.form.sign.clone(),
        omitted: report.omitted,
        unsupported: report.unsupported,
        entity_faults,
        spawns: spawns(&map),
        pointfile,
        world: Summary::of(&map, std::fs::metadata(&output)?.len()),
        output,
    };
    if arguments.json {
        writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&compilation)?)?;
    } else {
        writeln!(io::stdout(), "{} in {:.2} s", compilation.output.display(), compilation.seconds)?;
        write!(io::stdout(), "{}", compilation.world)?;
        writeln!(io::stdout(), "  (the form was recognised by: {})", compilation.form_sign)?;
    }
    Ok(())
}

/// The default sizes, with the size of players that the `game.toml` at `path` sets.
fn spaces_of_game(path: &Path) -> Result<Spaces> {
    let text = obsp::text::read(path).with_context(|| path.display().to_string())?;
    let players = PlayerSize::parse(&text).with_context(|| path.display().to_string())?;
    Ok(Spaces::default().with_players(&players.unwrap_or_default())?)
}

fn compile_with_progress(arguments: &Arguments, spaces: &Spaces) -> Result<Compiled> {
    let source = Source::read(&arguments.source)?.with_form(arguments.game_form);
    let options = CompileOptions {
        strict: arguments.strict,
        curves: arguments.curves,
        bevel_angle: arguments.bevel_angle,
        keep_outside: arguments.keep_outside,
        threads: arguments.threads,
    };
    // The bar is hidden if standard error is not a terminal.
    let bar = ProgressBar::new(0)
        .with_style(ProgressStyle::with_template("{msg:20} {wide_bar} {percent:>3} %  {elapsed}")?);
    let compiled = compile(&source, spaces, &options, &mut |stage, done, of| {
        bar.set_message(match stage {
            CompileStage::Surfaces => "uniting brushes",
            CompileStage::Tree => "dividing space",
            CompileStage::Filled => "dividing the inside",
            CompileStage::ShiftTree => "bevelling solids",
        });
        bar.set_length(of);
        bar.set_position(done);
    })?;
    bar.finish_and_clear();
    Ok(compiled)
}

impl Leak {
    /// The leaks of all sizes.
    fn all(spaces: &Spaces, report: &CompileReport) -> Vec<Self> {
        let leaks = spaces.sizes().iter().zip(&report.sealings).filter_map(|(size, sealing)| {
            let Sealing::Leaks(leak) = sealing else { return None };
            let (size, classname) = (size.name.clone(), leak.classname.clone());
            let (line, origin, path) = (leak.line, leak.origin, leak.path.clone());
            Some(Self { size, classname, line, origin, path })
        });
        leaks.collect()
    }
}

/// The number of entities at which players start.
fn spawns(map: &Map) -> usize {
    let start = |entity: &&MapEntity| entity.classname().starts_with("info_player_");
    map.entities().iter().filter(start).count()
}

/// Writes the path of the first leak beside the map; without a leak, removes the file
/// of an earlier compilation.
fn write_pointfile(report: &CompileReport, path: PathBuf) -> Result<Option<PathBuf>> {
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

/// Whether the file at `path` contains only points.
fn is_pointfile(path: &Path) -> bool {
    let point = |line: &str| {
        let numbers = line.split_ascii_whitespace().map(str::parse::<f64>);
        numbers.filter(Result::is_ok).count() == 3 && line.split_ascii_whitespace().count() == 3
    };
    std::fs::read_to_string(path).is_ok_and(|text| text.lines().all(point))
}

/// Prints warnings about brushes and leaks to standard error.
fn warn_of_brushes_and_leaks(
    report: &CompileReport,
    spaces: &Spaces,
    source: &Path,
    mut pointfile: Option<&Path>,
) {
    for warning in &report.warnings {
        eprintln!("warning: {warning}");
    }
    let source = source.display();
    if let Some(omitted) = &report.omitted {
        eprintln!("warning: {source}:{}: {omitted}", omitted.line);
    }
    for unsupported in &report.unsupported {
        eprintln!("warning: {source}:{}: {unsupported}", unsupported.line);
    }
    for (size, sealing) in spaces.sizes().iter().zip(&report.sealings) {
        let name = &size.name;
        match sealing {
            Sealing::Sealed => (),
            Sealing::Leaks(leak) => {
                let obsp::Leak { classname, line, origin, path } = leak;
                let out = path.last().unwrap_or(origin);
                let written = pointfile.map(|file| format!("its path is in {}; ", file.display()));
                let written = written.unwrap_or_default();
                // The file holds the path of the first size that leaks.
                pointfile = None;
                eprintln!(
                    "warning: {source}:{line}: leak for size {name}: {classname} at {origin} \
                     reaches the void at {out:.0}; {written}the outside is left empty"
                );
            }
            Sealing::Unoccupied => eprintln!(
                "warning: {source}: no point entity has room for size {name}, so inside and \
                 outside cannot be told apart; the outside is left empty"
            ),
        }
    }
}

/// Prints warnings about entities to standard error.
fn warn_of_entities(map: &Map, faults: &[FaultEntry], source: &Path) {
    for fault in faults {
        eprintln!("warning: {}", fault.told_in(source));
    }
    let source = source.display();
    for (number, entity) in map.entities().iter().enumerate() {
        let Some(origin) = entity.get("origin") else { continue };
        let fault = match entity.origin() {
            None => "is not three numbers; the entity is ignored".to_owned(),
            Some(at) if at.abs().max_element() > MAX_COORDINATE => {
                format!("lies beyond ±{MAX_COORDINATE} units, where maps end; move it into the map")
            }
            Some(_) => continue,
        };
        let class = entity.classname();
        eprintln!("warning: {source}: entity {number}, {class}: origin {origin:?} {fault}");
    }
    if spawns(map) == 0 {
        eprintln!(
            "warning: {source}: the map has no info_player_start or info_player_deathmatch, so \
             players cannot join"
        );
    }
}
