// Tests of the places of liquids.

import assert from "node:assert/strict";
import { test } from "node:test";

import { LOOKS, liquidAt } from "./liquids.js";
import { Noises } from "../play/noises.js";

/** A box of a liquid. */
const pool = (kind, [x0, y0, z0], [x1, y1, z1]) => ({
  kind,
  planes: [[1, 0, 0, x1], [-1, 0, 0, -x0], [0, 1, 0, y1], [0, -1, 0, -y0], [0, 0, 1, z1], [0, 0, -1, -z0]],
  surfaces: [],
});

const liquids = [pool("water", [-100, -100, -50], [0, 100, 0]), pool("lava", [0, -100, -50], [100, 100, -10])];

test("a place is in the liquid around it, up to its surface", () => {
  assert.equal(liquidAt(liquids, [-50, 0, -1]), "water");
  assert.equal(liquidAt(liquids, [-50, 0, 1]), null);
  assert.equal(liquidAt(liquids, [50, 0, -11]), "lava");
  assert.equal(liquidAt(liquids, [50, 0, -9]), null);
  assert.equal(liquidAt([], [0, 0, 0]), null);
  for (const { kind } of liquids) assert.ok(LOOKS[kind].tint < LOOKS[kind].opacity);
});

test("what falls into a liquid splashes once, and what floats does not", () => {
  const heard = [];
  const noises = new Noises({ play: (name, at) => heard.push([name, at]) });
  noises.liquids = liquids;
  const body = (z, speed, generation = 0) => [
    { slot: 3, generation, isPlayer: false, model: null, position: [-50, 0, z], velocity: [0, 0, speed] },
  ];
  for (const [z, speed] of [[20, -300], [4, -320], [-6, -250], [-9, -40], [2, 60], [-1, -60], [1, 20]]) noises.hear(body(z, speed), [0, 0, 0]);
  assert.deepEqual(heard, [["splash", [-50, 0, -6]]]);
  // A body that appears in a liquid did not fall into it.
  noises.hear(body(-6, -300, 1), [0, 0, 0]);
  assert.equal(heard.length, 1);
});
