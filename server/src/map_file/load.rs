use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use obsp::{Source, Spaces, Stage, World};
use obsp_game::{GAME_FILE, GameFile};
use tracing::{info, warn};

use crate::error::StartError;

/// Brushes that cannot be used are named one by one up to here.
const WARNINGS: usize = 5;

/// The map in the file at `path`; a drawn one (`.map`) is compiled first.
///
/// # Errors
/// The file cannot be read, is no map, or cannot be compiled.
pub fn load(path: &Path) -> Result<World, StartError> {
    match read_source(path) {
        Some(source) => compile(path, &source?),
        None => Ok(World::load(path)?),
    }
}

/// The `game.toml` in the folder of the map at `path`; the usual one if there is none.
pub(crate) fn game_file(path: &Path) -> Result<GameFile, StartError> {
    let path = path.with_file_name(GAME_FILE);
    let unread = |reason: String| StartError::GameFile { path: path.clone(), reason };
    match std::fs::read_to_string(&path) {
        Ok(text) => GameFile::read(&text, &mut |model| {
            std::fs::read_to_string(path.with_file_name(model)).map_err(|error| error.to_string())
        })
        .map_err(|error| unread(error.to_string())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(GameFile::default()),
        Err(error) => Err(unread(error.to_string())),
    }
}

/// The text at `path` of a map that has to be compiled; `None` if the file is of a
/// compiled one.
pub(crate) fn read_source(path: &Path) -> Option<Result<Source, StartError>> {
    let is_source = path.extension().is_some_and(|suffix| suffix == "map");
    is_source.then(|| Ok(Source::read(path)?))
}

fn compile(path: &Path, source: &Source) -> Result<World, StartError> {
    info!("compiling {}", path.display());
    let bar = progress_bar();
    let compiled = obsp::compile(
        source,
        &Spaces::default(),
        &obsp::Options::default(),
        &mut |stage, done, total| {
            bar.set_message(match stage {
                Stage::Surfaces => "surfaces",
                Stage::Tree => "tree",
                Stage::Filled => "inside",
                Stage::ShiftTree => "shift tree",
            });
            bar.set_length(total);
            bar.set_position(done);
        },
    )?;
    bar.finish_and_clear();
    let warnings = &compiled.report.warnings;
    for warning in warnings.iter().take(WARNINGS) {
        warn!("{warning}");
    }
    if warnings.len() > WARNINGS {
        warn!("{} more warnings; `mapc compile` shows them all", warnings.len() - WARNINGS);
    }
    if !compiled.world.is_sealed() {
        warn!("{} is not sealed; `mapc compile` tells where it leaks", path.display());
    }
    Ok(compiled.world)
}

/// A bar that shows itself on a terminal only.
fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    // A template that does not parse leaves the plain style.
    if let Ok(style) = ProgressStyle::with_template("{msg:>8} {wide_bar} {percent:>3} %") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
