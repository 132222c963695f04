use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use obsp::{CompileOptions, Curves, Expansion, GameForm, Source, Spaces};

use crate::arguments::keep_apart;
use crate::queries::unknown_space;

/// Expands the brushes for one size and writes them as a .map for an editor
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The map to expand
    source: PathBuf,
    /// The name of the size in spaces.toml
    #[arg(long, value_name = "NAME")]
    space: String,
    /// Output file
    #[arg(short, long, value_name = "OUT.map")]
    output: PathBuf,
    /// File with the sizes to choose from [default: the sizes of maps/spaces.toml]
    #[arg(long, value_name = "FILE")]
    spaces: Option<PathBuf>,
    /// Refuse degenerate brushes instead of leaving them out
    #[arg(long)]
    strict: bool,
    /// Whether Quake III's curves (patchDef2) are solid
    #[arg(long, value_enum, default_value_t)]
    curves: Curves,
    /// The game whose rules the map is written by [default: recognised from the map]
    #[arg(long, value_enum, value_name = "FORM")]
    game_form: Option<GameForm>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let (from, to) = (&arguments.source, &arguments.output);
    keep_apart(from, to)?;
    let spaces = match &arguments.spaces {
        Some(path) => Spaces::load(path)?,
        None => Spaces::default(),
    };
    let size = spaces.sizes().iter().find(|size| size.name == arguments.space);
    let size = size.ok_or_else(|| unknown_space(&arguments.space, "the list", spaces.sizes()))?;
    let options = CompileOptions {
        strict: arguments.strict,
        curves: arguments.curves,
        ..CompileOptions::default()
    };
    let source = Source::read(from)?.with_form(arguments.game_form);
    let expansion = Expansion::new(&source, size, &options)?;
    for warning in &expansion.warnings {
        eprintln!("warning: {warning}");
    }
    std::fs::write(to, expansion.to_map())
        .with_context(|| format!("cannot write {}", to.display()))?;
    writeln!(
        io::stdout(),
        "{}: {} brushes expanded by {}",
        to.display(),
        expansion.solids.len(),
        size.name
    )?;
    Ok(())
}
