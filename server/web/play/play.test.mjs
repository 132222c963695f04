// Tests of the player's page: the parts that run without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";

import { onServer } from "../link/match.js";
import { ActionKeys, keyName, keysText, withKeys } from "../hud/actions.js";
import { bitOf, Keys } from "./keys.js";
import { Line } from "./line.js";
import { Noises } from "./noises.js";
import { Path } from "./path.js";
import { Player, tokenBytes } from "./player.js";

const LISTENER = { map: async () => {}, told() {}, joined() {}, lost() {}, ended() {} };

test("keys and sticks add up, within the range of a command", () => {
  const keys = new Keys();
  keys.key("KeyW", true);
  keys.stick("gamepad", -0.5, 1);
  let input = keys.input();
  assert.deepEqual([input.forward, input.right], [127, Math.round(-63.5)]);
  keys.key("KeyW", false);
  keys.stick("gamepad", 0, 0);
  // A short press is not lost.
  keys.fire(true);
  keys.fire(false);
  // This holds for any number of pictures before the next tick.
  keys.input();
  input = keys.input();
  assert.deepEqual([input.forward, input.right, input.buttons], [0, 0, 4]);
  keys.sent();
  assert.equal(keys.input().buttons, 0);
  keys.look(100, 1e6, 0.01);
  assert.ok(Math.abs(keys.yaw + 1) < 1e-9);
  assert.ok(Math.abs(keys.input().pitch) <= 16384);
});

const ACTIONS = ["shove", "duck", "call", "throw"].map((name, at) => ({ name, label: name, keys: [["Mouse0"], ["KeyC"], ["KeyQ"], ["KeyG", "KeyH"]][at], gamepad: null, touch: true }));

test("keys of a game's actions hold the bits of the actions", () => {
  const keys = new Keys();
  keys.use(ACTIONS, false);
  keys.fire(true);
  assert.equal(keys.input().buttons, 4, "the trigger does the first action");
  keys.fire(false);
  keys.sent();
  keys.mouse(0, true);
  keys.mouse(1, true);
  assert.deepEqual([keys.input().buttons, keys.triggers.size], [4, 0], "the action that has the left button");
  keys.mouse(0, false);
  keys.sent();
  for (const [code, bit] of [["Mouse0", 4], ["KeyC", 16], ["KeyQ", 32], ["KeyH", 128]]) {
    keys.key(code, true);
    keys.sent();
    assert.equal(keys.input().buttons, bit, `${code} is held`);
    keys.key(code, false);
    assert.equal(keys.input().buttons, 0, `${code} is released`);
  }
  assert.deepEqual([3, 15].map(bitOf), [128, 1 << 19]);
  // With weapons, the keys of the first three choose one of them.
  keys.use(ACTIONS, true);
  keys.key("KeyQ", true);
  keys.fire(true);
  assert.deepEqual([keys.weapon, keys.input().buttons], [2, 32]);
  keys.release();
  keys.sent();
  keys.key("KeyG", true);
  assert.equal(keys.input().buttons, 128);
});

test("a key that a player chooses is taken from other actions", () => {
  const bound = withKeys(ACTIONS, { throw: "KeyQ" });
  assert.deepEqual(bound.map(({ keys }) => keys), [["Mouse0"], [], [], ["KeyQ"]]);
  assert.equal(keysText(bound, 0), "left button: shove, Q: throw, ");
  assert.equal(keysText(ACTIONS, 3), "a click fires, left button C Q choose a weapon, G: throw, ");
  assert.deepEqual(["Digit1", "Mouse2", "ShiftLeft", "Mouse4"].map(keyName), ["1", "right button", "Shift Left", "button 4"]);
});

test("no action takes a key that the page needs", () => {
  const needed = ["Escape", "Enter", "Tab", "Slash", "KeyW", "KeyA", "KeyS", "KeyD", "ArrowUp", "Space", "KeyC", "ShiftLeft"];
  const greedy = [{ ...ACTIONS[0], keys: [...needed, "KeyF"] }, { ...ACTIONS[3], keys: ["Space"] }];
  const own = (chosen) => withKeys(greedy, chosen).map(({ keys }) => keys);
  assert.deepEqual(own({}), [["KeyF"], []]);
  assert.deepEqual(own({ throw: "KeyV" }), [["KeyF"], ["KeyV"]]);
  for (const code of needed) assert.deepEqual(own({ shove: code, throw: code }), [["KeyF"], []], code);
  const chooser = Object.assign(Object.create(ActionKeys.prototype), { chosen: { shove: "KeyV" }, version: 0 });
  chooser.choose("throw", "KeyG");
  chooser.choose("shove", "Space");
  assert.deepEqual(chooser.chosen, { throw: "KeyG" });
  const keys = new Keys();
  keys.use(withKeys(greedy, {}), false);
  keys.key("Space", true);
  assert.equal(keys.input().buttons, 1, "the jump");
});

// A connection on which a snapshot comes every `gap` milliseconds, and a share of them is lost.
function line({ gap = 1000 / 60, lost = 0, off = 0, visible = 0, rtt = 20, seconds = 5 } = {}) {
  const line = new Line(60, 60);
  let snapshots = 0;
  for (let tick = 0; tick < seconds * 60; tick++) {
    const now = tick * gap + (tick % 2) * off;
    if (tick % 10 >= lost * 10) {
      snapshots++;
      line.arrive(now);
    }
    if (line.isDue(now)) line.sample(now, { tick, snapshots, sent: tick + 1, visible: visible * (now / 1000), rtt, delay: 2 });
  }
  return [line, seconds * 60 * gap];
}

test("a good line has no warning, and a bad one a warning in plain words", () => {
  const [good, now] = line();
  assert.equal(good.word(now), "");
  assert.ok(good.mean("loss") < 0.001 && good.mean("jitter") < 0.1, JSON.stringify(good.samples.at(-1)));
  assert.ok(Math.abs(good.mean("age") - 2000 / 60) < 20);
  const word = (bad) => {
    const [found, now] = line(bad);
    return found.word(now);
  };
  assert.match(word({ lost: 0.2 }), /20 % of the snapshots/);
  assert.match(word({ off: 80 }), /too early or too late/);
  assert.match(word({ rtt: 300 }), /300 ms/);
  assert.match(word({ visible: 20 }), /corrects/);
  const [silent, end] = line();
  assert.match(silent.word(end + 2000), /No word from the server/);
});

test("a token is read as it is printed, and anything else is refused with advice", () => {
  assert.deepEqual([...tokenBytes("00ffA1")], [0, 255, 161]);
  assert.equal(tokenBytes("").length, 0);
  for (const bad of ["0", "zz", "0x11"]) assert.throws(() => tokenBytes(bad), { advice: /server token/ });
});

/**
 * Symptom: the player lost a match that went on to another map while a map was being fetched.
 * Cause: the client was given the older map, which it refuses.
 */
test("a map that is fetched too late is not used", async () => {
  globalThis.location = { search: "" };
  const player = new Player("Ann", new Keys(), LISTENER);
  const used = [];
  player.engine = { schema: () => null, useMap: (map, game) => used.push([map[0], ...game]) };
  let answerFirst;
  const asked = [];
  globalThis.fetch = (address) => {
    const path = address.slice(onServer("/").length - 1);
    asked.push(path);
    const answer = { ok: true, arrayBuffer: async () => Uint8Array.of(Number(path.split("/")[2])).buffer };
    return path === "/maps/1" ? new Promise((resolve) => (answerFirst = () => resolve(answer))) : Promise.resolve(answer);
  };
  const first = player.joined({ map: "a", hash: "1", game: null });
  await new Promise((resolve) => setImmediate(resolve));
  await player.joined({ map: "b", hash: "2", game: "7" });
  answerFirst();
  await first;
  assert.deepEqual(used, [[2, 7]]);
  // Another round on the same map with other game data fetches only those data.
  asked.length = 0;
  await player.joined({ map: "b", hash: "2", game: "8" });
  await player.joined({ map: "b", hash: "2", game: null });
  assert.deepEqual([used.slice(1), asked], [[[2, 8], [2]], ["/games/8"]]);
});

test("a schema that cannot be read ends the attempt to join", async () => {
  const ended = [];
  const player = new Player("Ann", new Keys(), { ...LISTENER, ended: (end) => ended.push(end.advice) });
  const schema = () => {
    throw new Error("an invalid name");
  };
  player.engine = { schema };
  await player.joined({ map: "a", hash: "1", game: null });
  assert.deepEqual([player.isOver, ended], [true, ["an invalid name"]]);
});

test("the own player moves evenly however pictures and ticks fall", () => {
  const path = new Path();
  const [tick, speed] = [1000 / 60, 320];
  let [played, last, uneven] = [0, null, 0];
  // There are 144 pictures a second, and now and then one is late.
  for (let now = 0, i = 0; now < 3000; now += i++ % 20 === 0 ? 21 : 1000 / 144) {
    const due = Math.floor(now / tick);
    path.note(due - played);
    played = due;
    const x = path.at([(due * tick * speed) / 1000, 0, 0], (due + 1) * tick - now, tick)[0];
    if (now > 100) uneven = Math.max(uneven, Math.abs(x - last.x - ((now - last.now) * speed) / 1000));
    last = { x, now };
  }
  assert.ok(uneven < 0.01, `${uneven} units`);
  // A teleport is not interpolated.
  path.note(1);
  assert.deepEqual(path.at([5000, 0, 0], 8, tick), [5000, 0, 0]);
});

test("steps, jumps and landings are heard of players on foot", () => {
  const heard = [];
  const noises = new Noises({ play: (name) => heard.push(name) });
  const at = (x, z, up) => [{ slot: 3, generation: 0, isPlayer: true, model: null, position: [x, 0, z], velocity: [320, 0, up] }];
  for (let x = 0; x <= 200; x += 5) noises.hear(at(x, 0, 0), [0, 0, 0]);
  assert.deepEqual(heard, ["step", "step"]);
  noises.hear(at(205, 5, 270), [0, 0, 0]);
  noises.hear(at(210, 10, -220), [0, 0, 0]);
  noises.hear(at(215, 0, 0), [0, 0, 0]);
  assert.deepEqual(heard.slice(2), ["jump", "land"]);
});
