//! The files of the repository, and its Markdown pages as prose and blocks of code.

use std::fs;
use std::path::{Path, PathBuf};

/// The top of the repository.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is in a folder").to_owned()
}

/// The paths of all files with this extension, from the top of the repository, sorted. Build
/// outputs, packages of npm and hidden folders other than `.github` are left out.
pub(super) fn files(extension: &str) -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), vec![String::new()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("the folder can be read") {
            let entry = entry.expect("the entry can be read");
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_foreign = ["target", "node_modules"].contains(&&name[..]);
            let skipped = is_foreign || (name.starts_with('.') && name != ".github");
            if !entry.path().is_dir() {
                let fits = Path::new(&name).extension().is_some_and(|of| of == extension);
                found.extend(fits.then(|| format!("{folder}{name}")));
            } else if !skipped {
                folders.push(format!("{folder}{name}/"));
            }
        }
    }
    found.sort();
    found
}

/// The text of a file.
pub(super) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A Markdown page.
pub(super) struct Page {
    pub(super) bytes: usize,
    /// All lines of the page; lines of blocks are empty here.
    pub(super) prose: Vec<String>,
    /// The blocks of code: the line of the opening fence, counted from 1, the words after the
    /// fence, and the text.
    pub(super) blocks: Vec<(usize, String, String)>,
}

impl Page {
    pub(super) fn read(path: &str) -> Self {
        let text = read(path);
        let (mut prose, mut blocks) = (Vec::new(), Vec::new());
        // The fence of the open block, which is the last of `blocks`.
        let mut open: Option<String> = None;
        for (index, line) in text.lines().enumerate() {
            let bare = line.trim_start();
            let ticks = bare.len() - bare.trim_start_matches('`').len();
            let (fence, info) = bare.split_at(ticks);
            let closes = |open: &String| info.trim().is_empty() && ticks >= open.len();
            let mut outside = "";
            if open.as_ref().is_some_and(closes) {
                open = None;
            } else if open.is_some() {
                let (_, _, text): &mut (usize, String, String) = blocks.last_mut().expect("one");
                *text += line;
                text.push('\n');
            } else if ticks >= 3 && !info.contains('`') {
                open = Some(fence.to_owned());
                blocks.push((index + 1, info.trim().to_owned(), String::new()));
            } else {
                outside = line;
            }
            prose.push(outside.to_owned());
        }
        assert!(open.is_none(), "{path}: the last block is not closed");
        Self { bytes: text.len(), prose, blocks }
    }

    /// The prose without its code spans, with the same number of lines, and the code spans.
    pub(super) fn split_code(&self) -> (String, Vec<String>) {
        let (mut kept, mut spans) = (String::new(), Vec::new());
        let text = self.prose.join("\n");
        let mut rest = &*text;
        while let Some((before, code)) = rest.split_once('`') {
            kept += before;
            let inside = code.trim_start_matches('`');
            let fence = "`".repeat(1 + code.len() - inside.len());
            // A code span must end in its paragraph.
            let (span, after) = match inside.split_once(&fence) {
                Some((span, after)) if !span.contains("\n\n") => (span, after),
                _ => ("", inside),
            };
            kept += &"\n".repeat(span.matches('\n').count());
            spans.push(span.split_whitespace().collect::<Vec<_>>().join(" "));
            rest = after;
        }
        (kept + rest, spans)
    }
}
