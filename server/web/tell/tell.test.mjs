// Tests of the store, and of what is told from it: `node --test`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Store } from "../store/store.js";
import { described } from "../match/described.js";
import { NO_SCHEMA } from "../wire/fields.js";
import { tell } from "./tell.js";
import { commands, decide, Pace } from "./typed.js";

const ANN = { slot: 3, generation: 1 };
const BOB = { slot: 5, generation: 1 };
const CEM = { slot: 7, generation: 1 };
const DOT = { slot: 9, generation: 1 };

/** A store of a match in which these players have these scores. */
function storeOf(scores = {}) {
  const store = new Store();
  store.line = { state: "live" };
  for (const [name, [player, score]] of Object.entries(scores)) {
    store.happen({ event: "joined", tick: 1, player, name }, 0);
    store.happen({ event: "vitals", tick: 1, player, health: 100, score }, 0);
  }
  store.tick = 60;
  return store;
}

/** Lets Ann be the page's own player. */
function play(store, more = {}) {
  store.mode = "play";
  store.own = { name: "Ann", slot: 3, isJoined: true, isThere: true, isSteered: true, isNewToFingers: false, keys: "1 2 3 choose a weapon, ", idleFor: null, warning: "", death: null, ...more };
  return store;
}

const texts = (lines) => lines.map(({ text }) => text);

test("an event takes effect when its tick is shown", () => {
  const store = new Store();
  store.take({ tick: 10, event: "joined", player: ANN, name: "Ann" });
  store.take({ tick: 12, event: "vitals", player: ANN, health: 40, score: 2 });
  store.take({ tick: 15, event: "died", player: ANN, by: ANN });
  store.take({ tick: 15, event: "left", player: ANN });
  store.take({ tick: 16, event: "announced", line: "The server shuts down in 3 s" });
  store.advance(11.5, 0);
  assert.equal(store.roster.find(ANN).health, 100);
  store.advance(14, 0);
  assert.deepEqual([store.roster.find(ANN).health, store.roster.find(ANN).score], [40, 2]);
  assert.equal(store.roster.find({ slot: 3, generation: 2 }), null);
  store.advance(15, 0);
  assert.equal(store.roster.find(ANN), null);
  assert.deepEqual(texts(tell(store, 0).kills), ["Ann died", "Ann left"]);
  store.advance(16, 0);
  assert.deepEqual(texts(tell(store, 0).chat), ["The server shuts down in 3 s"]);
});

test("a player finds the own kills and deaths among those of others", () => {
  const store = play(storeOf({ Ann: [ANN, 0], Bob: [BOB, 0], Cem: [{ slot: 5, generation: 1 }, 0] }));
  const own = () => tell(store, 0).kills.map(({ isOwn }) => isOwn);
  store.happen({ event: "died", tick: 60, player: BOB, by: ANN }, 0);
  store.happen({ event: "died", tick: 60, player: ANN, by: BOB }, 0);
  store.happen({ event: "died", tick: 60, player: BOB, by: { slot: 5, generation: 1 } }, 0);
  assert.deepEqual(own(), [true, true, false]);
  store.own = null;
  assert.deepEqual(own(), [false, false, false]);
});

test("kills, chat and events of the game are three feeds, and lines disappear in time", () => {
  const store = storeOf({ Ann: [ANN, 0], Bob: [BOB, 0] });
  store.happen({ event: "died", tick: 60, player: ANN, by: BOB, means: "rocket" }, 0);
  store.happen({ event: "died", tick: 60, player: BOB, by: ANN }, 0);
  for (let i = 0; i < 9; i++) store.happen({ event: "said", tick: 60, player: ANN, line: `line ${i}` }, 1);
  const schema = { ...NO_SCHEMA, events: [{ name: "flag_taken", fields: [{ name: "by", type: 8 }, { name: "points", type: 1 }], toast: "{by} took it for {points}", sound: "" }, { name: "gate_shut", fields: [], toast: "", sound: "" }, { name: "beep", fields: [], toast: "", sound: "hit" }] };
  // Ann and 7 points; then an event with nothing but a name, and an event with a sound.
  for (const [kind, data] of [[0, [ANN.slot, 1, 7]], [1, []], [2, []]]) {
    const event = { event: "game", tick: 60, kind, data };
    assert.ok(described(event, schema));
    store.happen(event, 1);
  }
  assert.equal(described({ kind: 3, data: [] }, schema), false);
  const told = tell(store, 2000);
  assert.deepEqual(texts(told.kills), ["Bob ▸ Ann (rocket)", "Ann ▸ Bob"]);
  assert.deepEqual([texts(told.chat).at(0), texts(told.chat).at(-1)], ["Ann: line 3", "Ann: line 8"]);
  assert.deepEqual(texts(told.toasts), ["Ann took it for 7", "gate shut"]);
  const later = tell(store, 8000);
  assert.deepEqual([later.kills, later.toasts, later.chat.length], [[], [], 6]);
  assert.deepEqual(tell(store, 16_000).chat, []);
});

test("the clock shows the warm-up, the time that is left, or that it waits for players", () => {
  const store = storeOf();
  assert.equal(tell(store, 0).clock, null, "a match without rounds has no clock");
  store.happen({ event: "round", tick: 60, phase: "warm-up", ends: 0 }, 0);
  assert.equal(tell(store, 0).clock, "Waiting for players");
  store.happen({ event: "joined", tick: 60, player: ANN, name: "Ann" }, 0);
  store.happen({ event: "round", tick: 60, phase: "warm-up", ends: 60 + 18 * 60 }, 0);
  assert.equal(tell(store, 0).clock, "Warm-up 0:18");
  store.happen({ event: "round", tick: 60, phase: "playing", ends: 60 + 299 * 60 }, 0);
  assert.equal(tell(store, 0).clock, "4:59");
  store.tick += 1;
  assert.equal(tell(store, 0).clock, "4:59", "a second that has begun counts");
  store.tick += 400 * 60;
  assert.equal(tell(store, 0).clock, "0:00");
  store.happen({ event: "left", tick: 61, player: ANN }, 0);
  assert.equal(tell(store, 0).clock, "Waiting for players");
  store.happen({ event: "joined", tick: 62, player: BOB, name: "Bob" }, 0);
  store.happen({ event: "round", tick: 62, phase: "playing", ends: null }, 0);
  assert.equal(tell(store, 0).clock, null, "a round without end has no clock");
});

test("the result has the winner, the best three, the own place and the next map", () => {
  const store = play(storeOf({ Ann: [ANN, 2], Bob: [BOB, 12], Cem: [CEM, 5], Dot: [DOT, 4] }));
  store.happen({ event: "announced", tick: 60, line: "The round is over: Bob is best with 12" }, 0);
  store.happen({ event: "announced", tick: 60, line: "The vote is carried" }, 0);
  store.happen({ event: "round", tick: 60, phase: "intermission", ends: 60 + 6 * 60, next: "warren" }, 0);
  assert.deepEqual(texts(tell(store, 0).chat), ["The vote is carried"]);
  // Somebody who leaves after the round is still in its result.
  store.happen({ event: "left", tick: 61, player: BOB }, 0);
  const { centre, clock } = tell(store, 0);
  assert.deepEqual([clock, centre.kind, centre.title], ["Round over", "result", "Bob wins with 12"]);
  assert.deepEqual(centre.rows.map(({ place, name, score }) => [place, name, score]), [[1, "Bob", 12], [2, "Cem", 5], [3, "Dot", 4]]);
  assert.deepEqual(centre.lines, ["You are 4th of 4 with 2.", "Next: warren in 6 s. Nobody can move until then."]);
  store.own = null;
  store.round.next = null;
  assert.deepEqual(tell(store, 0).centre.lines, ["Next round in 6 s"]);
  store.happen({ event: "round", tick: 500, phase: "playing", ends: 0 }, 0);
  assert.equal(tell(store, 0).centre, null);
});

test("a draw has no winner, and a page that joins between rounds sees the scores", () => {
  const store = new Store();
  store.line = { state: "live" };
  store.happen({ event: "round", tick: 1, phase: "intermission", ends: 0 }, 0);
  assert.equal(tell(store, 0).centre.title, "The round is over");
  for (const [name, player] of [["Ann", ANN], ["Bob", BOB]]) {
    store.happen({ event: "joined", tick: 1, player, name }, 0);
    store.happen({ event: "vitals", tick: 1, player, health: 100, score: 3 }, 0);
  }
  assert.equal(tell(store, 0).centre.title, "Ann and Bob draw with 3");
  assert.deepEqual(tell(store, 0).centre.rows.map(({ place }) => place), [1, 1]);
});

test("a death tells who, by what, and how long until the return", () => {
  const store = play(storeOf({ Ann: [ANN, 0], Bob: [BOB, 0] }));
  store.happen({ event: "died", tick: 60, player: ANN, by: BOB, means: "rocket" }, 0);
  store.own.isThere = false;
  assert.deepEqual(tell(store, 0).centre, { kind: "death", title: "Bob killed you with a rocket", lines: ["You are back in 2 s"] });
  store.tick = 300;
  assert.deepEqual(tell(store, 0).centre.lines, ["You are back in a moment"]);
  // The match shows how long the dead wait.
  store.happen({ event: "vitals", tick: 360, player: ANN, health: 100, score: 0 }, 0);
  assert.equal(store.own.death, null);
  store.tick = 400;
  store.happen({ event: "died", tick: 400, player: ANN, by: ANN }, 0);
  assert.deepEqual(tell(store, 0).centre, { kind: "death", title: "You died", lines: ["You are back in 5 s"] });
  // The result of the round replaces the card of the death.
  store.happen({ event: "round", tick: 401, phase: "intermission", ends: 0 }, 0);
  assert.equal(tell(store, 0).centre.kind, "result");
});

test("a shutdown is told once, with the time for which the page joins again", () => {
  const store = play(storeOf({ Ann: [ANN, 0] }), { isJoined: false, isThere: false, warning: "No word from the server" });
  store.happen({ event: "announced", tick: 60, line: "The server shuts down in 3 s" }, 0);
  assert.equal(tell(store, 0).chat.length, 1);
  store.line = { state: "rejoining", message: "The server shut down", until: 52_000 };
  const told = tell(store, 0);
  assert.deepEqual(told.chat, []);
  assert.equal(told.trouble.message, "The server shut down; joining again for 52 s");
  assert.deepEqual([told.hint, told.warning, told.centre, told.chip.word], ["", "", null, "Rejoining"]);
  assert.match(tell(store, 51_500).trouble.message, /for 1 s$/);
});

test("a match that stands still is told while the server answers, and until it goes on", () => {
  const store = storeOf();
  assert.deepEqual([tell(store, 0).chip.word, tell(store, 0).trouble], ["Live", null]);
  store.line.halted = 12.3;
  assert.deepEqual(tell(store, 0).chip, { state: "bad", word: "Standing still" });
  assert.match(tell(store, 0).trouble.message, /no tick for 12 s/);
  store.line.halted = null;
  assert.deepEqual([tell(store, 0).chip.word, tell(store, 0).trouble], ["Live", null]);
  store.line = { state: "connecting" };
  assert.equal(tell(store, 0).chip.word, "Connecting");
  store.mode = "replay";
  assert.equal(tell(store, 0).chip.word, "Opening the recording");
  store.mode = "watch";
  store.line = { state: "lost", message: "The connection was lost.", retryAt: 1500 };
  const { chip, trouble } = tell(store, 0);
  assert.deepEqual([chip.word, trouble.message, trouble.wait, trouble.canRetry], ["Reconnecting", "The connection was lost.", "Trying again in 2 s", true]);
});

test("a player gets the hint that is needed most", () => {
  const store = play(storeOf({ Ann: [ANN, 0] }), { isSteered: false });
  assert.match(tell(store, 0).hint, /^Click to steer/);
  store.own.isSteered = true;
  assert.equal(tell(store, 0).hint, "");
  store.own.isNewToFingers = true;
  assert.match(tell(store, 0).hint, /left half.*right half to look/);
  store.own.idleFor = 12;
  assert.match(tell(store, 0).hint, /^Still there\?.*12 s/);
  store.own.isJoined = false;
  assert.equal(tell(store, 0).hint, "Joining…");
});

test("a command is carried out, an unknown one is refused, and all else is said", () => {
  assert.deepEqual(decide("hello /help", []), { say: "hello /help" });
  assert.deepEqual(decide("/name  Bob B ", []), { act: "name", rest: "Bob B" });
  assert.deepEqual(decide("/help", []), { act: "help", rest: "" });
  assert.match(decide("/foo bar", []).refused, /\/foo is unknown.*\/help/);
  // Without votes the server would say these lines to all.
  assert.ok("refused" in decide("/yes", []) && "refused" in decide("/votemap arena", ["kick"]));
  assert.deepEqual(decide("/votemap arena", ["map"]), { say: "/votemap arena" });
  assert.deepEqual(decide("/no", ["kick"]), { say: "/no" });
});

test("the commands are listed, those of votes only where the server allows the vote", () => {
  const verbs = (votes, begun) => commands(votes, begun).map((line) => line.split(/[ ,:]/)[0]);
  assert.deepEqual(verbs([]), ["/help", "/name", "/again", "/leave"]);
  assert.deepEqual(verbs(["map"], "/vote"), ["/votemap"]);
  assert.deepEqual(verbs(["map", "kick"], "/y"), ["/yes"]);
  assert.deepEqual(verbs([], "/name Bo"), ["/name"]);
});

test("lines that the server would drop as too fast are held back", () => {
  const pace = new Pace();
  for (let i = 0; i < 5; i++) assert.equal(pace.take("hello", 10_000), null);
  assert.match(pace.take("hello", 10_500), /^Too fast.* in 1 s/);
  assert.equal(pace.take("hello", 11_100), null);
  assert.match(pace.take("hello", 11_200), /^Too fast/);
  // Letters of four bytes use the budget of bytes up first.
  const long = "\u{1f600}".repeat(160);
  assert.equal(pace.take(long, 60_000), null);
  assert.match(pace.take(long, 60_000), /^Too fast.* in 3 s/);
  assert.equal(pace.take(long, 63_000), null);
});

test("the page opens on a card with a name and Play, unless the visitor wants to watch", () => {
  const store = new Store();
  store.server = { name: "Castle", map: "warren", players: 3, max_players: 16 };
  assert.deepEqual(tell(store, 0).welcome, { title: "Castle", detail: "warren · 3 of 16 players", fault: "" });
  store.refused = "You cannot join: a name must have at most 24 characters.";
  assert.match(tell(store, 0).welcome.fault, /24 characters/);
  const shows = (change) => tell(Object.assign(new Store(), change), 0).welcome !== null;
  assert.equal(shows({ wantsToWatch: true }), false);
  assert.equal(shows({ mode: "replay" }), false);
  // Trouble is shown in the same place.
  assert.equal(shows({ line: { state: "lost", message: "The server does not answer.", retryAt: 0 } }), false);
});

test("a player who has chosen another name is told when it counts", () => {
  const store = play(storeOf({ Ann: [ANN, 0] }));
  store.chosenName = "Ann";
  assert.equal(tell(store, 0).renaming, "");
  store.chosenName = "Bea";
  assert.match(tell(store, 0).renaming, /^You are Ann until you join again/);
});

test("values are shown as the game hints", () => {
  const store = storeOf({ Ann: [ANN, 0] });
  const value = (name, hint, value, least = 0, most = 300) => ({ name, value, least, most, hint });
  store.values = { match: [value("round", "timer", 75), value("red_seconds", "bar", 30, 0, 60)], own: [value("side", "team", 2, 1, 2), value("lit", "counter", 1, 0, 1)], teams: [] };
  const { match, own } = tell(play(store), 0).values;
  assert.deepEqual(match, [{ name: "round", text: "1:15" }, { name: "red", text: "30", share: 0.5 }]);
  assert.deepEqual(own, [{ name: "side", text: "2", team: 1 }, { name: "lit", text: "1" }]);
});

test("values of a game are shown as their names and ranges declare them", () => {
  const store = storeOf({ Ann: [ANN, 0] });
  const range = { least: 0, most: 200 };
  store.values = {
    match: [{ name: "hill_seconds", value: 65, ...range }, { name: "hill.holder", value: -1, least: -1, most: 31 }],
    own: [{ name: "has_flag", value: 1, least: 0, most: 1 }, { name: "seconds", value: 5, ...range }],
  };
  store.followed = 3;
  assert.deepEqual(tell(store, 0).values, {
    match: [{ name: "hill", text: "1:05" }, { name: "hill holder", text: "-1" }],
    own: [{ name: "has flag", text: "yes" }, { name: "time", text: "0:05" }],
    of: "Ann",
  });
  assert.equal(tell(play(store), 0).values.of, "");
});
