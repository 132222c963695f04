use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use obsp::{CompileStage, Map, Source, Spaces};
use obsp_game::{GAME_FILE, GameFile};
use tracing::{info, warn};

use crate::common::error::StartError;

/// Warnings of the compiler that are logged one by one; further ones are only counted.
const WARNINGS: usize = 5;

/// Loads the map in the file at `path`. A drawn map (`.map`) is compiled first, for players of the
/// size that the `game.toml` beside it gives.
///
/// # Errors
/// The file cannot be read, is not a map, or cannot be compiled; or the `game.toml` cannot be read.
pub fn load(path: &Path) -> Result<Map, StartError> {
    match read_source(path) {
        Some(source) => compile(path, &source?, &game_file(path)?),
        None => Ok(Map::load(path)?),
    }
}

/// Loads the map as [`load`] does, and also returns the `game.toml` beside it.
pub(crate) fn load_with_file(path: &Path) -> Result<(Map, GameFile), StartError> {
    let file = game_file(path)?;
    let map = match read_source(path) {
        Some(source) => compile(path, &source?, &file)?,
        None => Map::load(path)?,
    };
    Ok((map, file))
}

/// Reads the `game.toml` in the folder of the map at `path`. Without such a file, the defaults
/// apply.
pub(crate) fn game_file(path: &Path) -> Result<GameFile, StartError> {
    let path = path.with_file_name(GAME_FILE);
    let unread = |reason: String| StartError::GameFile { path: path.clone(), reason };
    match obsp::text::read(&path) {
        Ok(text) => GameFile::read(&text, &mut |model| {
            obsp::text::read(path.with_file_name(model)).map_err(|error| error.to_string())
        })
        .map_err(|error| unread(error.to_string())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(GameFile::default()),
        Err(error) => Err(unread(error.to_string())),
    }
}

/// Reads the drawn map (`.map`) at `path`. `None` if the file has another suffix than `.map`, as a
/// compiled map has.
pub(crate) fn read_source(path: &Path) -> Option<Result<Source, StartError>> {
    let is_source = path.extension().is_some_and(|suffix| suffix == "map");
    is_source.then(|| Ok(Source::read(path)?))
}

fn compile(path: &Path, source: &Source, file: &GameFile) -> Result<Map, StartError> {
    let spaces = match file.size() {
        Some(players) => Spaces::default().with_players(players)?,
        None => Spaces::default(),
    };
    info!("compiling {}", path.display());
    let bar = progress_bar();
    let compiled = obsp::compile(
        source,
        &spaces,
        &obsp::CompileOptions::default(),
        &mut |stage, done, total| {
            bar.set_message(match stage {
                CompileStage::Surfaces => "surfaces",
                CompileStage::Tree => "tree",
                CompileStage::Filled => "inside",
                CompileStage::ShiftTree => "shift tree",
            });
            bar.set_length(total);
            bar.set_position(done);
        },
    )?;
    bar.finish_and_clear();
    let report = &compiled.report;
    let form = &report.form;
    info!(
        "{} is read as a map of the form {}, recognised by: {}",
        path.display(),
        form.form,
        form.sign
    );
    let unsupported =
        report.unsupported.iter().map(|one| format!("{}:{}: {one}", path.display(), one.line));
    let warnings = report.warnings.iter().map(ToString::to_string).chain(unsupported);
    for warning in warnings.clone().take(WARNINGS) {
        warn!("{warning}");
    }
    let more = warnings.skip(WARNINGS).count();
    if more > 0 {
        warn!("{more} more warnings; `mapc compile` shows them all");
    }
    if !compiled.map.is_sealed() {
        warn!("{} is not sealed; `mapc compile` shows where it leaks", path.display());
    }
    Ok(compiled.map)
}

/// A progress bar that is drawn only on a terminal.
fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    // If the template does not parse, the bar keeps its plain style.
    if let Ok(style) = ProgressStyle::with_template("{msg:>8} {wide_bar} {percent:>3} %") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use obsp::PlayerSize;
    use obsp_game::arena::Arena;

    use super::*;
    use crate::Options;
    use crate::server::match_setup::level_maker;

    /// A temporary folder that holds sumo's map. It is removed when dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            let path = std::env::temp_dir().join(format!("obsp-sizes-{}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            let map = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/sumo.map");
            std::fs::copy(map, path.join("sumo.map")).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_map_is_compiled_for_players_as_large_as_the_file_says_and_another_is_refused() {
        let folder = Folder::new();
        let [map, compiled, file] =
            ["sumo.map", "compiled.obsp", "game.toml"].map(|name| folder.0.join(name));
        let options = Options { max_players: 2, ..Options::new("sumo.map") };
        let maker = level_maker(&options, Arc::new(Arena));
        let make = |path: &Path| maker.make(&path.to_string_lossy(), 0);

        load(&map).unwrap().save(&compiled).unwrap();
        std::fs::write(&file, "[player]\nheight = 40\ncrouched_height = 24\n").unwrap();
        let small = PlayerSize { width: 32.0, height: 40.0, crouched_height: 24.0 };
        assert_eq!(PlayerSize::among(load(&map).unwrap().sizes()), Some(small));
        // Clients read the size from the bytes of the map that they are sent.
        let level = make(&map).unwrap().level;
        let told = Map::from_bytes(&level.map).unwrap();
        assert_eq!(PlayerSize::among(told.sizes()), Some(small));
        let refused = make(&compiled).map(drop).unwrap_err().to_string();
        assert!(refused.contains("players 32 wide, 40 high and 24 crouched"), "{refused}");
        assert!(refused.contains("players 32 wide, 56 high and 36 crouched"), "{refused}");

        std::fs::write(&file, "[player]\nheight = 4\n").unwrap();
        let at = "game.toml: line 2, column 10: height is 4, not between 16 and 96";
        for error in [load(&map).unwrap_err(), maker.check(&map.to_string_lossy()).unwrap_err()] {
            assert!(error.to_string().contains(at), "{error}");
        }
        // Loading a compiled map does not read the `game.toml`.
        load(&compiled).unwrap();
    }
}
