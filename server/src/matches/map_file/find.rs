//! The search for a map by its name: a path, or a file in one of the folders of maps.

use std::path::{Component, Path, PathBuf};

use crate::common::error::StartError;

/// Suffixes of the files that can be served. The compiled map comes first, so it is preferred.
const SUFFIXES: [&str; 2] = ["obsp", "map"];

/// The folders that are searched for a map: `maps/` in the working directory, then `maps/` in the
/// source tree that the server was built from. The second lets `cargo run` work from any folder.
pub(crate) fn folders() -> Vec<PathBuf> {
    vec![PathBuf::from("maps"), Path::new(env!("CARGO_MANIFEST_DIR")).join("../maps")]
}

/// Finds the file of a map. `name` is its path, or the name of a file in one of `folders`; it may
/// lack the suffix.
pub(crate) fn find(name: &str, folders: &[PathBuf]) -> Result<PathBuf, StartError> {
    let places = std::iter::once(PathBuf::from(name))
        .chain(folders.iter().map(|folder| folder.join(name)))
        .flat_map(spellings);
    for place in places {
        if place.is_file() {
            return Ok(place);
        }
    }
    Err(StartError::NoSuchMap { name: name.into(), known: known(folders) })
}

/// Finds a map in one of the folders by its plain name, and refuses a path. Returns the map's path.
///
/// # Errors
/// There is no such map, or the name is a path.
pub(crate) fn find_named(name: &str, folders: &[PathBuf]) -> Result<String, StartError> {
    let missing = || StartError::NoSuchMap { name: name.into(), known: known(folders) };
    let mut parts = Path::new(name).components();
    // A backslash separates folders on Windows only, and is in no name of a map.
    let is_plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
        && !name.ends_with(['/', '\\']);
    if !is_plain || name.contains('\\') {
        return Err(missing());
    }
    let places = folders.iter().map(|folder| folder.join(name)).flat_map(spellings);
    let found = places.into_iter().find(|place| has_suffix(place) && place.is_file());
    found.and_then(|place| place.to_str().map(str::to_owned)).ok_or_else(missing)
}

/// The path itself and, if it has no suffix of a map, the path with each suffix.
fn spellings(path: PathBuf) -> Vec<PathBuf> {
    let mut spellings = vec![path.clone()];
    if !has_suffix(&path) {
        for suffix in SUFFIXES {
            let mut name = path.clone().into_os_string();
            name.push(".");
            name.push(suffix);
            spellings.push(name.into());
        }
    }
    spellings
}

fn has_suffix(path: &Path) -> bool {
    SUFFIXES.iter().any(|suffix| path.extension().is_some_and(|own| own == *suffix))
}

/// All maps in `folders`, sorted by name. A name that occurs in two folders is listed once.
fn known(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut known: Vec<PathBuf> = folders
        .iter()
        .filter_map(|folder| folder.read_dir().ok())
        .flatten()
        .filter_map(|entry| Some(PathBuf::from(entry.ok()?.file_name())))
        .filter(|path| has_suffix(path))
        .collect();
    known.sort();
    known.dedup();
    known
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A temporary folder that holds these files. It is removed when dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn with(test: &str, files: &[&str]) -> Self {
            let path = std::env::temp_dir().join(format!("{test}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            for file in files {
                fs::write(path.join(file), "").unwrap();
            }
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_map_is_found_by_path_by_name_and_without_its_suffix() {
        let folder = Folder::with("map-found", &["a.obsp", "a.map", "b.map"]);
        let folders = [folder.0.clone()];
        let path = folder.0.join("b.map");
        assert_eq!(find(path.to_str().unwrap(), &[]).unwrap(), path);
        assert_eq!(find("a.map", &folders).unwrap(), folder.0.join("a.map"));
        assert_eq!(find("a", &folders).unwrap(), folder.0.join("a.obsp"));
        assert_eq!(find("b", &folders).unwrap(), path);
    }

    #[test]
    fn a_missing_map_lists_what_there_is() {
        let folder = Folder::with("map-missing", &["a.obsp", "b.map", "notes.txt"]);
        let message = find("c", std::slice::from_ref(&folder.0)).unwrap_err().to_string();
        assert_eq!(
            message,
            "there is no map c in this folder or in maps/; known maps: a.obsp, b.map"
        );
        assert!(find("c", &[]).unwrap_err().to_string().contains("path of an .obsp"));
    }

    #[test]
    fn a_map_that_is_named_from_outside_is_no_path() {
        let folder = Folder::with("map-named", &["a.obsp", "notes.txt"]);
        fs::create_dir_all(folder.0.join("inner")).unwrap();
        fs::write(folder.0.join("inner/b.obsp"), "").unwrap();
        let folders = [folder.0.clone()];
        let path = folder.0.join("a.obsp").to_str().unwrap().to_owned();
        assert_eq!(find_named("a", &folders).unwrap(), path);
        assert_eq!(find_named("a.obsp", &folders).unwrap(), path);
        for bad in [
            &path,
            "inner/b",
            "inner/b.obsp",
            "./a",
            "../a",
            "inner/../a",
            "a/",
            "inner\\b",
            "notes.txt",
            "inner",
            "",
            ".",
            "..",
            "/etc/passwd",
        ] {
            assert!(find_named(bad, &folders).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_folder_is_no_map() {
        let folder = Folder::with("map-folder", &[]);
        fs::create_dir(folder.0.join("d.map")).unwrap();
        assert!(find("d.map", std::slice::from_ref(&folder.0)).is_err());
    }
}
