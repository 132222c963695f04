//! Checks of the texts in the repository: pages are short, links lead somewhere, commands run,
//! comments name their subject, modules keep their order, the libraries have examples, and the
//! changelog quotes messages correctly.

mod commands;
mod links;
mod page;
mod rooms;
mod sources;

use page::{Page, files};

/// Limit in bytes of a page. The page without a limit is a reference, which nobody reads in one go.
fn limit(path: &str) -> usize {
    match path {
        "README.md" => 6_500,
        "ARCHITECTURE.md" => 10_000,
        "proto/PROTOCOL.md" => usize::MAX,
        _ => 16_384,
    }
}

#[test]
fn pages_are_short_enough_to_be_read() {
    let sizes = files("md").into_iter().map(|path| (Page::read(&path).bytes, path));
    let too_long: Vec<_> = sizes.filter(|(bytes, path)| *bytes > limit(path)).collect();
    assert!(too_long.is_empty(), "these pages are too long, so divide them: {too_long:#?}");
}
