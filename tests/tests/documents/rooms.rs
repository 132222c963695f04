//! Checks the order of modules. The `lib.rs` of `server`, the `lib.rs` of `obsp-sim` and its
//! `bodies.rs` list their modules, each depending only on the ones before it. So a source may name
//! modules of its own line of the list and of the lines above, and no others. Tests may name any
//! module.
//!
//! The folders of `server` are also kept small enough to be read at a glance.

use std::collections::BTreeMap;
use std::path::Path;

use super::page::{files, read};

/// Maximum number of files in a folder of `server/src`, without its subfolders.
const FILES: usize = 12;

/// Maximum number of files and folders in `server/src` itself.
const ENTRIES: usize = 20;

/// Maximum number of lines of a function that moves bodies.
const LINES: usize = 60;

/// The modules in the list of a `lib.rs`, each with its line in the list.
type Order = BTreeMap<String, usize>;

#[test]
fn modules_of_the_server_use_only_those_above_them_in_the_list() {
    holds_its_order("server/src/", "lib.rs", "crate::");
}

#[test]
fn modules_of_the_simulation_use_only_those_above_them_in_the_list() {
    holds_its_order("server/sim/src/", "lib.rs", "crate::");
}

#[test]
fn modules_of_the_moving_bodies_use_only_those_above_them_in_the_list() {
    holds_its_order("server/sim/src/bodies/", "../bodies.rs", "crate::bodies::");
}

/// Checks that the list in a file beside a folder's modules has all of them, and that the sources
/// keep to the order. In the code a module's path begins with `root`.
fn holds_its_order(folder: &str, list: &str, root: &str) {
    let order = order(&read(&format!("{folder}{list}")));
    for path in files("rs").iter().filter_map(|path| path.strip_prefix(folder)) {
        let room = path.split(['/', '.']).next().unwrap_or_default();
        let is_listed = order.contains_key(room) || matches!(room, "lib" | "main" | "test_maps");
        assert!(is_listed, "{folder}{list} does not say where `{room}` is in the order");
    }
    assert_eq!(all_breaks(folder, root, &order), [""; 0], "{ADVICE}");
}

const ADVICE: &str = "move the named item to a module above both, or pass it as an argument";

#[test]
fn the_folders_of_the_server_are_small() {
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    let mut top: Vec<&str> = Vec::new();
    let all: Vec<_> = ["rs", "json"].into_iter().flat_map(files).collect();
    for path in all.iter().filter_map(|path| path.strip_prefix("server/src/")) {
        let (folder, _) = path.rsplit_once('/').unwrap_or_default();
        *folders.entry(folder).or_default() += 1;
        top.extend(path.split('/').next());
    }
    top.sort_unstable();
    top.dedup();
    assert!(top.len() <= ENTRIES, "server/src has {} entries, not {ENTRIES}: {top:?}", top.len());
    folders.retain(|_, count| *count > FILES);
    assert!(
        folders.is_empty(),
        "divide these folders, which have more than {FILES} files: {folders:?}"
    );
}

#[test]
fn functions_of_the_moving_bodies_fit_on_a_screen() {
    let own = |path: &String| path.starts_with("server/sim/src/bodies/");
    let sources = files("rs").into_iter().filter(own).filter(|path| !path.ends_with("/tests.rs"));
    let mut long = Vec::new();
    for path in sources {
        let source = read(&path);
        let (code, _) = source.split_once("#[cfg(test)]\nmod tests").unwrap_or((&source, ""));
        let lines: Vec<&str> = code.lines().collect();
        for (first, line) in lines.iter().enumerate() {
            let Some((before, _)) = line.split_once("fn ") else { continue };
            let indent = &line[..line.len() - line.trim_start().len()];
            let is_item = before
                .trim()
                .split(' ')
                .all(|word| word.is_empty() || word == "const" || word.starts_with("pub"));
            let end = format!("{indent}}}");
            let length = lines[first..].iter().position(|line| *line == end).map(|last| last + 1);
            if is_item && length.is_some_and(|length| length > LINES) {
                long.push(format!("{path}:{}", first + 1));
            }
        }
    }
    assert_eq!(long, [""; 0], "divide these functions, which have more than {LINES} lines");
}

/// The order that a `lib.rs` states: each line of its list begins with one module or several.
fn order(lib: &str) -> Order {
    let items = lib.lines().filter_map(|line| line.strip_prefix("//! - "));
    let mut order = Order::new();
    for (place, item) in items.enumerate() {
        let described = item.split_once(':');
        let (names, _) = described.unwrap_or_else(|| panic!("lib.rs: no colon after {item}"));
        for name in names.split('`').skip(1).step_by(2) {
            order.insert(name.to_owned(), place);
        }
    }
    assert!(order.len() > 4, "lib.rs lists no modules");
    order
}

/// The breaks of the order in all sources under `folder`, except for tests.
fn all_breaks(folder: &str, root: &str, order: &Order) -> Vec<String> {
    let all = files("rs");
    let own: Vec<_> = all.iter().filter_map(|path| path.strip_prefix(folder)).collect();
    let mut tests = Vec::new();
    for path in &own {
        let source = read(&format!("{folder}{path}"));
        let parent = module(path).join("/");
        let path_of = |name| if parent.is_empty() { name } else { format!("{parent}/{name}") };
        tests.extend(test_modules(&source).into_iter().map(path_of));
    }
    let is_test = |path: &&&str| {
        let own = module(path).join("/");
        tests.iter().any(|test| own == *test || own.starts_with(&format!("{test}/")))
    };
    let judged = own.iter().filter(|path| !is_test(path));
    let mut found = Vec::new();
    for path in judged {
        let breaks = breaks(path, &read(&format!("{folder}{path}")), root, order);
        found.extend(breaks.into_iter().map(|text| format!("{folder}{text}")));
    }
    found
}

/// The path of a source's module from the crate's root.
fn module(path: &str) -> Vec<&str> {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let is_root = Path::new(path).components().count() == 1 && matches!(path, "lib" | "main");
    if is_root { Vec::new() } else { path.split('/').collect() }
}

/// The modules that a source declares for tests alone, in files of their own.
fn test_modules(source: &str) -> Vec<String> {
    let declared = source.split("#[cfg(test)]").skip(1).filter_map(|rest| {
        let item = rest.split([';', '{']).next()?;
        let (_, name) = item.split_once("mod ")?;
        rest[item.len()..].starts_with(';').then(|| name.trim().to_owned())
    });
    declared.collect()
}

/// The places in a source that name a module that comes later in the order, or a name of the
/// crate's root.
fn breaks(path: &str, source: &str, root: &str, order: &Order) -> Vec<String> {
    let module = module(path);
    let Some(&own) = module.first().and_then(|room| order.get(*room)) else { return Vec::new() };
    let told = |(line, name): (usize, String)| match order.get(&name) {
        Some(&place) if place > own => Some(format!("{path}:{line}: `{name}` comes later")),
        // A name of the crate's root says nothing about the module that it comes from.
        None if name.starts_with(char::is_uppercase) => {
            Some(format!("{path}:{line}: `crate::{name}` does not name its module"))
        }
        _ => None,
    };
    let code = without_tests(&without_comments(source));
    let text: String = code.iter().map(|(_, sign)| *sign).collect();
    let mut found: Vec<_> = Vec::new();
    let line_of = |at: usize| code[text[..at].chars().count()].0;
    for start in [root, "super::"] {
        for (at, _) in text.match_indices(start) {
            let before = text[..at].chars().next_back();
            if before.is_some_and(|sign| sign.is_alphanumeric() || matches!(sign, '_' | ':' | '$'))
            {
                continue;
            }
            let mut rest = &text[at..];
            let mut depth = module.len();
            while let Some(above) = rest.strip_prefix("super::") {
                (rest, depth) = (above, depth.saturating_sub(1));
            }
            let rest = match rest.strip_prefix(root) {
                Some(rest) => rest,
                None if depth == 0 => rest,
                None => continue,
            };
            found.extend(first_names(rest).into_iter().map(|name| (line_of(at), name)));
        }
    }
    found.sort();
    found.into_iter().filter_map(told).collect()
}

/// The first name of a path, or of each path in braces.
fn first_names(rest: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim_start()
            .chars()
            .take_while(|sign| sign.is_alphanumeric() || *sign == '_')
            .collect()
    };
    let Some(inner) = rest.strip_prefix('{') else { return vec![name(rest)] };
    let (mut names, mut depth, mut begin) = (Vec::new(), 0, 0);
    for (at, sign) in inner.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.push(name(&inner[begin..at]));
                begin = at + 1;
                if sign == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The characters of a source without its comments, each with its line.
fn without_comments(source: &str) -> Vec<(usize, char)> {
    let mut kept = Vec::new();
    for (index, line) in source.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        kept.extend(code.chars().chain(['\n']).map(|sign| (index + 1, sign)));
    }
    kept
}

/// The characters without the items that are compiled for tests alone.
fn without_tests(code: &[(usize, char)]) -> Vec<(usize, char)> {
    let mark: Vec<char> = "#[cfg(test)]".chars().collect();
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < code.len() {
        if !code[at..].iter().map(|(_, sign)| sign).take(mark.len()).eq(&mark) {
            kept.push(code[at]);
            at += 1;
            continue;
        }
        let mut depth = 0;
        at += mark.len();
        while let Some((_, sign)) = code.get(at) {
            at += 1;
            match sign {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 && matches!(sign, ';' | '}') {
                break;
            }
        }
    }
    kept
}

#[test]
fn each_way_to_name_a_later_module_is_found() {
    let order = order(
        "//! - `ground`: below\n//! - `door`, `gate`: between\n//! - `hall`: above\n\
         //! - [`roof`]: higher\n//! - `sky`: highest\n",
    );
    let source = "
        //! A comment may name [`hall`](crate::hall).
        use crate::ground::Stone;
        use crate::{
            ground::{self, Stone},
            hall::{Lamp, Table}, gate,
        };
        use super::super::roof::Tile;
        use super::hinge;
        #[cfg(test)]
        use crate::sky::Star;
        fn look() { crate::hall::look(); } // crate::sky
        #[cfg(test)]
        mod tests {
            use crate::sky::Star;
            fn look() { let _ = [Star {}]; }
        }
        type Sun = crate::sky::Sun;
        type Moon = crate::Moon;
    ";
    let found = breaks("door/lock.rs", source, "crate::", &order);
    assert_eq!(
        found,
        [
            "door/lock.rs:4: `hall` comes later",
            "door/lock.rs:8: `roof` comes later",
            "door/lock.rs:12: `hall` comes later",
            "door/lock.rs:18: `sky` comes later",
            "door/lock.rs:19: `crate::Moon` does not name its module",
        ]
    );
    assert_eq!(breaks("sky.rs", source, "crate::", &order).len(), 1);
    assert_eq!(test_modules("#[cfg(test)]\npub(crate) mod tests;\nmod other;"), ["tests"]);
}
