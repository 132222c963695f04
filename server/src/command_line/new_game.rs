//! `server new-game`: writes a new crate with a game that runs. It needs no network: the crate
//! depends on this repository by its path and uses the same versions of libraries.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use thiserror::Error;

/// The options of `server new-game`.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub(crate) struct NewGameOptions {
    /// Name of the crate and of its folder, which is made in the current folder: a-z, 0-9, `-` and
    /// `_`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Folder of this repository, on which the crate depends; by default the folder in which this
    /// program was built
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,
}

/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 64;

/// Names that cargo or Rust refuses, and names of the crates that the game depends on.
const TAKEN: &str = "\
    abstract alloc as async await become box break build const continue core crate deps do \
    dyn else enum examples extern false final fn for gen if impl in incremental let loop \
    macro match mod move mut obsp obsp-game obsp-sim override priv proc-macro proc_macro \
    pub ref return self serde server static std struct super test trait true try type \
    typeof unsafe unsized use virtual where while yield";

/// The files of the crate. `NAME` and `CHECKOUT` are replaced by the values of the options.
const FILES: [(&str, &str); 4] = [
    ("Cargo.toml", include_str!("new_game/Cargo.toml.template")),
    ("src/main.rs", include_str!("new_game/main.rs.template")),
    ("game.toml", include_str!("new_game/game.toml.template")),
    ("start.map", include_str!("new_game/start.map")),
];

/// Why no crate was written.
#[derive(Debug, Error)]
pub(crate) enum NewGameError {
    /// A name that a crate cannot have.
    #[error(
        "{name:?} cannot be the name of a crate: {fault}; choose another name, such as my-game"
    )]
    BadName {
        /// The name.
        name: String,
        /// The fault.
        fault: &'static str,
    },
    /// The folder is not this repository.
    #[error(
        "{} has no {missing}, so it is not the repository of the server: name the repository's \
         folder with --path", .path.display()
    )]
    NotTheRepository {
        /// The folder.
        path: PathBuf,
        /// A file that is not there.
        missing: &'static str,
    },
    /// The folder of the crate is there already.
    #[error("{} exists already, and nothing in it was changed: choose another name", .path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// A file cannot be written or read.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// Writes the crate into a new folder of `parent`. Returns what to do next.
///
/// # Errors
/// [`NewGameError`] says what is wrong with the name or the folders.
pub(crate) fn new_game(options: &NewGameOptions, parent: &Path) -> Result<String, NewGameError> {
    let NewGameOptions { name, path } = options;
    if let Some(fault) = fault_of(name) {
        return Err(NewGameError::BadName { name: name.clone(), fault });
    }
    let built = || Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let checkout = repository(path.clone().unwrap_or_else(built))?;
    let folder = parent.join(name);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| NewGameError::File { path, source }
    };
    match std::fs::create_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(NewGameError::Exists { path: folder });
        }
        made => made.map_err(failed(&folder))?,
    }
    let source = folder.join("src");
    std::fs::create_dir(&source).map_err(failed(&source))?;
    for (file, text) in FILES {
        let path = folder.join(file);
        std::fs::write(&path, filled(text, name, &checkout)).map_err(failed(&path))?;
    }
    let lock = folder.join("Cargo.lock");
    std::fs::copy(checkout.join("Cargo.lock"), &lock).map_err(failed(&lock))?;
    Ok(format!(
        "wrote a game to {}. Now run\n  cd {name} && cargo run\nand open http://127.0.0.1:8080",
        folder.display()
    ))
}

/// Why a crate cannot have this name, if it cannot.
fn fault_of(name: &str) -> Option<&'static str> {
    let fits =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    if !name.bytes().next().is_some_and(|first| first.is_ascii_lowercase()) {
        return Some("it does not begin with one of a-z");
    }
    if !name.bytes().all(fits) {
        return Some("it has characters other than a-z, 0-9, - and _");
    }
    if name.len() > MAX_NAME {
        return Some("it is longer than 64 characters");
    }
    let name = name.replace('_', "-");
    TAKEN
        .split_whitespace()
        .any(|taken| taken == name)
        .then_some("cargo, Rust or a crate of the server already uses this name")
}

/// The whole path of this repository.
fn repository(path: PathBuf) -> Result<PathBuf, NewGameError> {
    for missing in ["Cargo.lock", "server/Cargo.toml", "server/game/Cargo.toml"] {
        if !path.join(missing).is_file() {
            return Err(NewGameError::NotTheRepository { path, missing });
        }
    }
    path.canonicalize().map_err(|source| NewGameError::File { path, source })
}

/// A template with the name and the paths. A path is written as a string of TOML.
fn filled(text: &str, name: &str, checkout: &Path) -> String {
    let line = |line: &str| match line.split_once("CHECKOUT/") {
        Some((before, rest)) => {
            let (crate_path, after) = rest.split_once(' ').unwrap_or((rest, ""));
            let path = checkout.join(crate_path).display().to_string();
            format!("{before}{} {after}", toml::Value::String(path))
        }
        None => line.replace("NAME", name),
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(name: &str) -> NewGameOptions {
        NewGameOptions { name: name.to_owned(), path: None }
    }

    #[test]
    fn a_name_that_no_crate_can_have_is_refused_with_the_way_out() {
        let longest = "g".repeat(MAX_NAME);
        for name in ["sumo", "my-game", "g_2", &longest] {
            assert_eq!(fault_of(name), None, "{name}");
        }
        let longer = "g".repeat(MAX_NAME + 1);
        let bad = ["", "2fast", "-x", "My", "a b", "../up", "a/b", "server", "obsp_game", "fn"];
        for name in bad.into_iter().chain([longer.as_str()]) {
            let error = new_game(&options(name), Path::new("nowhere")).unwrap_err();
            assert!(error.to_string().contains("choose another name"), "{error}");
        }
    }

    #[test]
    fn an_existing_folder_is_kept_and_other_folders_are_no_repository() {
        let parent = std::env::temp_dir().join(format!("new-game-{}", std::process::id()));
        let mine = parent.join("mine");
        std::fs::create_dir_all(&mine).unwrap();
        let error = new_game(&options("mine"), &parent).unwrap_err();
        assert!(matches!(error, NewGameError::Exists { .. }), "{error}");
        assert_eq!(std::fs::read_dir(&mine).unwrap().count(), 0);
        let path = Some(parent.clone());
        let error = new_game(&NewGameOptions { path, ..options("other") }, &parent);
        assert!(error.unwrap_err().to_string().contains("--path"));
        let _ = std::fs::remove_dir_all(parent);
    }

    #[test]
    fn a_path_with_any_characters_is_a_string_of_toml() {
        let text = filled(FILES[0].1, "mine", Path::new("/a \"b\"/c\\d"));
        let read: toml::Table = toml::from_str(&text).unwrap();
        assert_eq!(read["package"]["name"].as_str(), Some("mine"));
        let path = read["dependencies"]["server"]["path"].as_str().unwrap();
        assert_eq!(Path::new(path), Path::new("/a \"b\"/c\\d/server"));
    }
}
