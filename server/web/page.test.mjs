// Holds what the page computes without a browser to what it must be:
// `node --test`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Camera } from "./camera/camera.js";
import { project, rotate } from "./draw/algebra.js";
import { outline, triangles, VERTEX } from "./draw/mesh.js";
import { Interval, parseMetrics } from "./hud/metrics.js";
import { MatchClock } from "./match/clock.js";
import { Motion } from "./match/motion.js";
import { Roster } from "./match/roster.js";

const TERMS = { origin: [-100, 0, 0], tickRate: 60 };

// A prop at `x` units that moves along x at `speed` units a second.
function prop(x, speed = 0, more = {}) {
  const still = { generation: 0, kind: 1, model: 0, driven: false, largest: 3, components: [0, 0, 0] };
  const moved = { asleep: speed === 0, position: [(x + 100) * 32, 0, 0], velocity: [speed / 4, 0, 0] };
  return { ...still, ...moved, ...more };
}

function told(...values) {
  const motion = new Motion();
  motion.reset(TERMS);
  for (const [tick, entity] of values) motion.take({ tick, records: [{ slot: 5, entity }] });
  return motion;
}

const xAt = (motion, tick) => motion.at(tick)[0]?.position[0];

test("what moves is where it was, and between two ticks on its way", () => {
  const motion = told([60, prop(0, 240)], [63, prop(12, 240)], [66, prop(24, 240)]);
  assert.equal(xAt(motion, 59.9), undefined);
  assert.equal(xAt(motion, 60), 0);
  assert.ok(Math.abs(xAt(motion, 64.5) - 18) < 1e-9);
  assert.equal(xAt(motion, 90), 24);
});

test("a late snapshot takes its place", () => {
  const motion = told([60, prop(0, 240)], [66, prop(24, 240)], [63, prop(20, 240)]);
  assert.equal(xAt(motion, 63), 20);
});

test("what lay still is drawn at rest until it can have begun to move", () => {
  const motion = told([60, prop(0)], [600, prop(9, 240)]);
  assert.equal(xAt(motion, 590), 0);
  assert.ok(xAt(motion, 598) > 0);
});

test("what is put elsewhere is not dragged there, and what is gone is gone", () => {
  const motion = told([60, prop(0, 240)], [63, prop(900, 240)], [66, null]);
  assert.equal(xAt(motion, 62.9), 0);
  assert.equal(xAt(motion, 63), 900);
  assert.equal(xAt(motion, 66), undefined);
  const another = told([60, prop(0)], [63, prop(50, 0, { generation: 1 })]);
  assert.equal(xAt(another, 62), 0);
  assert.equal(another.at(63)[0].generation, 1);
});

test("attitudes have length one and turn the shorter way", () => {
  const quarter = (sign) => ({ largest: 3, components: [0, 0, Math.round(sign * 1023 * Math.SQRT2 * Math.sin(Math.PI / 8))] });
  const motion = told([60, prop(0, 4, quarter(-1))], [66, prop(0.4, 4, quarter(1))]);
  const { rotation } = motion.at(63)[0];
  assert.ok(Math.abs(Math.hypot(...rotation) - 1) < 1e-9);
  const [x, y] = rotate(rotation, [1, 0, 0]);
  assert.ok(Math.abs(x - 1) < 1e-3 && Math.abs(y) < 1e-2, `${x} ${y}`);
});

test("the clock goes on steadily, behind the newest snapshot, whatever the line does", () => {
  const clock = new MatchClock();
  let [last, random] = [null, 1];
  for (let frame = 0; frame < 1200; frame++) {
    const now = 100 + frame / 60;
    random = (random * 48271) % 2147483647;
    // Every third tick a snapshot, up to 30 ms late.
    if (frame % 3 === 0) clock.arrived(5000 + frame, now + (random / 2147483647) * 0.03);
    const tick = clock.advance(now, 1 / 60);
    if (last !== null) assert.ok(tick >= last && tick - last < 2.5, `${last} to ${tick}`);
    if (frame > 300) assert.ok(Math.abs(5000 + frame - tick - 0.16 * 60) < 2, `${frame}: ${tick}`);
    last = tick;
  }
});

test("events wait for their moment", () => {
  const roster = new Roster();
  const player = { slot: 3, generation: 1 };
  roster.take({ tick: 10, event: "joined", player, name: "Ann" });
  roster.take({ tick: 12, event: "standing", player, health: 40, score: 2 });
  roster.take({ tick: 15, event: "died", player, by: player });
  roster.take({ tick: 15, event: "left", player });
  roster.advance(11.5, 0);
  assert.equal(roster.find(player).health, 100);
  roster.advance(14, 0);
  assert.deepEqual([roster.find(player).health, roster.find(player).score], [40, 2]);
  assert.equal(roster.find({ slot: 3, generation: 2 }), null);
  roster.advance(15, 0);
  assert.equal(roster.find(player), null);
  assert.deepEqual(roster.news.map(({ text }) => text), ["Ann died", "Ann left"]);
});

test("figures are what happened between two looks", () => {
  const page = (count, sum, low) =>
    parseMetrics(`# HELP x\nx_bucket{le="0.01"} ${low}\nx_bucket{le="0.1"} ${count}\nx_bucket{le="+Inf"} ${count}\nx_sum ${sum}\nx_count ${count}\nsent{direction="sent"} ${sum * 1000}`);
  const interval = new Interval(page(10, 1, 10), page(30, 2, 12), 2);
  assert.equal(interval.mean("x"), 0.05);
  assert.equal(interval.rate('sent{direction="sent"}'), 500);
  assert.equal(interval.quantile("x", 0.05), 0.01);
  assert.equal(interval.quantile("x", 0.99), 0.1);
  assert.ok(Number.isNaN(interval.mean("none")));
});

test("a box has twelve edges, however its faces are cut", () => {
  const corner = (x, y, z) => [x * 64, y * 64, z * 64];
  const face = (fixed, value, flip) => {
    const at = (a, b) => corner(...[[value, a, b], [a, value, b], [a, b, value]][fixed]);
    // Each face as three pieces with a joint in the shape of a T.
    const pieces = [
      [at(0, 0), at(1, 0), at(1, 0.5), at(0, 0.5)],
      [at(0, 0.5), at(0.5, 0.5), at(0.5, 1), at(0, 1)],
      [at(0.5, 0.5), at(1, 0.5), at(1, 1), at(0.5, 1)],
    ];
    return pieces.map((piece) => (flip ? [...piece].reverse() : piece));
  };
  const box = [0, 1, 2].flatMap((axis) => [...face(axis, 0, axis !== 1), ...face(axis, 1, axis === 1)]);
  const length = outline(box).reduce((sum, [a, b]) => sum + Math.hypot(...a.map((value, i) => value - b[i])), 0);
  assert.ok(Math.abs(length - 12 * 64) < 1e-6, `${length}`);
  assert.equal(triangles(box).length, 6 * 3 * 2 * 3 * VERTEX);
});

test("every view has the map in the middle of what is free", () => {
  const bounds = { min: [-400, -900, 0], max: [1000, 500, 300] };
  const free = { x: 0.2, y: -0.1, width: 0.6, height: 0.7 };
  for (const mode of ["orbit", "top"]) {
    const camera = new Camera();
    camera.frame(bounds);
    camera.look(mode);
    const { matrix } = camera.view(1.6, 1 / 60, null, free);
    const [x, y] = project(matrix, camera.target);
    assert.ok(Math.abs(x - 0.2) < 1e-3 && Math.abs(y + 0.1) < 1e-3, `${mode}: ${x} ${y}`);
    for (const corner of [bounds.min, bounds.max, [-400, 500, 0], [1000, -900, 0]]) {
      const at = project(matrix, corner);
      assert.ok(Math.abs(at[0]) < 1 && Math.abs(at[1]) < 1, `${mode}: ${corner} at ${at}`);
    }
  }
});
