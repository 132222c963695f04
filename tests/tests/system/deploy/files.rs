//! The texts of the files in `deploy/`, and the names in them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

/// The folder `deploy`.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy"))
}

/// The text of a file in `deploy`.
pub(crate) fn read(path: &str) -> String {
    let path = folder().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The series that a server exports, from the page that documents them. A test of the server keeps
/// that page correct.
pub(crate) fn exported() -> Vec<String> {
    let page = read("METRICS.md");
    let rows = page.lines().filter(|line| line.starts_with("| `game_"));
    rows.flat_map(|row| {
        let mut cells = row.split('|').skip(1).map(|cell| cell.trim().trim_matches('`'));
        let name = cells.next().unwrap().to_owned();
        let parts: &[&str] = match cells.next() {
            Some("histogram") => &["_bucket", "_sum", "_count"],
            _ => &[""],
        };
        parts.iter().map(move |part| format!("{name}{part}"))
    })
    .collect()
}

/// The series that our rules record.
pub(crate) fn recorded() -> Vec<String> {
    rules("record")
}

/// The alerts that our rules raise.
pub(crate) fn alerts() -> Vec<String> {
    rules("alert")
}

fn rules(kind: &str) -> Vec<String> {
    let beginning = format!("- {kind}: ");
    let rules = read("prometheus/rules.yml");
    let name = |line: &str| line.trim().strip_prefix(&beginning).map(str::to_owned);
    rules.lines().filter_map(name).collect()
}

/// The names of our metrics in a text, including those that rules record.
pub(crate) fn names(text: &str) -> BTreeSet<String> {
    let part_of_a_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    // A line of `action` is prose, in which a histogram has its plain name, without `_bucket`.
    let expressions = text.lines().filter(|line| !line.trim_start().starts_with("action:"));
    let words = expressions.flat_map(|line| line.split(move |c| !part_of_a_name(c)));
    let ours = words.filter(|word| {
        word.starts_with("game_") || (word.contains(":game_") && !word.ends_with(':'))
    });
    ours.map(str::to_owned).collect()
}

/// Every query of the dashboard, with its variables not filled in.
pub(crate) fn dashboard_queries() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(&read("grafana/dashboards/arena.json")).unwrap();
    let mut queries = Vec::new();
    collect(&dashboard, &mut queries);
    assert!(queries.len() > 30, "only {} queries were found", queries.len());
    queries
}

fn collect(value: &Value, queries: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            queries.extend(fields.get("expr").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|field| collect(field, queries));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, queries)),
        _ => {}
    }
}
