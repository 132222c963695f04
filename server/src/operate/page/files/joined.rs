//! Joins a script or a style sheet with all that it imports. A browser then makes one request
//! instead of a hundred, one after another. Text that is compressed as a whole is also a quarter
//! smaller than parts that are compressed one by one.
//!
//! A script keeps its own scope: it becomes a block, and `$` holds the exports of the blocks before
//! it. Only the style of this page's files is understood, in which each import and each export is a
//! line of its own.

use std::collections::BTreeSet;

use super::comments::without_comments;

/// The text of the file at `path` with the texts that it imports, each once and before those that
/// import it. `read` returns a file's text by its path.
pub(super) fn joined<'a>(path: &str, read: &dyn Fn(&str) -> Option<&'a str>) -> String {
    let mut whole = Whole { read, text: String::new(), has: BTreeSet::new() };
    if path.ends_with(".js") {
        whole.text.push_str("const $ = {};\n");
        whole.add_script(path, path);
        // A script that others load later, by `import()`, hands its exports on.
        whole.text.push_str(&format!("export default $[\"{path}\"];\n"));
    } else {
        whole.add_style(path);
    }
    whole.text
}

/// The files that have been joined so far.
struct Whole<'a, 'r> {
    read: &'r dyn Fn(&str) -> Option<&'a str>,
    text: String,
    /// The paths of the files that `text` has.
    has: BTreeSet<String>,
}

impl Whole<'_, '_> {
    /// Returns the text of a file. It is empty if the file was joined already or does not exist.
    fn take(&mut self, path: &str) -> String {
        let is_new = self.has.insert(path.to_owned());
        let text = is_new.then(|| (self.read)(path)).flatten();
        without_comments(text.unwrap_or_default())
    }

    /// Adds the script at `path` after all that it imports. The browser loads all of them from the
    /// address of `first`, so uses of `import.meta.url` are adapted.
    fn add_script(&mut self, path: &str, first: &str) {
        let script = self.take(path);
        let (mut body, mut exports) = (String::new(), Vec::new());
        for line in script.lines() {
            if let Some((names, imported)) = import(line) {
                let imported = resolved(path, imported);
                self.add_script(&imported, first);
                let names = names.replace(" as ", ": ");
                body.push_str(&format!("const {{{names}}} = $[\"{imported}\"];"));
            } else if let Some(exported) = line.strip_prefix("export ") {
                exports.push(names_of(exported));
                body.push_str(exported);
            } else {
                body.push_str(line);
            }
            body.push('\n');
        }
        if body.is_empty() {
            return;
        }
        let way_up = "../".repeat(first.matches('/').count());
        let own_address = format!("new URL(\"{way_up}{path}\", import.meta.url).href");
        let body = body.replace("import.meta.url", &own_address);
        let exports = exports.join(", ");
        self.text.push_str(&format!("{{ // {path}\n{body}$[\"{path}\"] = {{{exports}}};\n}}\n"));
    }

    fn add_style(&mut self, path: &str) {
        for line in self.take(path).lines() {
            let imported =
                line.strip_prefix("@import \"").and_then(|rest| rest.strip_suffix("\";"));
            match imported {
                Some(imported) => self.add_style(&resolved(path, imported)),
                None => self.text.extend([line, "\n"]),
            }
        }
    }
}

/// The names and the path of an import, if the line is one.
fn import(line: &str) -> Option<(&str, &str)> {
    let (names, path) = line.strip_prefix("import {")?.split_once("} from \"")?;
    Some((names, path.strip_suffix("\";")?))
}

/// The names that a declaration makes: `class A …`, `const [A, B] = …`.
fn names_of(declaration: &str) -> &str {
    let declaration = declaration.strip_prefix("async ").unwrap_or(declaration);
    let names = declaration.split_once(' ').unwrap_or_default().1;
    if let Some(several) = names.strip_prefix('[') {
        return several.split(']').next().unwrap_or_default();
    }
    names
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .next()
        .unwrap_or_default()
}

/// The path that `relative` names in a file at `path`.
fn resolved(path: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> Option<&'static str> {
        Some(match path {
            "main.js" => {
                "import { A, one as two } from \"./parts/a.js\";\nimport { B } from \"./b.js\";\nnew A(two, B);\n"
            }
            "parts/a.js" => {
                "import { B } from \"../b.js\";\n/** A part. */\nexport class A extends B {}\n\
                 export const [one, three] = [1, 3];\nexport async function* all() {}\nfetch(import.meta.url);\n"
            }
            "b.js" => "export class B {}\n",
            "page.css" => "@import \"a.css\";\n@import \"b.css\";\n",
            "a.css" => "a {\n}\n",
            "b.css" => "b {\n}\n",
            _ => return None,
        })
    }

    #[test]
    fn a_script_comes_once_and_after_all_that_it_imports() {
        let expected = "const $ = {};\n\
            { // b.js\nclass B {}\n$[\"b.js\"] = {B};\n}\n\
            { // parts/a.js\nconst { B } = $[\"b.js\"];\nclass A extends B {}\n\
            const [one, three] = [1, 3];\nasync function* all() {}\n\
            fetch(new URL(\"parts/a.js\", import.meta.url).href);\n\
            $[\"parts/a.js\"] = {A, one, three, all};\n}\n\
            { // main.js\nconst { A, one: two } = $[\"parts/a.js\"];\n\
            const { B } = $[\"b.js\"];\nnew A(two, B);\n$[\"main.js\"] = {};\n}\n\
            export default $[\"main.js\"];\n";
        assert_eq!(joined("main.js", &read), expected);
        assert!(
            joined("parts/a.js", &read).contains("new URL(\"../parts/a.js\", import.meta.url)")
        );
    }

    #[test]
    fn style_sheets_take_the_places_of_their_imports() {
        assert_eq!(joined("page.css", &read), "a {\n}\nb {\n}\n");
    }
}
