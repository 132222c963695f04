// Tests of the marks on the timeline of a replay: `node --test`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { before, markAt, neighbour, told } from "./marks.js";

const RECORDING = { first: 0, ticks: 600, tickRate: 60, names: [[1, 3, "Ann"], [100, 3, "Bob"], [1, 4, "Eve"]] };
const DEATHS = [[30, 3, 4], [200, 4, 3], [210, 3, 3]];

test("a mark leads to a second before its death, but not before the recording", () => {
  assert.deepEqual(DEATHS.map((death) => before(RECORDING, death)), [0, 140, 150]);
  assert.equal(before({ ...RECORDING, first: 170 }, DEATHS[1]), 170);
});

test("steps go from mark to mark in both directions, and end at the last mark", () => {
  const go = (at, step, isPlaying = false) => neighbour(RECORDING, DEATHS, at, step, isPlaying);
  assert.deepEqual([go(0, 1), go(140, 1), go(150, 1), go(600, 1)], [140, 150, null, null]);
  assert.deepEqual([go(600, -1), go(150, -1), go(140, -1), go(0, -1)], [150, 140, 0, null]);
  // A replay that plays has left the mark when the key is pressed a second time.
  assert.deepEqual([go(155, -1), go(155, -1, true), go(185, -1, true)], [150, 140, 150]);
});

test("a click hits the nearest mark, or none", () => {
  const hit = (x) => markAt(RECORDING, DEATHS, x, 600);
  assert.deepEqual([hit(30), hit(24), hit(204), hit(206), hit(216)], [DEATHS[0], DEATHS[0], DEATHS[1], DEATHS[2], DEATHS[2]]);
  assert.deepEqual([hit(40), hit(192), hit(218)], [null, null, null]);
  assert.equal(markAt(RECORDING, [], 30, 600), null);
});

test("a mark says who killed whom, by the names at that tick", () => {
  assert.deepEqual(DEATHS.map((death) => told(RECORDING, death)), ["Eve ▸ Ann", "Bob ▸ Eve", "Bob died"]);
  assert.equal(told(RECORDING, [50, 9, 4]), "Eve ▸ player 10");
});
