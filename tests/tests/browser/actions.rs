//! The actions, values and events of a game that the page does not know. The keys of the actions
//! reach the game, and the page shows values and events as the game's hints say.

use std::time::Duration;

use obsp_game::{
    Action, EventKind, EventType, Field, Game, Hint, Replicated, Subject, Values, WorldMut,
};
use obsp_sim::{Command, EntityId, World};
use server::Server;
use tests::harness::own_map;

use crate::chromium::{Chromium, installed};
use crate::{ANY_PORT, ends, page_of};

/// A game of levers: each of its five actions moves one of them.
#[derive(Clone, Debug)]
struct Levers;

const NAMES: [&str; 5] = ["a", "b", "c", "pull", "push"];
const PULLED: Field = Field::new("pulled", 0, 9).with_hint(Hint::Bar);
const TEAM: Field = Field::new("side", 0, 1).with_hint(Hint::Team);

impl Game for Levers {
    /// The actions that were held in the last tick, and how many have begun.
    type State = ([bool; 5], u32);

    fn actions(&self) -> Vec<Action> {
        let of = |(name, key): (&str, &str)| Action::new(name, &format!("Lever {name}")).key(key);
        NAMES.into_iter().zip(["Mouse0", "KeyR", "KeyT", "KeyG", "KeyB"]).map(of).collect()
    }

    fn replicated(&self) -> Replicated {
        let moved = EventKind::new("moved")
            .field("player", EventType::Player)
            .field("lever", EventType::Text)
            .toast("{player} moves {lever}")
            .sound("hit");
        Replicated {
            of_match: vec![PULLED],
            of_players: vec![TEAM],
            events: vec![moved],
            ..Replicated::default()
        }
    }

    fn set_up(&self, _: &mut WorldMut<'_>) -> Self::State {
        Self::State::default()
    }

    fn moved(
        &self,
        (held, count): &mut Self::State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        command: &Command,
    ) {
        for (held, name) in held.iter_mut().zip(NAMES) {
            let is_pressed = world.pressed(command, name);
            if is_pressed && !*held {
                *count += 1;
                world.send("moved", &(player, name)).expect("the event is declared, and short");
            }
            *held = is_pressed;
        }
    }

    fn values(&self, state: &Self::State, _: &World, of: Subject, values: &mut Values<'_>) {
        match of {
            Subject::Match => values.set(&PULLED, state.1),
            Subject::Player(_) => values.set(&TEAM, 1),
            Subject::OwnPlayer(_) | Subject::Body(_) => {}
        }
    }
}

#[test]
fn the_page_plays_and_shows_a_game_that_it_does_not_know() {
    let Some(program) = installed() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = Server::builder().map(own_map("arena.obsp")).game(Levers);
    let running = runtime.block_on(server.listen(ANY_PORT).http(ANY_PORT).bind()).unwrap();
    let mut browser = Chromium::start(&program, "actions", (900, 700));
    browser.open(&format!("{}?play=Ann", page_of(&running)), "");
    browser
        .wait_for("globalThis.arena?.play?.player.isThere && arena.play.keys.actions.length === 5");

    // The fourth action and the fifth are further bits of a command.
    browser.evaluate("document.activeElement.blur(); 0");
    for (key, toast) in [("KeyG", "Ann moves pull"), ("KeyB", "Ann moves push")] {
        browser.hold(key, true);
        browser
            .wait_for(&format!("document.querySelector('#toasts').innerText.includes('{toast}')"));
        browser.hold(key, false);
    }
    browser.wait_for("document.querySelector('#match-values meter')?.value > 0.2");

    // A key that is chosen in the help replaces the game's own key.
    browser.evaluate("document.querySelector('#help').showPopover(); 0");
    browser.evaluate(
        "[...document.querySelectorAll('#actions button')].find((one) =>
            one.ariaLabel.startsWith('Lever pull')).click(); 0",
    );
    browser.hold("KeyY", true);
    browser.hold("KeyY", false);
    browser
        .wait_for("arena.play.keys.codes.get('KeyY') === 3 && !arena.play.keys.codes.has('KeyG')");
    browser.evaluate(
        "document.querySelector('#help').hidePopover(); document.activeElement.blur(); 0",
    );
    std::thread::sleep(Duration::from_millis(200));
    browser.hold("KeyY", true);
    browser.wait_for("document.querySelector('#match-values meter')?.value > 0.3");
    browser.hold("KeyY", false);

    // The list of actions uses the game's words, and none of the arena's.
    let text = browser.evaluate("document.querySelector('#actions').textContent");
    assert!(text.as_str().unwrap().contains("Lever push"), "{text}");
    for word in ["Ray", "Rocket", "Grenade", "weapon"] {
        assert!(!text.as_str().unwrap().contains(word), "{text}");
    }
    let hues = browser.evaluate("arena.store.values.teams.length");
    assert_eq!(hues, 1, "the hint names the team's field");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    drop(browser);
    ends(running);
}
