//! `mapc info`.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use glam::Vec3;
use obsp::World;
use serde::Serialize;

/// Prints the sizes and counts of an .obsp
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The compiled world
    world: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// The facts about a world.
#[derive(Serialize)]
pub(crate) struct Summary {
    name: String,
    hash: String,
    bytes: u64,
    /// Whether it is sealed for the bare point, as in Quake.
    sealed: bool,
    sizes: Vec<Size>,
    onion_nodes: usize,
    onion_leaves: usize,
    onion_depth_max: usize,
    onion_depth_mean: f64,
    shift_nodes: usize,
    polygons: usize,
    solids: usize,
    entities: usize,
}

#[derive(Serialize)]
struct Size {
    name: String,
    half_extents: Vec3,
    sealed: bool,
}

impl Summary {
    pub(crate) fn of(world: &World, bytes: u64) -> Self {
        let size = |s: &obsp::Size| Size {
            name: s.name.clone(),
            half_extents: s.half_extents,
            sealed: world.size(&s.name).is_some_and(|id| world.is_sealed_for(id)),
        };
        let counts = world.counts();
        Self {
            name: world.name().to_owned(),
            hash: world.hash().iter().map(|byte| format!("{byte:02x}")).collect(),
            bytes,
            sealed: world.is_sealed(),
            sizes: world.sizes().iter().map(size).collect(),
            onion_nodes: counts.onion_nodes,
            onion_leaves: counts.onion_leaves,
            onion_depth_max: counts.onion_depth_max,
            onion_depth_mean: counts.onion_depth_mean,
            shift_nodes: counts.shift_nodes,
            polygons: counts.polygons,
            solids: counts.solids,
            entities: counts.entities,
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
        writeln!(f, "  entities  {}", self.entities)
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let path = &arguments.world;
    let world = World::load(path)?;
    let summary = Summary::of(&world, std::fs::metadata(path)?.len());
    if arguments.json {
        writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&summary)?)?;
    } else {
        write!(io::stdout(), "{summary}")?;
    }
    Ok(())
}
