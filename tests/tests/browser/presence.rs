//! Bodies that a game attaches and hides: one follows a player, and one is hidden for a while.

use glam::{DQuat, DVec3};
use obsp::model::Model;
use obsp_game::{Game, WorldMut};
use obsp_sim::{Command, EntityId};
use serde_json::Value;
use server::Server;
use tests::harness::own_map;

use crate::chromium::{Chromium, installed};
use crate::walkers::Walkers;
use crate::{ANY_PORT, ends, page_of};

/// The first player wears a ball. A second ball in the map is hidden until another player joins.
#[derive(Clone, Debug)]
struct Balls;

/// Numbers of the balls' models on the wire.
const WORN: usize = 0;
const HIDDEN: usize = 1;

/// Where the ball is worn, in units: behind the player, and above the centre.
const BEHIND: f64 = 18.0;
const ABOVE: f64 = 12.0;

/// Two places closer than this, in units, count as equal. They are sent in thirty-seconds of a
/// unit, and the page rotates them.
const EXACT: f64 = 0.2;

/// The distance in units that a carrier must have walked before the test judges whether the ball
/// follows.
const FAR: f64 = 48.0;

impl Game for Balls {
    /// The two balls, and the player who wears the first.
    type State = (Vec<EntityId>, Option<EntityId>);

    fn models(&self) -> Vec<Model> {
        let balls = ["worn", "hidden"].map(|name| Model::ball(name, 8.0, 0.5).unwrap());
        balls.into_iter().chain(obsp::model::shipped()).collect()
    }

    fn set_up(&self, world: &mut WorldMut<'_>) -> Self::State {
        let places = [("worn", DVec3::ZERO), ("hidden", DVec3::Z * 64.0)];
        let balls = places.map(|(name, place)| {
            let model = world.model(name).expect("the game has this model");
            world.spawn_intangible(model, place, DQuat::IDENTITY).expect("there is a free slot")
        });
        world.set_visible(balls[HIDDEN], false).expect("the ball is there");
        (balls.to_vec(), None)
    }

    fn moved(
        &self,
        (balls, wearer): &mut Self::State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        _: &Command,
    ) {
        let place = DVec3::new(-BEHIND, 0.0, ABOVE);
        if *wearer.get_or_insert(player) != player {
            world.set_visible(balls[HIDDEN], true).expect("the ball is there");
        } else if world.attached_to(player).is_empty() {
            world.attach(balls[WORN], player, place, DQuat::IDENTITY).expect("both are there");
        }
    }
}

/// Whether the page draws the ball with this model.
fn is_drawn(model: usize) -> String {
    format!("arena.shown.some((one) => !one.isPlayer && one.model === {model})")
}

/// Waits until the walker has gone far enough in the page's picture, and compares the place of the
/// ball in each frame.
fn assert_ball_follows(browser: &mut Chromium) {
    let seen = browser.evaluate(&format!(
        "(async () => {{
            const found = [];
            const far = () => found.some(({{ at }}) => Math.hypot(...at.map((part, i) => part - found[0].at[i])) > {FAR});
            const end = performance.now() + 60_000;
            while (!far() && performance.now() < end) {{
                await new Promise((next) => setTimeout(next, 50));
                const worn = arena.shown.find((one) => !one.isPlayer && one.model === {WORN});
                const walker = arena.shown.find((one) => one.isPlayer && one.slot !== arena.play?.slot);
                if (worn && walker) found.push({{ at: [...walker.position], off: worn.position.map((part, i) => part - walker.position[i]) }});
            }}
            return far() ? found : [];
        }})()"
    ));
    let frames = seen.as_array().unwrap();
    assert!(!frames.is_empty(), "the page draws no walker that wears a ball and goes {FAR} units");
    for frame in frames {
        let number = |axis: usize| frame["off"][axis].as_f64().unwrap();
        let (behind, above) = (number(0).hypot(number(1)), number(2));
        assert!((behind - BEHIND).abs() < EXACT && (above - ABOVE).abs() < EXACT, "{frame}");
    }
}

#[test]
fn a_worn_body_follows_its_carrier_and_a_hidden_one_is_not_drawn() {
    let Some(program) = installed() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = Server::builder().map(own_map("arena.obsp")).game(Balls);
    let running = runtime.block_on(server.listen(ANY_PORT).http(ANY_PORT).bind()).unwrap();
    let walkers = Walkers::join(running.local_addr(), 1);
    let mut browser = Chromium::start(&program, "presence", (800, 600));

    // A page that watches places the ball itself.
    browser.open(&page_of(&running), "");
    browser.wait_for(&format!("globalThis.arena?.view?.scene && {}", is_drawn(WORN)));
    assert_ball_follows(&mut browser);
    assert_eq!(browser.evaluate(&is_drawn(HIDDEN)), Value::Bool(false));

    // In a page that plays, the client library places the ball.
    browser.evaluate("document.querySelector('#join').click(); 0");
    browser.wait_for("arena.play?.player.isThere");
    browser.wait_for(&is_drawn(HIDDEN));
    assert_ball_follows(&mut browser);
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    drop(browser);
    walkers.leave();
    ends(running);
}
