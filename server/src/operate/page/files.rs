//! The files of the web page, compiled into the binary, and the headers of the responses that serve
//! them. The modules of the simulation are compiled in as well; `--replay-module` names a file that
//! replaces one of them.

mod comments;
mod joined;
mod modules;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock};

use axum::Extension;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::content::{Content, Kept, digest};
use super::options::PageOptions;
use crate::common::error::StartError;
use joined::joined;
use modules::Modules;

/// A file of the browser's page.
struct File {
    /// The path of the file inside `server/web/`.
    path: &'static str,
    content: &'static str,
}

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        [$(File { path: $path, content: include_str!(concat!("../../../web/", $path)) }),*]
    };
}

/// All files that a browser may ask for. They are compiled into the server, so it needs no folder
/// beside it.
const FILES: &[File] = &files![
    "camera/camera.js",
    "camera/intermission.js",
    "camera/nearest.js",
    "camera/sight.js",
    "camera/steering.js",
    "draw/algebra.js",
    "draw/colours.js",
    "draw/detail.js",
    "draw/figures.js",
    "draw/frame.js",
    "draw/ground.js",
    "draw/labels.js",
    "draw/mesh.js",
    "draw/palette.js",
    "draw/program.js",
    "draw/renderer.js",
    "draw/shaders.js",
    "draw/shadow.js",
    "hud.css",
    "hud/actions.js",
    "hud/centre.js",
    "hud/chat.js",
    "hud/dialogue.js",
    "hud/feeds.js",
    "hud/find.js",
    "hud/frames.js",
    "hud/free.js",
    "hud/game.js",
    "hud/legend.js",
    "hud/matches.js",
    "hud/panels.js",
    "hud/put.js",
    "hud/recordings.js",
    "hud/remembered.js",
    "hud/renaming.js",
    "hud/score.js",
    "hud/settings.js",
    "hud/status.js",
    "hud/switches.js",
    "hud/timeline.js",
    "hud/title.js",
    "hud/typing.js",
    "hud/welcome.js",
    "index.html",
    "layers/asked.js",
    "layers/bodies.js",
    "layers/branch.js",
    "layers/contacts.js",
    "layers/effects.js",
    "layers/frames.js",
    "layers/hand.js",
    "layers/heat.js",
    "layers/layers.js",
    "layers/marks.js",
    "layers/onion.js",
    "layers/players.js",
    "layers/posture.js",
    "layers/trails.js",
    "link/connection.js",
    "link/keep_watching.js",
    "link/match.js",
    "link/password.js",
    "link/unreachable.js",
    "main.js",
    "match/clock.js",
    "match/described.js",
    "match/liquids.js",
    "match/motion.js",
    "match/scene.js",
    "match/values.js",
    "operators/charts.js",
    "operators/figures.js",
    "operators/metrics.js",
    "operators/operators.js",
    "operators/verdict.js",
    "page.css",
    "page/pace.js",
    "page/playing.js",
    "page/replaying.js",
    "page/view.js",
    "page/watching.js",
    "panels.css",
    "phone.css",
    "play.css",
    "play/engine.js",
    "play/feedback.js",
    "play/gamepad.js",
    "play/graph.js",
    "play/keys.js",
    "play/line.js",
    "play/noises.js",
    "play/path.js",
    "play/play.js",
    "play/player.js",
    "play/shots.js",
    "play/sound.js",
    "play/touch.js",
    "popovers.css",
    "reach.css",
    "replay.css",
    "replay/branch.js",
    "replay/engine.js",
    "replay/frames.js",
    "replay/marks.js",
    "replay/opening.js",
    "replay/replay.js",
    "replay/why.js",
    "replay/worker.js",
    "store/log.js",
    "store/roster.js",
    "store/round.js",
    "store/store.js",
    "style.css",
    "tell/centre.js",
    "tell/feeds.js",
    "tell/line.js",
    "tell/renaming.js",
    "tell/round.js",
    "tell/tell.js",
    "tell/typed.js",
    "tell/values.js",
    "tell/welcome.js",
    "touch.css",
    "welcome.css",
    "wire/commands.js",
    "wire/control.js",
    "wire/effects.js",
    "wire/events.js",
    "wire/fields.js",
    "wire/history.js",
    "wire/probabilities.js",
    "wire/range_decoder.js",
    "wire/snapshot.js",
];

/// The content security policy. The page takes scripts, styles and pictures only from this server,
/// it may connect to any HTTPS address, and no other page may frame it.
const POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' https:; img-src 'self' data:; \
                      frame-ancestors 'none'; base-uri 'none'";

/// The page's files, each joined with what it imports and compressed at its first request.
static SERVED: LazyLock<HashMap<&'static str, (&'static File, OnceLock<Content>)>> =
    LazyLock::new(|| FILES.iter().map(|file| (file.path, (file, OnceLock::new()))).collect());

/// The page as one server serves it.
pub(crate) struct Edition {
    modules: Modules,
    /// One name for all files of this page. The page requests its files below this name, so
    /// browsers may keep them for ever: a page with other files has another name.
    name: String,
    index: Content,
}

impl Edition {
    /// The page of this build, with the module that the options name.
    ///
    /// # Errors
    /// The file of the module cannot be read, or is not a module.
    pub(crate) fn new(options: &PageOptions) -> Result<Arc<Self>, StartError> {
        let modules = Modules::new(options.replay_module.as_deref())?;
        let files = FILES.iter().flat_map(|file| [file.path.as_bytes(), file.content.as_bytes()]);
        let name = digest(&files.chain(modules.bytes()).collect::<Vec<_>>().concat());
        let text = FILES.iter().find(|file| file.path == "index.html").map(|file| file.content);
        let text = text.unwrap_or_default().replace("\"web/", &format!("\"web/{name}/"));
        let index = Content::new(kind("index.html"), text.into());
        Ok(Arc::new(Self { modules, name, index }))
    }

    fn find(&self, path: &str, asked: &HeaderMap) -> Option<Content> {
        if let Some(name) = path.strip_prefix("wasm/") {
            return Some(self.modules.find(name)?.content(asked));
        }
        let (file, content) = SERVED.get(path)?;
        let packed = || Content::new(kind(file.path), joined(file.path, &source).into());
        Some(content.get_or_init(packed).clone())
    }

    /// Whether a part of a path has the form of an edition's name. It may be the name of another
    /// edition.
    fn is_name(&self, part: &str) -> bool {
        part.len() == self.name.len() && part.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

/// `/`: the page itself.
pub(super) async fn index(
    Extension(edition): Extension<Arc<Edition>>,
    asked: HeaderMap,
) -> Response {
    guarded(edition.index.answer(&asked, Kept::Checked))
}

/// `/web/PATH` and `/web/EDITION/PATH`: a file of the page, or the simulation as WebAssembly.
pub(super) async fn file(
    Extension(edition): Extension<Arc<Edition>>,
    Path(path): Path<String>,
    asked: HeaderMap,
) -> Response {
    // A page that stays open while the server is replaced requests files below its own edition. It
    // gets the files of the new edition, and the browser may not keep them.
    let (name, path) = match path.split_once('/') {
        Some((name, path)) if edition.is_name(name) => (Some(name), path),
        _ => (None, &path[..]),
    };
    let kept = if name == Some(&edition.name) { Kept::ForEver } else { Kept::Checked };
    match edition.find(path, &asked) {
        Some(content) => guarded(content.answer(&asked, kept)),
        None => (StatusCode::NOT_FOUND, "no such file\n").into_response(),
    }
}

/// The text of a file as it is in the repository.
fn source(path: &str) -> Option<&'static str> {
    SERVED.get(path).map(|(file, _)| file.content)
}

/// Adds the policy of the page.
fn guarded(mut response: Response) -> Response {
    let policy = HeaderValue::from_static(POLICY);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        _ => "text/javascript; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// The paths of all files below `folder` that a page is made of.
    fn below(folder: &Path, root: &Path) -> BTreeSet<String> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let found = entries.flat_map(|path| {
            if path.is_dir() {
                return below(&path, root);
            }
            let belongs = path.extension().is_some_and(|e| e == "js" || e == "css" || e == "html");
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            belongs.then_some(name).into_iter().collect()
        });
        found.collect()
    }

    #[test]
    fn every_file_of_the_page_is_in_the_binary() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
        let known: BTreeSet<String> = FILES.iter().map(|file| file.path.to_owned()).collect();
        assert_eq!(known, below(&root, &root));
    }

    #[test]
    fn scripts_are_joined_with_all_that_they_import() {
        for path in FILES.iter().map(|file| file.path).filter(|path| path.ends_with(".js")) {
            let mut before = BTreeSet::new();
            let whole = joined(path, &source);
            let handed_on = format!("export default $[\"{path}\"];\n");
            for line in whole.strip_suffix(&handed_on).expect("its exports").lines() {
                let is_left = line.starts_with("import") || line.starts_with("export");
                assert!(!is_left, "{path}: this form is not known: {line}");
                if let Some((_, imported)) = line.split_once("} = $[\"") {
                    let imported = imported.trim_end_matches("\"];");
                    // Scripts that import each other in a circle would have no order.
                    assert!(before.contains(imported), "{path}: {line} comes too early");
                } else if let Some((done, exports)) = line.split_once("\"] = {") {
                    let names = exports.trim_end_matches("};").split(", ");
                    assert!(
                        exports == "};" || names.clone().all(|name| !name.is_empty()),
                        "{line}"
                    );
                    before.insert(done.trim_start_matches("$[\"").to_owned());
                }
            }
            assert!(before.contains(path), "{path}");
        }
    }

    #[test]
    fn the_page_has_all_styles() {
        let text = source("page.css").unwrap();
        for path in FILES.iter().map(|file| file.path).filter(|path| path.ends_with(".css")) {
            let import = format!("@import \"{path}\";\n");
            assert!(path == "page.css" || text.contains(&import), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_page_runs_the_simulation_of_these_sources() {
        let build = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/wasm/build");
        let output = std::process::Command::new(build).arg("--check").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "run server/web/wasm/build: {said}");
    }

    #[test]
    fn no_file_of_the_page_grows_beyond_what_can_be_read() {
        for file in FILES {
            let lines = file.content.lines().count();
            assert!(lines <= 500, "{}: {lines} lines", file.path);
        }
    }
}
