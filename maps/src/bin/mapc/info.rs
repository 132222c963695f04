//! `mapc info`.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use glam::Vec3;
use obsp::entity_check::KnownClasses;
use obsp::{GameForm, LiquidKind, Map, OmittedLayers, Source, SourceSummary, Unsupported};
use serde::Serialize;

use crate::arguments::Usage;
use crate::entities::{self, Classes, FaultEntry};

/// Prints the sizes and counts of an .obsp, or the form and counts of a .map
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The compiled map, or a map
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The game whose rules a map is written by [default: recognised from the map]
    #[arg(long, value_enum, value_name = "FORM")]
    game_form: Option<GameForm>,
    /// The game.toml whose `[classes]` are handled, beside those of the server
    #[arg(long, value_name = "GAME.toml")]
    game: Option<PathBuf>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// The facts about a map that are printed.
#[derive(Serialize)]
pub(crate) struct Summary {
    name: String,
    /// The form of the source that the map was compiled from.
    form: &'static str,
    hash: String,
    bytes: u64,
    /// Whether the map is sealed for the bare point, as in Quake.
    sealed: bool,
    sizes: Vec<Size>,
    onion_nodes: usize,
    onion_leaves: usize,
    onion_depth_max: usize,
    onion_depth_mean: f64,
    shift_nodes: usize,
    polygons: usize,
    solids: usize,
    /// The number of liquid volumes of each kind.
    liquids: Kinds,
    entities: usize,
    /// The number of entities of each class.
    classes: Classes,
}

/// Numbers by the name of a kind of liquid.
type Kinds = BTreeMap<&'static str, usize>;

#[derive(Serialize)]
struct Size {
    name: String,
    half_extents: Vec3,
    sealed: bool,
}

impl Summary {
    pub(crate) fn of(map: &Map, bytes: u64) -> Self {
        let size = |s: &obsp::Size| Size {
            name: s.name.clone(),
            half_extents: s.half_extents,
            sealed: map.size(&s.name).is_some_and(|id| map.is_sealed_for(id)),
        };
        let counts = map.counts();
        Self {
            name: map.name().to_owned(),
            form: GameForm::of(map).name(),
            hash: map.hash().iter().map(|byte| format!("{byte:02x}")).collect(),
            bytes,
            sealed: map.is_sealed(),
            sizes: map.sizes().iter().map(size).collect(),
            onion_nodes: counts.onion_nodes,
            onion_leaves: counts.onion_leaves,
            onion_depth_max: counts.onion_depth_max,
            onion_depth_mean: counts.onion_depth_mean,
            shift_nodes: counts.shift_nodes,
            polygons: counts.polygons,
            solids: counts.solids,
            liquids: kinds(map.liquids().iter().map(|liquid| (liquid.kind(), 1))),
            entities: counts.entities,
            classes: entities::classes(map.entities()),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self.sizes.iter().map(|size| {
            let e = size.half_extents;
            let leaking = if size.sealed { "" } else { " not sealed" };
            format!("{} {}x{}x{}{leaking}", size.name, e.x, e.y, e.z)
        });
        writeln!(f, "  name      {}", self.name)?;
        writeln!(f, "  form      {}", self.form)?;
        writeln!(f, "  hash      {}", self.hash)?;
        writeln!(f, "  bytes     {}", self.bytes)?;
        writeln!(f, "  sizes     {} (half extents)", sizes.collect::<Vec<_>>().join(", "))?;
        writeln!(
            f,
            "  onion     {} nodes, {} leaves, depth {:.1} on average and {} at most",
            self.onion_nodes, self.onion_leaves, self.onion_depth_mean, self.onion_depth_max
        )?;
        writeln!(f, "  shift     {} nodes", self.shift_nodes)?;
        writeln!(f, "  surface   {} polygons", self.polygons)?;
        writeln!(f, "  solids    {}", self.solids)?;
        writeln!(f, "  liquids   {}", told(&self.liquids))?;
        writeln!(f, "  entities  {}", self.entities)?;
        write_classes(f, &self.classes)
    }
}

fn kinds(counts: impl IntoIterator<Item = (LiquidKind, usize)>) -> Kinds {
    let mut kinds = Kinds::new();
    for (kind, count) in counts {
        *kinds.entry(kind.name()).or_default() += count;
    }
    kinds
}

fn told(kinds: &Kinds) -> String {
    if kinds.is_empty() {
        return "none".to_owned();
    }
    let kinds = kinds.iter().map(|(kind, count)| format!("{count} {kind}"));
    kinds.collect::<Vec<_>>().join(", ")
}

fn write_classes(f: &mut fmt::Formatter<'_>, classes: &Classes) -> fmt::Result {
    classes.iter().try_for_each(|(class, count)| writeln!(f, "    {count:>5} {class}"))
}

/// The facts about a map, and the mistakes in its entities.
#[derive(Serialize)]
struct WorldSummary {
    #[serde(flatten)]
    summary: Summary,
    entity_faults: Vec<FaultEntry>,
}

impl fmt::Display for WorldSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.summary.fmt(f)?;
        write_faults(f, &self.entity_faults)
    }
}

fn write_faults(f: &mut fmt::Formatter<'_>, faults: &[FaultEntry]) -> fmt::Result {
    faults.iter().try_for_each(|fault| writeln!(f, "  {}", fault.told()))
}

/// The facts about a map that are printed.
#[derive(Serialize)]
struct MapSummary {
    name: String,
    form: &'static str,
    /// The sign by which the form was recognised.
    form_sign: String,
    entities: usize,
    /// The number of entities of each class.
    classes: Classes,
    solid_brushes: usize,
    clip_brushes: usize,
    passable_brushes: usize,
    /// The passable brushes that are liquids, by kind.
    liquid_brushes: Kinds,
    brushes_of_entities: usize,
    curves: usize,
    /// The parts that are left out, and not counted above.
    omitted: Option<OmittedLayers>,
    unsupported: Vec<Unsupported>,
    entity_faults: Vec<FaultEntry>,
}

impl MapSummary {
    fn of(name: &str, summary: SourceSummary, known: &KnownClasses) -> Self {
        let SourceSummary { entities, entity_lines, .. } = &summary;
        Self {
            name: name.to_owned(),
            form: summary.form.form.name(),
            entities: entities.len(),
            classes: entities::classes(entities),
            entity_faults: FaultEntry::find(entities, entity_lines, known),
            form_sign: summary.form.sign,
            solid_brushes: summary.solid,
            clip_brushes: summary.clip,
            passable_brushes: summary.passable,
            liquid_brushes: kinds(summary.liquids),
            brushes_of_entities: summary.of_entities,
            curves: summary.curves,
            omitted: summary.omitted,
            unsupported: summary.unsupported,
        }
    }
}

impl fmt::Display for MapSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  name      {}", self.name)?;
        writeln!(f, "  form      {}, recognised by: {}", self.form, self.form_sign)?;
        writeln!(f, "  entities  {}", self.entities)?;
        write_classes(f, &self.classes)?;
        writeln!(
            f,
            "  brushes   {} solid, {} clip, {} passable, {} of entities",
            self.solid_brushes, self.clip_brushes, self.passable_brushes, self.brushes_of_entities
        )?;
        writeln!(f, "  liquids   {}", told(&self.liquid_brushes))?;
        writeln!(f, "  curves    {}", self.curves)?;
        if let Some(OmittedLayers { line, entities, brushes }) = &self.omitted {
            writeln!(
                f,
                "  left out  {entities} entities and {brushes} brushes of layers that are omitted \
                 from export, the first in line {line}"
            )?;
        }
        for Unsupported { name, brushes, line, reason } in &self.unsupported {
            writeln!(f, "  not supported: {name}, on {brushes}, first in line {line}: {reason}")?;
        }
        write_faults(f, &self.entity_faults)
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let path = &arguments.file;
    let known = entities::known(arguments.game.as_deref())?;
    if path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("map")) {
        let source = Source::read(path)?.with_form(arguments.game_form);
        return print(&MapSummary::of(source.name(), source.summary()?, &known), arguments.json);
    }
    if arguments.game_form.is_some() {
        let text = "is not a .map: leave out --game-form, because a compiled map holds its form";
        return Err(Usage(format!("{} {text}", path.display())).into());
    }
    let map = Map::load(path)?;
    let summary = Summary::of(&map, std::fs::metadata(path)?.len());
    let entity_faults = FaultEntry::find(map.entities(), &[], &known);
    print(&WorldSummary { summary, entity_faults }, arguments.json)
}

fn print(summary: &(impl Serialize + fmt::Display), json: bool) -> Result<()> {
    if json {
        writeln!(io::stdout(), "{}", serde_json::to_string_pretty(summary)?)?;
    } else {
        write!(io::stdout(), "{summary}")?;
    }
    Ok(())
}
