// Hidden and attached entities, as a page that watches draws them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { rotate } from "../draw/algebra.js";
import { Motion } from "./motion.js";

const HIDDEN = { traits: { layers: 1, mask: 1, visible: false, substance: 0 } };

// A prop at `x` units that moves along x at `speed` units a second.
function prop(x, speed = 0, more = {}) {
  const still = { generation: 0, kind: 1, model: 0, driven: false, largest: 3, components: [0, 0, 0] };
  const moved = { asleep: speed === 0, position: [(x + 100) * 32, 0, 0], velocity: [speed / 4, 0, 0] };
  return { ...still, ...moved, ...more };
}

// The motion of slot 5 alone.
function motionOf(...values) {
  const motion = new Motion();
  motion.reset({ origin: [-100, 0, 0], tickRate: 60 });
  for (const [tick, entity] of values) motion.take({ tick, records: [{ slot: 5, entity }] });
  return motion;
}

// The traits of a picture that follows `slot`, at `offset` units in the carrier's frame.
function follows(slot, offset, more = {}) {
  const straight = { largest: 3, components: [0, 0, 0] };
  const carrier = { slot, generation: 0, offset: offset.map((units) => units * 32 + 32768), ...straight, ...more };
  return { asleep: true, traits: { layers: 1, mask: 1, visible: true, substance: 2, carrier } };
}

const near = (found, expected) => assert.ok(expected.every((part, i) => Math.abs(found[i] - part) < 1e-2), `${found} instead of ${expected}`);

test("a hidden entity is not drawn", () => {
  const motion = motionOf([60, prop(0)], [63, prop(0, 0, HIDDEN)], [66, prop(0)]);
  assert.deepEqual([62, 64, 66].map((tick) => motion.at(tick).length), [1, 0, 1]);
});

test("an attached entity goes and turns with a player, whose orientation is the heading", () => {
  const player = (x) => ({ generation: 0, kind: 0, asleep: false, position: [(x + 100) * 32, 0, 0], velocity: [60, 0, 0], posture: 0, yaw: 1024 });
  const quarter = Math.round(1023 * Math.SQRT2 * Math.sin(Math.PI / 4));
  const flag = prop(0, 0, follows(7, [10, 0, 5], { components: [quarter, 0, 0] }));
  const motion = motionOf([60, flag]);
  for (const [tick, x] of [[60, 0], [66, 24]]) motion.take({ tick, records: [{ slot: 7, entity: player(x) }] });
  for (const [tick, x] of [[60, 0], [63, 12], [66, 24]]) {
    const [shown, carrier] = motion.at(tick);
    assert.deepEqual([shown.slot, carrier.slot, shown.velocity], [5, 7, [240, 0, 0]]);
    near(shown.position, [x, carrier.position[1] + 10, carrier.position[2] + 5]);
    // Its own turn about x comes first, and then the player's about the vertical.
    near(rotate(shown.rotation, [0, 1, 0]), [0, 0, 1]);
    near(rotate(shown.rotation, [1, 0, 0]), [0, 1, 0]);
  }
});

test("attachments form a chain of up to four, also by a hidden carrier", () => {
  const motion = motionOf([60, prop(0)]);
  for (let slot = 6; slot <= 10; slot++) motion.take({ tick: 60, records: [{ slot, entity: prop(0, 0, follows(slot - 1, [1, 0, 0])) }] });
  assert.deepEqual(motion.at(60).map(({ slot, position }) => [slot, position[0]]), [[5, 0], [6, 1], [7, 2], [8, 3], [9, 4]]);
  motion.take({ tick: 63, records: [{ slot: 5, entity: prop(8, 0, HIDDEN) }] });
  assert.deepEqual(motion.at(63).map(({ slot, position }) => [slot, position[0]]), [[6, 9], [7, 10], [8, 11], [9, 12]]);
  // Two entities that carry each other are not drawn.
  motion.take({ tick: 66, records: [{ slot: 5, entity: prop(0, 0, follows(6, [1, 0, 0])) }] });
  assert.deepEqual(motion.at(66), []);
});

test("an attached entity without its carrier is not drawn", () => {
  const motion = motionOf([60, prop(0, 0, follows(7, [1, 0, 0]))]);
  assert.deepEqual(motion.at(60), []);
  motion.take({ tick: 63, records: [{ slot: 7, entity: prop(4, 0, { generation: 1 }) }] });
  assert.deepEqual(motion.at(63).map(({ slot }) => slot), [7], "another entity in the carrier's slot");
  motion.take({ tick: 66, records: [{ slot: 7, entity: prop(4) }] });
  assert.deepEqual(motion.at(66).map(({ position }) => position[0]), [5, 4]);
  motion.take({ tick: 69, records: [{ slot: 7, entity: null }] });
  assert.deepEqual(motion.at(69), []);
});

test("an entity does not glide as it is attached and detached", () => {
  const motion = motionOf([60, prop(3)], [63, prop(-100, 0, follows(7, [1, 0, 0]))], [66, prop(9)]);
  motion.take({ tick: 60, records: [{ slot: 7, entity: prop(4) }] });
  const places = [62, 63, 65, 66].map((tick) => motion.at(tick)[0].position[0]);
  assert.deepEqual(places, [3, 5, 5, 9]);
});
