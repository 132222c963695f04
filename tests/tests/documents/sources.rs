//! Checks of the sources: comments, examples, and messages that the changelog quotes.

use super::page::{Page, files, read};

/// Openings of comments without a subject. They are allowed only in questions.
const OPENINGS: [&str; 7] =
    ["Those", "Whoever", "That of", "By which", "Of which", "With what", "What it"];

/// The sources of the libraries, whose documentation must have [`EXAMPLES`] examples in all.
const LIBRARIES: &str = "maps/src/ server/sim/src/ server/game/src/ server/recording/src/ \
                         proto/src/ client-bot/client/src/";
const EXAMPLES: usize = 60;

/// The changelog's table of formats: the beginning of each row, and the file and the constant whose
/// value it repeats.
const FORMATS: [(&str, &str, &str); 4] = [
    ("| wire ", "proto/src/constants.rs", "PROTOCOL_VERSION: u32 = "),
    ("| recording, ", "server/recording/src/format.rs", "VERSION: u16 = "),
    ("| compiled map, ", "maps/src/map/format/error.rs", "VERSION: u32 = "),
    ("| saved match ", "server/sim/src/world/save.rs", "VERSION: u16 = "),
];

#[test]
fn comments_name_their_subject() {
    let mut found = Vec::new();
    for path in files("rs") {
        for (line, text) in comments(&read(&path)) {
            let rest = OPENINGS.into_iter().find_map(|opening| text.strip_prefix(opening));
            let opens = rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
            let question = text.split(". ").next().is_some_and(|first| first.contains('?'));
            if opens && !question {
                found.push(format!("{path}:{line}: {text}"));
            }
        }
    }
    assert!(found.is_empty(), "name the subject of these comments:\n{}", found.join("\n"));
}

/// The paragraphs of a source's comments, each with its first line.
fn comments(source: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    // The kind of the current paragraph, which the next line may continue.
    let mut open = "";
    for (index, line) in source.lines().enumerate() {
        let bare = line.trim_start();
        let kind = ["///", "//!", "//"].into_iter().find(|&kind| bare.starts_with(kind));
        // A comment after code has no kind and only one line.
        let (_, words) = line.split_once(kind.unwrap_or(" // ")).unwrap_or_default();
        let (kind, words) = (kind.unwrap_or_default(), words.trim());
        match found.last_mut() {
            _ if words.is_empty() => {}
            Some((_, text)) if kind == open && !kind.is_empty() => *text += &format!(" {words}"),
            _ => found.push((index + 1, words.to_owned())),
        }
        open = if words.is_empty() { "" } else { kind };
    }
    found
}

#[test]
fn the_libraries_have_examples_that_run() {
    let in_libraries = |path: &String| {
        // Rustdoc runs no examples of binaries.
        let library = LIBRARIES.split_whitespace().any(|folder| path.starts_with(folder));
        library && !path.starts_with("maps/src/bin/")
    };
    let sources = files("rs").into_iter().filter(in_libraries);
    let count: usize = sources.map(|path| examples(&read(&path))).sum();
    assert!(count >= EXAMPLES, "the libraries have {count} examples, but need {EXAMPLES}");
}

/// The number of examples in a source's documentation that rustdoc compiles and runs.
fn examples(source: &str) -> usize {
    let (mut count, mut open) = (0, false);
    for line in source.lines().map(str::trim_start) {
        let words = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        open &= words.is_some();
        if let Some(info) = words.and_then(|words| words.trim().strip_prefix("```")) {
            // Rustdoc treats a block without a language as Rust.
            let runs = |word: &str| matches!(word, "" | "rust" | "should_panic");
            count += usize::from(!open && info.split([',', ' ']).all(runs));
            open = !open;
        }
    }
    count
}

/// On the page of versions, code with a space in it is a message. `…` stands for the parts that a
/// program fills in.
#[test]
fn the_page_of_versions_has_the_numbers_and_the_messages_of_the_formats() {
    let page = Page::read("deploy/VERSIONS.md");
    for (row, file, constant) in FORMATS {
        let source = read(file);
        let number = source.split(constant).nth(1).and_then(|rest| rest.split(';').next());
        assert!(number.is_some(), "{file} has no `{constant}`");
        let row = page.prose.iter().find(|line| line.starts_with(row));
        let told = row.and_then(|line| line.split('|').nth(2)).map(str::trim);
        assert_eq!(told, number, "the number in VERSIONS.md differs from {file}");
    }
    let own = files("rs").into_iter().filter(|path| !path.starts_with("tests/"));
    let sources: Vec<_> = own.map(|path| with_joined_strings(&read(&path))).collect();
    for quote in page.split_code().1.iter().filter(|code| code.contains(' ')) {
        for part in quote.split('…').map(str::trim).filter(|part| part.len() > 3) {
            let said = sources.iter().any(|source| source.contains(part));
            assert!(said, "no source has `{part}`, which VERSIONS.md quotes in `{quote}`");
        }
    }
}

/// Symptom: the page named version 8 while the code already had version 10.
#[test]
fn the_page_of_the_protocol_names_the_version_of_the_code() {
    let (_, file, constant) = FORMATS[0];
    let source = read(file);
    let number = source.split(constant).nth(1).and_then(|rest| rest.split(';').next());
    let number = number.unwrap_or_else(|| panic!("{file} has no `{constant}`"));
    let page = read("proto/PROTOCOL.md");
    for sentence in
        [format!("The version is **{number}**."), format!("the server speaks {number}:")]
    {
        assert!(page.contains(&sentence), "proto/PROTOCOL.md lacks: {sentence}");
    }
}

/// The source, with each string that continues on the next line joined into one line.
fn with_joined_strings(source: &str) -> String {
    source.split("\\\n").map(str::trim_start).collect()
}
