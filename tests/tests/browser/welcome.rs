//! The page as it opens: the match, with a field for a name and *Play* in the middle.

use serde_json::json;
use server::{Options, PageOptions};

use crate::chromium::{Chromium, installed};
use crate::visitors::overlaps;
use crate::{ANY_PORT, ends, options, page_of, serve};

const LIVE: &str = "globalThis.arena?.status.status.state === 'live'";

/// The distance from the middle of the card to the middle of the screen, in pixels, along the axis
/// where it is larger.
const OFF: &str = "(() => {
    const box = document.querySelector('#welcome').getBoundingClientRect();
    return Math.max(Math.abs(box.left + box.right - innerWidth), Math.abs(box.top + box.bottom - innerHeight)) / 2;
})()";

/// The number of pixels from the middle of the screen down to the card. It is negative if the card
/// reaches above the middle.
const BELOW: &str =
    "document.querySelector('#welcome').getBoundingClientRect().top - innerHeight / 2";

/// The panels that are open.
const OPEN: &str = "[...document.querySelectorAll('.panel[open]')].map(({ id }) => id).sort()";

#[test]
fn the_page_opens_on_a_name_and_play_for_operators() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "welcome", (1280, 800));
    browser.open(&page_of(&running), "");
    browser.wait_for(&format!("{LIVE} && !document.querySelector('#welcome').hidden"));
    assert!(browser.evaluate(OFF).as_f64().unwrap() < 2.0);
    browser.wait_for("document.querySelector('#welcome small').textContent.includes('of 32')");
    browser.keep_picture("welcome-operators");
    assert_eq!(browser.evaluate(OPEN), json!(["charts", "layers", "score"]));
    // The name is the first stop of the tabulator key, and Play the second.
    let stops = ["name", ""].map(|name| {
        browser.key("Tab", 9, "");
        browser.evaluate("document.activeElement.name") == name
            && browser
                .evaluate("document.querySelector('#welcome').contains(document.activeElement)")
                == true
    });
    assert_eq!(stops, [true, true]);

    // If no server would take a name, the page says so beside the field and keeps the name.
    let long = "x".repeat(25);
    browser.evaluate(&format!(
        "(() => {{
            const field = document.querySelector('#welcome [name=name]');
            field.value = '{long}';
            field.dispatchEvent(new Event('input'));
            document.querySelector('#welcome').requestSubmit();
        }})()"
    ));
    browser.wait_for(
        "document.querySelector('#welcome .fault').textContent.includes('at most 24 characters')",
    );
    browser.wait_for(LIVE);
    browser.keep_picture("bad-name");
    assert_eq!(
        browser.evaluate("document.querySelector('#welcome [name=name]').value"),
        long.as_str()
    );

    // A visitor who wants to watch is not asked again.
    browser.evaluate("document.querySelector('#welcome [name=watch]').click(); 0");
    browser.wait_for("document.querySelector('#welcome').hidden");
    assert_eq!(browser.evaluate("document.querySelector('#join').checkVisibility()"), true);
    browser.evaluate("document.querySelector('#layers summary').click(); 0");
    browser.open(&page_of(&running), "");
    browser.wait_for(LIVE);
    browser.wait_for("document.querySelector('#charts').open");
    assert_eq!(browser.evaluate("document.querySelector('#welcome').hidden"), true);
    assert_eq!(browser.evaluate(OPEN), json!(["charts", "score"]), "a fold was not remembered");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}

#[test]
fn visitors_find_the_match_without_the_panels_and_words_of_operators() {
    let Some(program) = installed() else { return };
    let running = serve(&Options {
        pages: PageOptions { page: Some(ANY_PORT), ..options().pages },
        ..options()
    });
    // The visitor has told the browser to go on in spite of the unknown certificate.
    let go_on = ["--ignore-certificate-errors".to_owned()];
    let mut browser = Chromium::start_with(&program, "visitor", (1280, 800), &go_on);
    let page = format!("https://{}/", running.page_addr().unwrap());
    for (width, height) in [(1280, 800), (390, 844), (844, 390)] {
        browser.resize(width, height);
        browser.open(&page, "");
        browser.wait_for(&format!("{LIVE} && !document.querySelector('#welcome').hidden"));
        browser.keep_picture(&format!("welcome-{width}"));
        // On an upright phone, the card leaves the middle of the map free.
        let [off, below] = [OFF, BELOW].map(|place| browser.evaluate(place).as_f64().unwrap());
        assert!(if width < height { below > 0.0 } else { off < 2.0 }, "{width} x {height}");
        let all = "#welcome, .chip, #views, .panel, #ask, #open";
        assert_eq!(overlaps(&mut browser, all), json!([]), "{width} x {height}");
        let open = if width == 1280 { json!(["score"]) } else { json!([]) };
        assert_eq!(browser.evaluate(OPEN), open, "{width} x {height}");
        for hidden in ["#figures", "#verdict", "#charts"] {
            let seen = format!("document.querySelector('{hidden}').checkVisibility()");
            assert_eq!(browser.evaluate(&seen), false, "{hidden}");
        }
        let text = browser.evaluate("document.body.innerText").to_string();
        for word in ["Entities", "Tick", "Commands unused", "Datagrams"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }
    browser.evaluate("document.querySelector('#welcome').requestSubmit(); 0");
    browser.wait_for("globalThis.arena?.play?.player.isThere");
    assert_eq!(browser.evaluate("document.querySelector('#welcome').hidden"), true);
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}
