//! Follows the links of the pages: the file must exist, and so must its heading.

use std::collections::BTreeMap;

use super::page::{Page, files, root};

#[test]
fn each_link_leads_to_a_file_and_a_heading() {
    let pages: BTreeMap<_, _> =
        files("md").into_iter().map(|path| (path.clone(), Page::read(&path))).collect();
    let mut faults = Vec::new();
    for (path, page) in &pages {
        for (line, target) in targets(page) {
            if let Err(fault) = follow(path, &target, &pages) {
                faults.push(format!("{path}:{line}: {target}: {fault}"));
            }
        }
    }
    assert!(faults.is_empty(), "links that lead nowhere:\n{}", faults.join("\n"));
}

/// The targets of a page's links and pictures, each with its line.
fn targets(page: &Page) -> Vec<(usize, String)> {
    let (text, _) = page.split_code();
    let mut found = Vec::new();
    for (start, end) in [("](", ')'), ("\n[", '\n'), ("href=\"", '"'), ("src=\"", '"')] {
        for (at, _) in text.match_indices(start) {
            let target = text[at + start.len()..].split(end).next().unwrap_or_default();
            // At the start of a line, only `[name]: target` is a link's target.
            let target =
                if end == '\n' { target.split_once("]: ").map(|of| of.1) } else { Some(target) };
            // A title may follow the target.
            let target = target.and_then(|target| target.split_whitespace().next());
            let line = text[..at].matches('\n').count() + 1 + usize::from(end == '\n');
            found.extend(target.map(|target| (line, target.trim_matches(['<', '>']).to_owned())));
        }
    }
    found
}

fn follow(from: &str, target: &str, pages: &BTreeMap<String, Page>) -> Result<(), String> {
    // Links to other sites are not followed, and rustdoc checks the names of Rust items.
    if target.contains("://") || target.starts_with("mailto:") || target.contains("::") {
        return Ok(());
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let mut path: Vec<_> = from.split('/').collect();
    if !file.is_empty() {
        path.pop();
        for part in file.split('/').filter(|&part| !matches!(part, "" | ".")) {
            if part != ".." {
                path.push(part);
            } else if path.pop().is_none() {
                return Err("the link leads out of the repository".to_owned());
            }
        }
    }
    let path = path.join("/");
    if !root().join(&path).exists() {
        return Err(format!("there is no {path}"));
    }
    let known = pages.get(&path).is_none_or(|page| anchors(page).iter().any(|of| of == heading));
    if known || heading.is_empty() { Ok(()) } else { Err(format!("{path} has no such heading")) }
}

/// The anchors of a page's headings, as GitHub names them.
fn anchors(page: &Page) -> Vec<String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let headings = page.prose.iter().filter(|line| line.starts_with('#'));
    let titles = headings.filter_map(|line| line.trim_start_matches('#').strip_prefix(' '));
    let anchor = |title: &str| {
        // Only the text of a link is part of the anchor.
        let mut text = String::new();
        for (index, part) in title.split("](").enumerate() {
            text += if index == 0 { part } else { part.split_once(')').map_or("", |of| of.1) };
        }
        let kept = |sign: &char| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_');
        let name: String = text.trim().to_lowercase().chars().filter(kept).collect();
        let name = name.replace(' ', "-");
        let before = times.entry(name.clone()).or_default();
        *before += 1;
        if *before == 1 { name } else { format!("{name}-{}", *before - 1) }
    };
    titles.map(anchor).collect()
}
