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

/// The map in the file at `path`; a drawn one (`.map`) is compiled first, for players as large
/// as the `game.toml` beside it says.
///
/// # Errors
/// The file cannot be read, is no map, or cannot be compiled; or the `game.toml` cannot be read.
pub fn load(path: &Path) -> Result<World, StartError> {
    match read_source(path) {
        Some(source) => compile(path, &source?, &game_file(path)?),
        None => Ok(World::load(path)?),
    }
}

/// The map in the file at `path`, as [`load`], and the `game.toml` beside it.
pub(crate) fn load_with_file(path: &Path) -> Result<(World, GameFile), StartError> {
    let file = game_file(path)?;
    let map = match read_source(path) {
        Some(source) => compile(path, &source?, &file)?,
        None => World::load(path)?,
    };
    Ok((map, file))
}

/// The `game.toml` in the folder of the map at `path`; the usual one if there is none.
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

/// The text at `path` of a map that has to be compiled; `None` if the file is of a
/// compiled one.
pub(crate) fn read_source(path: &Path) -> Option<Result<Source, StartError>> {
    let is_source = path.extension().is_some_and(|suffix| suffix == "map");
    is_source.then(|| Ok(Source::read(path)?))
}

fn compile(path: &Path, source: &Source, file: &GameFile) -> Result<World, StartError> {
    let spaces = match file.size() {
        Some(players) => Spaces::default().with_players(players)?,
        None => Spaces::default(),
    };
    info!("compiling {}", path.display());
    let bar = progress_bar();
    let compiled =
        obsp::compile(source, &spaces, &obsp::Options::default(), &mut |stage, done, total| {
            bar.set_message(match stage {
                Stage::Surfaces => "surfaces",
                Stage::Tree => "tree",
                Stage::Filled => "inside",
                Stage::ShiftTree => "shift tree",
            });
            bar.set_length(total);
            bar.set_position(done);
        })?;
    bar.finish_and_clear();
    let report = &compiled.report;
    let form = &report.form;
    info!("{} is read as a map of the form {}, told by: {}", path.display(), form.form, form.sign);
    let lacks =
        report.unsupported.iter().map(|lack| format!("{}:{}: {lack}", path.display(), lack.line));
    let warnings = report.warnings.iter().map(ToString::to_string).chain(lacks);
    for warning in warnings.clone().take(WARNINGS) {
        warn!("{warning}");
    }
    let more = warnings.skip(WARNINGS).count();
    if more > 0 {
        warn!("{more} more warnings; `mapc compile` shows them all");
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use obsp::PlayerSize;
    use obsp_game::arena::Arena;

    use super::*;
    use crate::Options;
    use crate::level::LevelMaker;

    /// A folder with the map of sumo, gone at the end.
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
        let maker = LevelMaker::new(&options, Arc::new(Arena));
        let make = |path: &Path| maker.make(&path.to_string_lossy(), 0);

        load(&map).unwrap().save(&compiled).unwrap();
        std::fs::write(&file, "[player]\nheight = 40\ncrouched_height = 24\n").unwrap();
        let small = PlayerSize { width: 32.0, height: 40.0, crouched_height: 24.0 };
        assert_eq!(PlayerSize::among(load(&map).unwrap().sizes()), Some(small));
        // Clients read it in the bytes that they are sent.
        let level = make(&map).unwrap().level;
        let told = World::from_bytes(&level.map).unwrap();
        assert_eq!(PlayerSize::among(told.sizes()), Some(small));
        let refused = make(&compiled).map(drop).unwrap_err().to_string();
        assert!(refused.contains("players 32 wide, 40 high and 24 crouched"), "{refused}");
        assert!(refused.contains("players 32 wide, 56 high and 36 crouched"), "{refused}");

        std::fs::write(&file, "[player]\nheight = 4\n").unwrap();
        let at = "game.toml: line 2, column 10: height is 4, not within 16 and 96";
        for error in [load(&map).unwrap_err(), maker.check(&map.to_string_lossy()).unwrap_err()] {
            assert!(error.to_string().contains(at), "{error}");
        }
        // A compiled map by itself needs no file.
        load(&compiled).unwrap();
    }
}
