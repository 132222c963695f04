//! Chromium, controlled over its remote debugging pipe.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Condvar, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A time far longer than anything in these tests takes, so only a hang lasts as long. It allows
/// for pictures that are drawn without a graphics processor on a busy machine.
pub(crate) const HANG: Duration = Duration::from_secs(120);

/// The lock of the machine. Tests share it while they run side by side. A test that measures time
/// holds it alone.
static MACHINE: RwLock<()> = RwLock::new(());

/// Number of tests with browsers that run now, however many threads there are for tests.
static RUNNING: Mutex<usize> = Mutex::new(0);
static ONE_ENDED: Condvar = Condvar::new();

/// A place for a test with browsers. There is one place for each processor, and one more, because
/// browsers wait now and then.
struct Place;

impl Place {
    fn take() -> Self {
        let most = 1 + available_parallelism().map_or(1, NonZeroUsize::get);
        let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |running: &mut usize| *running >= most;
        let free = ONE_ENDED.wait_while(running, is_full);
        *free.unwrap_or_else(PoisonError::into_inner) += 1;
        Self
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        ONE_ENDED.notify_one();
    }
}

thread_local! {
    /// This test's place. Each test has a thread of its own.
    static PLACE: RefCell<Option<Place>> = const { RefCell::new(None) };

    /// This test's share of the machine. A test that is [`alone`] has none.
    static SHARE: RefCell<Option<RwLockReadGuard<'static, ()>>> = const { RefCell::new(None) };
}

/// A script that makes the page draw at most 15 pictures a second, unless a test sets `drawsOften`
/// in the page. Without a graphics processor, each picture takes processor time from the other
/// tests.
const DRAW_SELDOM: &str = "(() => {
    const soon = requestAnimationFrame;
    globalThis.requestAnimationFrame =
        (draw) => globalThis.drawsOften ? soon(draw) : setTimeout(() => soon(draw), 50);
})()";

/// Waits until no other test of this program uses a browser, and lets none begin until the guard is
/// dropped. Browsers that this test starts draw as often as the screen shows pictures; those of
/// other tests draw less often. It must be called after [`installed`], which takes a share of the
/// machine.
pub(crate) fn alone() -> RwLockWriteGuard<'static, ()> {
    SHARE.with_borrow_mut(|share| *share = None);
    MACHINE.write().unwrap_or_else(PoisonError::into_inner)
}

/// The path of Chromium. If it is absent, this prints that the test is skipped and returns `None`.
///
/// # Panics
/// If it is absent and `ARENA_NEED_CHROMIUM=1` is set.
pub(crate) fn installed() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&paths).map(|path| path.join("chromium"));
    let found = places.find(|path| path.is_file());
    PLACE.with_borrow_mut(|place| *place = Some(place.take().unwrap_or_else(Place::take)));
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

/// A browser without a window, with one page, driven by the DevTools protocol over a pipe. It ends
/// with the test.
pub(crate) struct Chromium {
    process: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    profile: PathBuf,
    session: Value,
    calls: u64,
    /// The page's errors and warnings, in order.
    complaints: Vec<Value>,
}

impl Chromium {
    /// Starts a browser with an empty page of this size, in pixels.
    pub(crate) fn start(program: &Path, name: &str, size: (u32, u32)) -> Self {
        Self::start_with(program, name, size, &[])
    }

    /// Like [`Chromium::start`], with more options on its command line.
    pub(crate) fn start_with(
        program: &Path,
        name: &str,
        (width, height): (u32, u32),
        options: &[String],
    ) -> Self {
        let profile = std::env::temp_dir().join(format!("arena-{name}-{}", std::process::id()));
        // Chromium reads from its descriptor 3 and writes to 4. A shell puts our pipes there.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>&2"])
            .arg(program)
            .args(["--headless=new", "--remote-debugging-pipe", "--no-first-run"])
            // The sandbox needs rights that containers rarely give.
            .arg("--no-sandbox")
            // WebGL is drawn by the CPU, even if the machine has a graphics processor.
            .args(["--use-angle=swiftshader", "--enable-unsafe-swiftshader"])
            // Without a graphics processor, the browser composes the page without WebGL's renderer,
            // which would take twice the time.
            .arg("--disable-gpu-compositing")
            .arg("--disable-background-timer-throttling")
            // On a busy machine a picture takes so long that the watchdog would take the graphics
            // processor for hung, and reset the graphics contexts of all pages.
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
            assert!(begin.elapsed() < HANG, "Chromium opens no page");
        };
        let target = json!({ "targetId": page, "flatten": true });
        this.session = this.call("Target.attachToTarget", &target)["sessionId"].clone();
        for domain in ["Page", "Runtime", "Log"] {
            this.call(&format!("{domain}.enable"), &json!({}));
        }
        if SHARE.with_borrow(Option::is_some) {
            let script = json!({ "source": DRAW_SELDOM });
            this.call("Page.addScriptToEvaluateOnNewDocument", &script);
        }
        this
    }

    /// Opens an address. The script `before` runs in the page before its own scripts.
    pub(crate) fn open(&mut self, address: &str, before: &str) {
        self.call("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": before }));
        // The old page may answer for a moment, so it is marked.
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
        // If the page reloads itself meanwhile, it is asked again.
        while self.evaluate_unless_reloaded(&asked).ok() != Some(Value::Bool(true)) {
            if begin.elapsed() > HANG {
                let shown = self.evaluate_unless_reloaded("document.body.innerText");
                let complaints = &self.complaints;
                panic!(
                    "`{expression}` never holds; the page shows {shown:?} and logged {complaints:?}"
                );
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// The value of an expression in the page, or the browser's error if the page was reloaded
    /// before it could answer.
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

    /// Presses and releases a key that types the character `key`.
    pub(crate) fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", &json!({ "type": kind, "key": key, "text": key }));
        }
    }

    /// Presses and releases a key by its name and virtual key code; `text` is what it types.
    pub(crate) fn key(&mut self, name: &str, number: u32, text: &str) {
        for kind in ["keyDown", "keyUp"] {
            let kind = if text.is_empty() && kind == "keyDown" { "rawKeyDown" } else { kind };
            let key = json!({ "type": kind, "key": name, "code": name, "text": text,
                "windowsVirtualKeyCode": number });
            self.call("Input.dispatchKeyEvent", &key);
        }
    }

    /// Presses the key at this place of the keyboard, or releases it.
    pub(crate) fn hold(&mut self, code: &str, is_down: bool) {
        let kind = if is_down { "rawKeyDown" } else { "keyUp" };
        self.call("Input.dispatchKeyEvent", &json!({ "type": kind, "code": code }));
    }

    /// Puts fingers on the page at these places, in pixels, or moves them there. Without places, it
    /// lifts all fingers.
    pub(crate) fn touch(&mut self, kind: &str, places: &[(f64, f64)]) {
        let points: Vec<Value> = places
            .iter()
            .enumerate()
            .map(|(id, (x, y))| json!({ "x": x, "y": y, "id": id }))
            .collect();
        let touch = json!({ "type": kind, "touchPoints": points });
        self.call("Input.dispatchTouchEvent", &touch);
    }

    /// Moves the mouse to this place, in pixels, or presses or releases a button there.
    pub(crate) fn mouse(&mut self, kind: &str, (x, y): (f64, f64), button: &str) {
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", &event);
    }

    /// Moves the mouse to this place, in pixels, and clicks.
    pub(crate) fn click(&mut self, x: f64, y: f64) {
        self.mouse("mouseMoved", (x, y), "none");
        for kind in ["mousePressed", "mouseReleased"] {
            self.mouse(kind, (x, y), "left");
        }
    }

    /// Gives the page a screen of this size in pixels, as on a phone.
    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": true });
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Gives the screen a notch and bars: the top, right, bottom and left insets in pixels.
    pub(crate) fn notch(&mut self, [top, right, bottom, left]: [u32; 4]) {
        let insets = json!({ "top": top, "right": right, "bottom": bottom, "left": left,
            "topMax": top, "rightMax": right, "bottomMax": bottom, "leftMax": left });
        self.call("Emulation.setSafeAreaInsetsOverride", &json!({ "insets": insets }));
    }

    /// Sets a preference of the visitor, as a feature of media queries.
    pub(crate) fn prefer(&mut self, feature: &str, value: &str) {
        let features = json!({ "features": [{ "name": feature, "value": value }] });
        self.call("Emulation.setEmulatedMedia", &features);
    }

    /// Runs no scripts of pages from now on.
    pub(crate) fn without_scripts(&mut self) {
        self.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    }

    /// Saves a picture of the page in the folder that `ARENA_PICTURES` names, if it is set.
    pub(crate) fn keep_picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("ARENA_PICTURES") else { return };
        let picture = self.call("Page.captureScreenshot", &json!({ "format": "png" }));
        let path = Path::new(&folder).join(format!("{name}.png.base64"));
        std::fs::write(path, picture["data"].as_str().unwrap()).unwrap();
    }

    /// The page's complaints since the last call: errors on its console, exceptions, and errors
    /// that the browser itself reports.
    pub(crate) fn complaints(&mut self) -> Vec<Value> {
        // All earlier complaints arrive before this answer.
        self.evaluate("0");
        std::mem::take(&mut self.complaints)
    }

    /// Calls a method of the DevTools protocol, and returns its result.
    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        let answer = self.answer(method, parameters);
        assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
        answer["result"].clone()
    }

    /// Calls a method of the DevTools protocol, and returns its result or error.
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
