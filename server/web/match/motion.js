/**
 * Where everything is at the moment that is shown: what snapshots told of each
 * slot, interpolated.
 */

import { ON_FOOT } from "../wire/snapshot.js";

/** Values kept of a slot. */
const KEPT = 24;

/**
 * Ticks within which something that lay still must have begun to move before
 * it was told of: it is drawn at rest until then.
 */
const LONGEST_WAY = 9;

/** Units a second beyond which nothing moves by itself: it was put elsewhere. */
const LEAP = 6000;

/**
 * An entity as it is drawn.
 *
 * @typedef {object} Shown
 * @property {number} slot
 * @property {number} generation
 * @property {boolean} isPlayer
 * @property {?number} model which polyhedron; null for a player on foot
 * @property {number[]} position units
 * @property {number[]} rotation quaternion, x y z w
 * @property {number[]} velocity units a second
 * @property {boolean} asleep
 * @property {boolean} crouching
 */

/** Turns the integers of PROTOCOL.md, "Quantised entities", into units. */
function measured(entity, origin) {
  return {
    generation: entity.generation,
    isPlayer: entity.kind === ON_FOOT || entity.driven,
    model: entity.kind === ON_FOOT ? null : entity.model,
    position: entity.position.map((steps, axis) => origin[axis] + steps / 32),
    velocity: entity.velocity.map((steps) => steps * 4),
    rotation: entity.kind === ON_FOOT ? heading(entity.yaw) : attitude(entity),
    asleep: entity.asleep,
    crouching: entity.posture === 1,
  };
}

function heading(yaw) {
  const half = (yaw / 4096) * Math.PI;
  return [0, 0, Math.sin(half), Math.cos(half)];
}

function attitude({ largest, components }) {
  const others = components.map((value) => (value * Math.SQRT1_2) / 1023);
  const square = others.reduce((sum, value) => sum + value * value, 0);
  const rotation = [...others];
  rotation.splice(largest, 0, Math.sqrt(Math.max(0, 1 - square)));
  return rotation;
}

function turned(a, b, t) {
  const dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  const sign = dot < 0 ? -t : t;
  const sum = a.map((value, i) => value * (1 - t) + b[i] * sign);
  const length = Math.hypot(...sum) || 1;
  return sum.map((value) => value / length);
}

/** The way between two values, along the velocities if they agree with it. */
function travelled(a, b, t, seconds) {
  const way = b.position.map((value, axis) => value - a.position[axis]);
  const expected = way.map((_, axis) => ((a.velocity[axis] + b.velocity[axis]) / 2) * seconds);
  const error = Math.hypot(...way.map((value, axis) => value - expected[axis]));
  if (error > 2 + Math.hypot(...way) / 4) return a.position.map((value, axis) => value + way[axis] * t);
  const [t2, t3] = [t * t, t * t * t];
  return a.position.map(
    (value, axis) =>
      value * (2 * t3 - 3 * t2 + 1) +
      a.velocity[axis] * seconds * (t3 - 2 * t2 + t) +
      b.position[axis] * (3 * t2 - 2 * t3) +
      b.velocity[axis] * seconds * (t3 - t2),
  );
}

/** All slots of the match. */
export class Motion {
  constructor() {
    this.reset({ origin: [0, 0, 0], tickRate: 60 });
  }

  /** Forgets everything, for these terms. */
  reset({ origin, tickRate }) {
    this.origin = origin;
    this.tickRate = tickRate;
    /** @type {Map<number, {tick: number, value: ?object}[]>} oldest first */
    this.slots = new Map();
  }

  /** Takes in what a snapshot tells. */
  take({ tick, records }) {
    for (const { slot, entity } of records) {
      const values = this.slots.get(slot) ?? [];
      values.push({ tick, value: entity && measured(entity, this.origin) });
      values.sort((a, b) => a.tick - b.tick);
      if (values.length > KEPT) values.shift();
      this.slots.set(slot, values);
    }
  }

  /**
   * Everything as it was at `tick`, which may lie between two.
   *
   * @param {number} tick
   * @returns {Shown[]} in order of slots
   */
  at(tick) {
    const shown = [];
    for (const [slot, values] of this.slots) {
      const entity = this.entityAt(values, tick);
      if (entity) shown.push({ slot, ...entity });
    }
    return shown.sort((a, b) => a.slot - b.slot);
  }

  entityAt(values, tick) {
    let index = values.length - 1;
    while (index >= 0 && values[index].tick > tick) index--;
    if (index < 0) return null;
    const { tick: from, value: a } = values[index];
    if (!a) return null;
    const next = values[index + 1];
    const b = next?.value;
    // What moves is told of: without news it stands.
    if (!b || b.generation !== a.generation) return a;
    const begin = Math.max(from, next.tick - LONGEST_WAY);
    if (tick <= begin) return a;
    const t = (tick - begin) / (next.tick - begin);
    const seconds = (next.tick - begin) / this.tickRate;
    const way = Math.hypot(...b.position.map((value, axis) => value - a.position[axis]));
    if (way > LEAP * seconds) return a;
    return {
      ...b,
      crouching: a.crouching,
      position: travelled(a, b, t, seconds),
      rotation: turned(a.rotation, b.rotation, t),
    };
  }
}
