//! `mapc verify`: compares a compiled map with the exact brushes of its source.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use obsp::verify::{Bodies, OneSize, sums};
use obsp::{CompileOptions, Curves, Expansion, GameForm, Map, Size, Source};
use oracle::Random;
use oracle::brushes::Solids;
use oracle::game::Game;
use oracle::map_text::{self, Entity};
use oracle::verify::{Casts, Crossings, Judge, Points, Subject, Traces, casts, judge_sums, shell};
use serde::Serialize;

/// Compares a compiled map with the exact brushes of its source
///
/// Points and segments are chosen at random in and around the map, near its entities and near
/// corners of brushes. Answers closer to a surface than 0.01 units, or than a millionth of the
/// greatest coordinate if that is more, are not judged. Each brush, expanded for each size, is
/// compared with the hull of the sums of its corners and the corners of the box. The middle of each
/// brush must be solid, and segments cross the brush both ways. Balls, cylinders, boxes and turned
/// boxes are cast across brushes and at random. Exits with 1 if any answer is wrong.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The compiled map
    map: PathBuf,
    /// The .map that it was compiled from
    #[arg(long, value_name = "IN.map")]
    source: PathBuf,
    /// Number of points, for each size
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    points: usize,
    /// Number of segments to trace, for each size
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    traces: usize,
    /// Number of bodies of other shapes to cast
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    casts: usize,
    /// Seed of the random number generator
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Whether Quake III's curves (patchDef2) are solid in the compiled map
    #[arg(long, value_enum, default_value_t)]
    curves: Curves,
    /// The game whose rules the map is written by [default: recognised from the map]
    #[arg(long, value_enum, value_name = "FORM")]
    game_form: Option<GameForm>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    /// Number of points that were tested for each size; the least of these numbers.
    points: usize,
    /// Points with a wrong answer, summed over all sizes.
    point_mismatches: usize,
    /// Number of segments that were traced for each size; the least of these numbers. It is zero if
    /// a size has no room.
    traces: usize,
    /// Traces with a wrong answer, summed over all sizes.
    trace_mismatches: usize,
    /// Brushes with volume that are left out, expanded wrongly, or not solid in the middle, summed
    /// over all sizes.
    brush_mismatches: usize,
    /// Segments traced across brushes, summed over all sizes.
    crossings: usize,
    /// Number of wrong answers to these segments.
    crossing_mismatches: usize,
    /// The number of bodies of other shapes that were cast.
    casts: usize,
    /// Number of wrong answers to these casts.
    cast_mismatches: usize,
    /// Descriptions of the first wrong casts.
    wrong_casts: Vec<String>,
    seed: u64,
    sizes: Vec<Verdict>,
}

/// The results for one size.
#[derive(Serialize)]
struct Verdict {
    size: String,
    points: usize,
    point_mismatches: usize,
    /// Share of the points that are too close to a surface to judge.
    point_shell: f64,
    /// Share of the points that are solid because the outside was filled.
    filled: f64,
    /// Share of the points for which the flood could not decide whether they are outside.
    doubtful: f64,
    traces: usize,
    trace_mismatches: usize,
    /// Share of the answers that are right only within the shell.
    trace_shell: f64,
    hits: usize,
    brush_mismatches: usize,
    crossings: usize,
    crossing_mismatches: usize,
    /// Descriptions of the first wrong answers.
    mismatches: Vec<String>,
}

/// Maximum number of wrong brushes that are described. All of them are counted.
const SHOWN: usize = 10;

/// Descriptions of the faults of single brushes.
fn wrong_brushes(
    solids: &Solids,
    subject: &OneSize<'_>,
    source: &Source,
    options: &CompileOptions,
    size: &Size,
) -> Result<Vec<String>> {
    let expansion = Expansion::new(source, size, options)?;
    let half_extents = size.half_extents.to_array().map(f64::from);
    let mut wrong = judge_sums(solids, half_extents, &sums(&expansion));
    for solid in solids.iter().filter(|solid| !(solid.clip && size.is_point())) {
        let middle = solid.polyhedron.middle();
        // Brushes thinner than the shell about surfaces are not judged.
        let inside = solid.polyhedron.depth(middle) > shell(&[middle]);
        if inside && !subject.is_solid(middle.map(|x| x as f32)) {
            wrong.push(format!("the middle of the brush of line {} is empty", solid.line));
        }
    }
    Ok(wrong)
}

/// The oracle's type for a form.
fn game(form: GameForm) -> Game {
    match form {
        GameForm::Quake => Game::Quake,
        GameForm::Quake2 => Game::Quake2,
        GameForm::HalfLife => Game::HalfLife,
        GameForm::Quake3 => Game::Quake3,
    }
}

/// Refuses a map that was compiled by the rules of a form other than the oracle's. Otherwise
/// nearly every answer would be wrong, and nothing would tell the cause.
fn check_form(map: &Map, entities: &[Entity], arguments: &Arguments) -> Result<()> {
    let compiled = GameForm::of(map);
    let judged = entities.first().map_or(Game::Quake, |entity| entity.game);
    if judged != game(compiled) {
        let (map, source) = (arguments.map.display(), arguments.source.display());
        bail!(
            "{map} was compiled as a map of the form {compiled}, but {source} would be verified \
             as a map of the form {judged:?}; if the map has changed since, compile it again; if \
             --game-form was given to only one of the two commands, give it to both"
        );
    }
    Ok(())
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let map = Map::load(&arguments.map)?;
    let source = &arguments.source;
    let text =
        std::fs::read(source).with_context(|| format!("cannot read {}", source.display()))?;
    let options = CompileOptions { curves: arguments.curves, ..CompileOptions::default() };
    let form = arguments.game_form;
    let parsed = Source::read(source)?.with_form(form);
    // A text that is not a map fails at this check, because the oracle's error would have no
    // column.
    parsed.check_syntax()?;
    let game = form.map(game);
    let curves = options.curves == Curves::Solid;
    let entities = map_text::parse_as(&String::from_utf8_lossy(&text), game, curves)
        .with_context(|| source.display().to_string())?;
    check_form(&map, &entities, arguments)?;
    let solids = Solids::new(&entities);
    let bar = ProgressBar::new(map.sizes().len() as u64)
        .with_style(ProgressStyle::with_template("{msg:18} {wide_bar} {percent:>3} %  {elapsed}")?);
    let mut sizes = Vec::new();
    for size in map.sizes() {
        bar.set_message(size.name.clone());
        let id = map.size(&size.name).expect("the size is in the list");
        let subject = OneSize { map: &map, size: id };
        let judge = Judge::new(&entities, &solids, size.half_extents.to_array().map(f64::from));
        // Every size has its own random stream, so that no size depends on another.
        let mut random = Random::new(arguments.seed.wrapping_add((id.index() as u64) << 32));
        let points = judge.points(&subject, arguments.points, &mut random);
        let traces = judge.traces(&subject, arguments.traces, &mut random);
        let crossings = judge.crossings(&subject, &solids);
        let brushes = wrong_brushes(&solids, &subject, &parsed, &options, size)?;
        sizes.push(Verdict::new(size.name.clone(), points, traces, crossings, brushes));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let mut random = Random::new(arguments.seed.wrapping_add(u64::from(u32::MAX) << 32));
    let cast: Casts = casts(&entities, &Bodies(&map), arguments.casts, &mut random);
    let report = Report {
        points: sizes.iter().map(|size| size.points).min().unwrap_or_default(),
        point_mismatches: sizes.iter().map(|size| size.point_mismatches).sum(),
        traces: sizes.iter().map(|size| size.traces).min().unwrap_or_default(),
        trace_mismatches: sizes.iter().map(|size| size.trace_mismatches).sum(),
        brush_mismatches: sizes.iter().map(|size| size.brush_mismatches).sum(),
        crossings: sizes.iter().map(|size| size.crossings).sum(),
        crossing_mismatches: sizes.iter().map(|size| size.crossing_mismatches).sum(),
        casts: cast.asked,
        cast_mismatches: cast.wrong.count,
        wrong_casts: cast.wrong.shown,
        seed: arguments.seed,
        sizes,
    };
    if arguments.json {
        writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        write!(io::stdout(), "{report}")?;
    }
    let wrong = report.wrong();
    if wrong > 0 {
        let map = arguments.map.display();
        bail!("{map} does not match {}: {wrong} wrong answers", source.display());
    }
    Ok(())
}

impl Report {
    /// Wrong answers of all kinds.
    fn wrong(&self) -> usize {
        let boxes = self.point_mismatches + self.trace_mismatches + self.crossing_mismatches;
        boxes + self.brush_mismatches + self.cast_mismatches
    }
}

impl Verdict {
    fn new(
        size: String,
        points: Points,
        traces: Traces,
        crossings: Crossings,
        brushes: Vec<String>,
    ) -> Self {
        let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
        Self {
            size,
            points: points.asked,
            point_mismatches: points.wrong.count,
            point_shell: share(points.shell, points.asked),
            filled: share(points.filled, points.asked),
            doubtful: share(points.doubtful, points.asked),
            traces: traces.asked,
            trace_mismatches: traces.wrong.count + traces.stray.count,
            trace_shell: share(traces.shell, traces.asked),
            hits: traces.hits,
            brush_mismatches: brushes.len(),
            crossings: crossings.asked,
            crossing_mismatches: crossings.wrong.count,
            mismatches: [
                points.wrong.shown,
                traces.wrong.shown,
                traces.stray.shown,
                crossings.wrong.shown,
                brushes.into_iter().take(SHOWN).collect(),
            ]
            .concat(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for size in &self.sizes {
            writeln!(
                f,
                "{:12} {} points, {} wrong ({:.2} % too near to judge, {:.1} % filled outside, \
                 {:.2} % in doubt)",
                size.size,
                size.points,
                size.point_mismatches,
                size.point_shell * 100.0,
                size.filled * 100.0,
                size.doubtful * 100.0,
            )?;
            writeln!(
                f,
                "{:12} {} traces, {} wrong ({:.2} % right within the shell, {} met something)",
                "",
                size.traces,
                size.trace_mismatches,
                size.trace_shell * 100.0,
                size.hits,
            )?;
            if size.crossing_mismatches > 0 {
                let (wrong, all) = (size.crossing_mismatches, size.crossings);
                writeln!(f, "{:12} {wrong} of {all} segments across brushes wrong", "")?;
            }
            if size.brush_mismatches > 0 {
                writeln!(f, "{:12} {} brushes wrong", "", size.brush_mismatches)?;
            }
            for mismatch in &size.mismatches {
                writeln!(f, "    {mismatch}")?;
            }
        }
        writeln!(f, "{:12} {} cast, {} wrong", "bodies", self.casts, self.cast_mismatches)?;
        for mismatch in &self.wrong_casts {
            writeln!(f, "    {mismatch}")?;
        }
        Ok(())
    }
}
