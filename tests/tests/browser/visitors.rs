//! Visitors with other browsers, screens and ways to the server: they see the match, or are told
//! why not.

use std::net::{Ipv4Addr, SocketAddr};

use serde_json::Value;
use server::Options;

use crate::certificates::Signed;
use crate::chromium::{Chromium, installed};
use crate::walkers::Walkers;
use crate::{ends, options, page_of, serve};

/// Notes the addresses at which the page looks for the match.
const NOTE_ADDRESSES: &str = "globalThis.addresses = [];
    globalThis.WebTransport = class extends WebTransport {
        constructor(address, options) {
            super(address, options);
            addresses.push([address, Object.keys(options)]);
        }
    };";

/// Changes the version in the hello, which follows two bytes of length and the message's number.
const SAY_ANOTHER_VERSION: &str = "const write = WritableStreamDefaultWriter.prototype.write;
    WritableStreamDefaultWriter.prototype.write = function (bytes) {
        if (bytes.length > 36 && bytes[2] === 0) bytes[3] += 90;
        return write.call(this, bytes);
    };";

/// A function that finds overlapping elements, and elements that stick out of the screen, among
/// those that a selector matches.
const OVERLAPS: &str = "(selector) => {
    const seen = [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility());
    const boxes = seen.map((e) => [e.id || e.className || e.tagName + e.parentElement.id,
        e.getBoundingClientRect()]);
    const out = boxes.filter(([, b]) => b.left < -0.5 || b.top < -0.5 ||
        b.right > innerWidth + 0.5 || b.bottom > innerHeight + 0.5).map(([name]) => `${name} sticks out`);
    boxes.forEach(([name, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
        if (a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 &&
            b.top < a.bottom - 0.5) out.push(`${name} on ${other}`);
    }));
    return out;
}";

const LIVE: &str = "globalThis.arena?.status.status.state === 'live'";

/// The elements among those of a selector that overlap others or stick out of the screen, by
/// [`OVERLAPS`].
pub(crate) fn overlaps(browser: &mut Chromium, selector: &str) -> Value {
    browser.evaluate(&format!("({OVERLAPS})('{selector}')"))
}

/// Waits for a message of trouble with this word, and returns it. On a busy machine the page may
/// first show another message, for example that nobody answers.
fn trouble(browser: &mut Chromium, word: &str) -> String {
    browser.wait_for(&format!(
        "!(document.querySelector('#trouble')?.hidden ?? true)
            && document.querySelector('#trouble').innerText.includes('{word}')"
    ));
    let said = browser.evaluate("document.querySelector('#trouble').innerText");
    said.as_str().unwrap().to_owned()
}

/// The page's message of trouble with this word, after the script `before` has run in the page.
fn said_to(name: &str, options: &Options, before: &str, word: &str) -> Option<String> {
    let program = installed()?;
    let running = serve(options);
    let mut browser = Chromium::start(&program, name, (800, 600));
    browser.open(&page_of(&running), before);
    let said = trouble(&mut browser, word);
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
    Some(said)
}

#[test]
fn a_phone_has_room_for_everything() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let walkers = Walkers::join(running.local_addr(), 8);
    let mut browser = Chromium::start(&program, "phone", (500, 800));
    for (width, height) in [(360, 640), (640, 360)] {
        browser.resize(width, height);
        browser.open(&page_of(&running), "");
        browser.wait_for(LIVE);
        browser.wait_for("!document.querySelector('#verdict').hidden");
        browser.wait_for("document.querySelectorAll('#score tbody tr').length === 8");
        // Panels are closed at first, and nothing is wider than the screen.
        assert_eq!(browser.evaluate("document.querySelectorAll('.panel[open]').length"), 0);
        assert_eq!(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
        let all = ".chip, #views, #figures, .panel, #ask";
        let found = overlaps(&mut browser, all);
        assert_eq!(found, serde_json::json!([]), "{width} x {height}");
        // Each panel fits once opened, and some of its text is visible.
        for panel in ["#layers", "#score", "#charts"] {
            browser.evaluate(&format!("document.querySelector('{panel}').open = true"));
            let found = overlaps(&mut browser, panel);
            assert_eq!(found, serde_json::json!([]), "{width} x {height}");
            let high = browser.evaluate(&format!(
                "document.querySelector('{panel}').getBoundingClientRect().height"
            ));
            assert!(high.as_f64().unwrap() > 90.0, "{panel} of {width} x {height}: {high} pixels");
            browser.evaluate(&format!("document.querySelector('{panel}').open = false"));
        }
        // Controls are large enough for a finger.
        let small = browser.evaluate(
            "[...document.querySelectorAll('#views button, summary, #ask')]
                .filter((e) => e.getBoundingClientRect().height < 28).map((e) => e.outerHTML)",
        );
        assert_eq!(small, serde_json::json!([]));
    }
    walkers.leave();
    ends(running);
}

/// Symptom: when a window was made as small as a phone, its panels covered each other.
/// Cause: panels were folded only if the page was opened on a small screen.
#[test]
fn panels_fold_when_the_window_becomes_small_and_open_again() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "shrinks", (1280, 800));
    browser.resize(1280, 800);
    browser.open(&page_of(&running), "");
    browser.wait_for(LIVE);
    browser.wait_for("!document.querySelector('#verdict').hidden");
    let open = "document.querySelectorAll('.panel[open]').length";
    assert_eq!(browser.evaluate(open), 3);
    browser.resize(390, 844);
    browser.wait_for(&format!("{open} === 0"));
    let all = ".chip, #views, #figures, .panel, #ask";
    assert_eq!(overlaps(&mut browser, all), serde_json::json!([]));
    for panel in ["#layers", "#score", "#charts"] {
        browser.evaluate(&format!("document.querySelector('{panel} summary').click()"));
        // Opening a panel folds the one before.
        browser.wait_for(&format!("{open} === 1 && document.querySelector('{panel}').open"));
        let found = overlaps(&mut browser, all);
        assert_eq!(found, serde_json::json!([]), "with {panel}");
    }
    browser.resize(1280, 800);
    browser.wait_for(&format!("{open} === 3"));
    assert_eq!(overlaps(&mut browser, all), serde_json::json!([]));
    ends(running);
}

#[test]
fn nothing_lies_on_anything_else_on_any_desk() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "desk", (1000, 700));
    browser.open(&page_of(&running), "");
    for (width, height) in [(1920, 1080), (1366, 768), (1024, 700), (800, 600)] {
        browser.resize(width, height);
        browser.wait_for(&format!("innerWidth === {width} && innerHeight === {height}"));
        browser.wait_for(LIVE);
        browser.wait_for("!document.querySelector('#verdict').hidden");
        let found = overlaps(&mut browser, ".chip, h1, #views, #figures, .panel, #ask");
        assert_eq!(found, serde_json::json!([]), "{width} x {height}");
    }
    ends(running);
}

/// Widths of windows, from the smallest phone to a large desktop, in pixels.
const WIDTHS: std::ops::RangeInclusive<u32> = 320..=1600;

/// Fills the line at the top with figures of a long match, and stops the page from changing them.
const LONG_FIGURES: &str = "(() => {
    arena.updateTables = () => {};
    for (const [name, text] of [['entities', '1234'], ['tick', '12345678'], ['frames', '240']])
        document.querySelector(`#${name}`).textContent = text;
})()";

/// Hides the welcome card, and shows the choice of matches with a long name, as if the server had
/// two matches.
const WATCH_ONE_OF_TWO: &str = "(() => {
    document.querySelector('#welcome').hidden = true;
    document.querySelector('#choose').hidden = false;
    document.querySelector('#choose span').textContent = 'the match of the evening';
})()";

/// Symptom: the figures at the top ran off windows that were 780 to 1040 pixels wide.
#[test]
fn nothing_runs_off_at_any_width() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "widths", (1000, 700));
    browser.open(&page_of(&running), "");
    browser.wait_for(LIVE);
    browser.wait_for(
        "![...document.querySelectorAll('#verdict, #welcome')].some(({ hidden }) => hidden)",
    );
    browser.evaluate(LONG_FIGURES);
    let parts =
        ".chip, h1, #choose, #views, #figures, .panel, #ask, #open, #join, #rewind, #welcome";
    let mut found = Vec::new();
    for before in ["0", WATCH_ONE_OF_TWO] {
        browser.evaluate(before);
        for width in WIDTHS.step_by(20) {
            browser.resize(width, 700);
            // Panels fold in the frame after a change of the width.
            browser.evaluate(&format!(
                "new Promise((done) => requestAnimationFrame(function frame() {{
                    if (innerWidth === {width}) setTimeout(done, 20);
                    else requestAnimationFrame(frame);
                }}))"
            ));
            let overlapping = overlaps(&mut browser, parts);
            if overlapping != serde_json::json!([]) {
                found.push(format!("{width}: {overlapping}"));
            }
            assert_eq!(
                browser.evaluate("document.documentElement.scrollWidth <= innerWidth"),
                true
            );
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    ends(running);
}

#[test]
fn all_can_be_done_by_keys() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "keys", (900, 600));
    browser.open(&page_of(&running), "");
    browser.wait_for(LIVE);
    for (key, mode) in [("3", "top"), ("1", "orbit")] {
        browser.press(key);
        assert_eq!(browser.evaluate("arena.camera.mode"), mode);
    }
    // Every layer has a key, and its switch follows the key.
    let layers = browser.evaluate("[...arena.switches.boxes.keys()]");
    for layer in layers.as_array().unwrap() {
        let key = format!("document.querySelector('[name={layer}]').parentElement");
        let key =
            browser.evaluate(&format!("{key}.querySelector('kbd').textContent.toLowerCase()"));
        let is_on = format!("document.querySelector('[name={layer}]').checked");
        let before = browser.evaluate(&is_on);
        browser.press(key.as_str().unwrap());
        assert_ne!(browser.evaluate(&is_on), before, "{layer}");
        browser.press(key.as_str().unwrap());
        assert_eq!(browser.evaluate(&is_on), before, "{layer}");
    }
    // The tabulator key reaches every view, switch and panel.
    let reached = browser.evaluate(
        "[...document.querySelectorAll('button, input, summary')].filter((e) => e.checkVisibility())
            .every((e) => { e.focus(); return document.activeElement === e; })",
    );
    assert_eq!(reached, true);
    browser.evaluate("document.activeElement.blur()");
    browser.press("?");
    assert_eq!(browser.evaluate("document.querySelector('#help').matches(':popover-open')"), true);
    ends(running);
}

#[test]
fn without_webtransport_one_is_told_what_to_use() {
    let before = "delete globalThis.WebTransport";
    let Some(said) = said_to("cannot", &options(), before, "WebTransport") else { return };
    for word in ["WebTransport", "Chrome", "Firefox", "Safari"] {
        assert!(said.contains(word), "{said}");
    }
}

#[test]
fn without_webgl_one_is_told_what_to_do() {
    let before = "HTMLCanvasElement.prototype.getContext = () => null";
    let Some(said) = said_to("blind", &options(), before, "WebGL 2") else { return };
    assert!(said.contains("WebGL 2"), "{said}");
}

#[test]
fn a_server_without_spectators_says_so() {
    let none = Options { max_spectators: 0, ..options() };
    let Some(said) = said_to("unwanted", &none, "", "spectators") else { return };
    assert!(said.contains("takes no spectators"), "{said}");
    assert!(said.contains("--max-spectators"), "{said}");
}

#[test]
fn a_full_house_says_so() {
    let Some(program) = installed() else { return };
    let running = serve(&Options { max_spectators: 1, ..options() });
    let mut first = Chromium::start(&program, "early", (800, 600));
    first.open(&page_of(&running), "");
    first.wait_for(LIVE);
    let mut second = Chromium::start(&program, "late", (800, 600));
    second.open(&page_of(&running), "");
    let said = trouble(&mut second, "are taken");
    assert!(said.contains("places for spectators are taken"), "{said}");
    assert!(said.contains("--max-spectators"), "{said}");
    let complaints = second.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}

#[test]
fn another_version_is_asked_to_reload() {
    let Some(said) = said_to("old", &options(), SAY_ANOTHER_VERSION, "version") else { return };
    assert!(said.contains("version") && said.contains("Reload"), "{said}");
}

#[test]
fn the_match_is_found_at_the_host_that_the_address_names() {
    let Some(program) = installed() else { return };
    let listen = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let running = serve(&Options { listen: vec![listen], ..options() });
    let mut browser = Chromium::start(&program, "host", (800, 600));
    browser.open(&format!("{}?host=127.0.0.2", page_of(&running)), NOTE_ADDRESSES);
    browser.wait_for(LIVE);
    let address = format!("https://127.0.0.2:{}/", running.local_addr().port());
    assert_eq!(browser.evaluate("addresses[0][0]"), address);
    assert_eq!(browser.evaluate("addresses[0][1]"), serde_json::json!(["serverCertificateHashes"]));
    ends(running);
}

/// Behind a mapped port the page dials the advertised one, not the server's own.
#[test]
fn the_match_is_found_at_the_port_that_is_advertised() {
    let Some(program) = installed() else { return };
    let advertise = Some("127.0.0.1:9".parse().unwrap());
    let running = serve(&Options { advertise, ..options() });
    let mut browser = Chromium::start(&program, "port", (800, 600));
    browser.open(&page_of(&running), NOTE_ADDRESSES);
    browser.wait_for("globalThis.addresses?.length > 0");
    assert_eq!(browser.evaluate("addresses[0][0]"), "https://127.0.0.1:9/");
    drop(browser);
    // A visitor can name another port in the page's address.
    let port = running.local_addr().port();
    let mut browser = Chromium::start(&program, "named-port", (800, 600));
    browser.open(&format!("{}?port={port}", page_of(&running)), "");
    browser.wait_for(LIVE);
    ends(running);
}

#[test]
fn a_certificate_that_an_authority_signed_is_left_to_the_browser() {
    let Some(program) = installed() else { return };
    let signed = Signed::new();
    let (cert, key) = (Some(signed.cert.clone()), Some(signed.key.clone()));
    let running = serve(&Options { cert, key, ..options() });
    // A visitor whose browser does not trust the certificate is told the likely reason.
    let mut browser = Chromium::start(&program, "doubts", (800, 600));
    browser.open(&page_of(&running), NOTE_ADDRESSES);
    let said = trouble(&mut browser, "certificate");
    assert!(said.contains("certificate"), "{said}");
    drop(browser);

    let trust = [
        format!("--ignore-certificate-errors-spki-list={}", signed.public_key),
        // With an unknown authority, Chromium must be told that this server uses QUIC.
        format!("--origin-to-force-quic-on=127.0.0.1:{}", running.local_addr().port()),
    ];
    let mut browser = Chromium::start_with(&program, "trusts", (800, 600), &trust);
    browser.open(&page_of(&running), NOTE_ADDRESSES);
    browser.wait_for(LIVE);
    assert_eq!(browser.evaluate("addresses[0][1]"), serde_json::json!([]));
    ends(running);
}

#[test]
fn a_match_whose_tick_thread_hangs_is_said_to_stand_still() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "still", (900, 600));
    browser.open(&page_of(&running), "");
    browser.wait_for(LIVE);
    browser.wait_for("!['', 'No ticks'].includes(document.querySelector('#verdict').textContent)");
    let held = running.hold_ticks();
    browser.wait_for("document.querySelector('#status').textContent === 'Standing still'");
    let said = trouble(&mut browser, "finished no tick");
    assert!(said.contains("finished no tick for") && said.contains("log"), "{said}");
    assert_eq!(browser.evaluate("document.querySelector('#verdict').textContent"), "No ticks");
    let page = browser.evaluate("document.body.innerText + verdict.title");
    assert!(!page.as_str().unwrap().contains("NaN"), "{page}");
    drop(held);
    browser.wait_for("document.querySelector('#status').textContent === 'Live'");
    browser.wait_for("document.querySelector('#trouble').hidden");
    ends(running);
}
