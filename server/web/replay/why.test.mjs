// Tests of the answers to "Why?": `node --test`.

import assert from "node:assert/strict";
import { test } from "node:test";
import { lines } from "./why.js";

const FLOOR = { other: null, solid: 92, normal: [0, 0, -1], gap: 0.1, impulse: 5, stage: "exact" };
const WALL = { other: null, solid: 7, normal: [1, 0, 0], gap: 0.1, impulse: 5, stage: "exact" };
const CRATE = { other: 4, solid: null, normal: [0, 0.1, -0.9], gap: 0.1, impulse: 5, stage: "exact" };

/** The sentence with which the answer about a body begins. */
function sentence(more) {
  const found = { asleep: false, because: "moves", sleeps: "resting", island: [], speed: 1, rests: [0, 0, 0], needed: 9, held: false, moves: true, stopped: null, touching: [], ...more };
  return lines({ tick: 180, slot: 5, found }, 60)[1];
}

test("an answer begins with a sentence that needs no physics", () => {
  assert.equal(sentence({}), "It moves in the air.");
  assert.equal(sentence({ touching: [FLOOR, FLOOR, WALL] }), "It moves on the world's solid 92.");
  assert.equal(sentence({ touching: [WALL] }), "It moves.");
  assert.equal(sentence({ moves: false, touching: [CRATE, FLOOR] }), "It is still on body 4 and the world's solid 92.");
  const stopped = { ...WALL, share: 0.4 };
  assert.equal(sentence({ stopped, touching: [FLOOR, WALL] }), "It moves on the world's solid 92, and is stopped by the world's solid 7.");
});
