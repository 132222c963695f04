//! Chromium, controlled over its remote debugging pipe.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Far longer than anything takes: only a hang lasts as long. Pictures are drawn
/// without a graphics processor here, on a machine that others use too.
pub(crate) const HANG: Duration = Duration::from_secs(120);

/// What tests that run side by side share, and those that measure time have for themselves.
static MACHINE: RwLock<()> = RwLock::new(());

thread_local! {
    /// This test's share of it. Each test has a thread of its own.
    static SHARE: RefCell<Option<RwLockReadGuard<'static, ()>>> = const { RefCell::new(None) };
}

/// Waits until no other test of this program uses a browser; none begins until the test that
/// asked, after [`installed`], drops what this returns.
pub(crate) fn alone() -> RwLockWriteGuard<'static, ()> {
    SHARE.with_borrow_mut(|share| *share = None);
    MACHINE.write().unwrap_or_else(PoisonError::into_inner)
}

/// Chromium of Debian's package. Where it is absent this says loudly what is
/// not tested.
///
/// # Panics
/// If it is absent and `ARENA_NEED_CHROMIUM=1` says that it must not be.
pub(crate) fn installed() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&paths).map(|path| path.join("chromium"));
    let found = places.find(|path| path.is_file());
    SHARE.with_borrow_mut(|share| {
        *share = None;
        *share = Some(MACHINE.read().unwrap_or_else(PoisonError::into_inner));
    });
    if found.is_none() {
        let needed = std::env::var_os("ARENA_NEED_CHROMIUM").is_some_and(|value| value == "1");
        let skipped = "there is no chromium; `apt-get install chromium` brings it";
        assert!(!needed, "{skipped}");
        let _ = writeln!(std::io::stderr(), "SKIPPED: {skipped}");
    }
    found
}

/// A browser without a window, with one page, driven by the DevTools protocol
/// over a pipe. Ends with the test.
pub(crate) struct Chromium {
    process: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    profile: PathBuf,
    session: Value,
    calls: u64,
    /// What the page complained of, in order.
    complaints: Vec<Value>,
}

impl Chromium {
    /// Starts one with an empty page of this size.
    pub(crate) fn start(program: &Path, name: &str, size: (u32, u32)) -> Self {
        Self::start_with(program, name, size, &[])
    }

    /// The same, with more options on its command line.
    pub(crate) fn start_with(
        program: &Path,
        name: &str,
        (width, height): (u32, u32),
        options: &[String],
    ) -> Self {
        let profile = std::env::temp_dir().join(format!("arena-{name}-{}", std::process::id()));
        // It reads from its descriptor 3 and writes to 4; a shell puts ours there.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>&2"])
            .arg(program)
            .args(["--headless=new", "--remote-debugging-pipe", "--no-first-run"])
            // Its sandbox needs rights that containers rarely give.
            .arg("--no-sandbox")
            // Draws WebGL on the processor, whatever the machine has.
            .args(["--use-angle=swiftshader", "--enable-unsafe-swiftshader"])
            .arg("--disable-background-timer-throttling")
            // On a busy machine a picture takes as long as a processor that hangs, and the
            // browser would take away what every page draws with.
            .arg("--disable-gpu-watchdog")
            .args(["--disable-background-networking", "--disable-component-update"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("--window-size={width},{height}"))
            .args(options)
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (heard, from) = channel();
        std::thread::spawn(move || {
            for message in output.split(0).map_while(Result::ok) {
                if heard.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    break;
                }
            }
        });
        let (session, complaints) = (Value::Null, Vec::new());
        let mut this = Self { process, to, from, profile, session, calls: 0, complaints };
        let begin = Instant::now();
        let page = loop {
            let targets = this.call("Target.getTargets", &json!({}));
            let mut targets = targets["targetInfos"].as_array().unwrap().iter();
            if let Some(page) = targets.find(|target| target["type"] == "page") {
                break page["targetId"].clone();
            }
            assert!(begin.elapsed() < HANG, "it has no page");
        };
        let target = json!({ "targetId": page, "flatten": true });
        this.session = this.call("Target.attachToTarget", &target)["sessionId"].clone();
        for domain in ["Page", "Runtime", "Log"] {
            this.call(&format!("{domain}.enable"), &json!({}));
        }
        this
    }

    /// Opens an address, having run `before` in its page.
    pub(crate) fn open(&mut self, address: &str, before: &str) {
        self.call("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": before }));
        // The page before may answer for a moment.
        let _ = self.evaluate_unless_reloaded("globalThis.isLeft = true");
        self.call("Page.navigate", &json!({ "url": address }));
        self.wait_for("!globalThis.isLeft");
    }

    /// The value of an expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        self.evaluate_unless_reloaded(expression).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Waits until an expression in the page holds.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let begin = Instant::now();
        let asked = format!("Boolean({expression})");
        // A page that reloads itself meanwhile is asked again.
        while self.evaluate_unless_reloaded(&asked).ok() != Some(Value::Bool(true)) {
            if begin.elapsed() > HANG {
                let shown = self.evaluate_unless_reloaded("document.body.innerText");
                let complaints = &self.complaints;
                panic!("never: {expression}; the page shows {shown:?} and said {complaints:?}");
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// The value of an expression in the page, or the browser's error if the page was
    /// reloaded before it could answer.
    fn evaluate_unless_reloaded(&mut self, expression: &str) -> Result<Value, Value> {
        let asked =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.answer("Runtime.evaluate", &asked);
        if let Some(error) = answer.get("error") {
            let is_reloaded = error["message"].as_str().is_some_and(|message| {
                message.contains("navigated") || message.contains("context")
            });
            assert!(is_reloaded, "{expression}: {error}");
            return Err(error.clone());
        }
        let result = &answer["result"];
        assert!(result.get("exceptionDetails").is_none(), "{expression}: {result}");
        Ok(result["result"]["value"].clone())
    }

    /// Presses a key that writes `key`.
    pub(crate) fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", &json!({ "type": kind, "key": key, "text": key }));
        }
    }

    /// Presses a key that has a name, by that and its number; `text` is what it writes.
    pub(crate) fn key(&mut self, name: &str, number: u32, text: &str) {
        for kind in ["keyDown", "keyUp"] {
            let kind = if text.is_empty() && kind == "keyDown" { "rawKeyDown" } else { kind };
            let key = json!({ "type": kind, "key": name, "code": name, "text": text,
                "windowsVirtualKeyCode": number });
            self.call("Input.dispatchKeyEvent", &key);
        }
    }

    /// Holds the key at this place of the keyboard down, or lets it go.
    pub(crate) fn hold(&mut self, code: &str, is_down: bool) {
        let kind = if is_down { "rawKeyDown" } else { "keyUp" };
        self.call("Input.dispatchKeyEvent", &json!({ "type": kind, "code": code }));
    }

    /// Puts fingers on the page at these places, in pixels, moves them there, or lifts them
    /// where there are none.
    pub(crate) fn touch(&mut self, kind: &str, places: &[(f64, f64)]) {
        let points: Vec<Value> = places
            .iter()
            .enumerate()
            .map(|(id, (x, y))| json!({ "x": x, "y": y, "id": id }))
            .collect();
        let touch = json!({ "type": kind, "touchPoints": points });
        self.call("Input.dispatchTouchEvent", &touch);
    }

    /// Gives the page the screen of a phone or another size.
    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": true });
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Keeps a picture of the page, in the folder that `ARENA_PICTURES` names, if it does.
    pub(crate) fn keep_picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("ARENA_PICTURES") else { return };
        let picture = self.call("Page.captureScreenshot", &json!({ "format": "png" }));
        let path = Path::new(&folder).join(format!("{name}.png.base64"));
        std::fs::write(path, picture["data"].as_str().unwrap()).unwrap();
    }

    /// What the page complained of since the last call: errors on its console,
    /// exceptions, and what the browser itself found wrong.
    pub(crate) fn complaints(&mut self) -> Vec<Value> {
        // Answered after all that happened before.
        self.evaluate("0");
        std::mem::take(&mut self.complaints)
    }

    /// Calls a method of the DevTools protocol, and gives its result.
    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        let answer = self.answer(method, parameters);
        assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
        answer["result"].clone()
    }

    /// Calls a method of the DevTools protocol, and gives its result or error.
    fn answer(&mut self, method: &str, parameters: &Value) -> Value {
        self.calls += 1;
        let id = self.calls;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_null() {
            message["sessionId"] = self.session.clone();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        self.to.flush().unwrap();
        let begin = Instant::now();
        loop {
            let left = HANG.saturating_sub(begin.elapsed());
            let message = match self.from.recv_timeout(left) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => panic!("{method}: no answer"),
                Err(RecvTimeoutError::Disconnected) => panic!("{method}: chromium has ended"),
            };
            if message["id"] == id {
                return message;
            }
            self.note(message);
        }
    }

    fn note(&mut self, message: Value) {
        let parameters = &message["params"];
        let is_complaint = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => {
                ["error", "warning", "assert"].iter().any(|kind| parameters["type"] == *kind)
            }
            Some("Log.entryAdded") => parameters["entry"]["level"] == "error",
            _ => false,
        };
        if is_complaint {
            self.complaints.push(message);
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
