/** The positions of everything at the moment that is shown, interpolated from the snapshots. */

import { ON_FOOT } from "../wire/snapshot.js";

/** Maximum number of values that are kept per slot. */
const KEPT = 24;

/**
 * Maximum number of ticks before a snapshot in which a body can have begun the motion that the
 * snapshot shows. A body without snapshots for longer is drawn at rest until then.
 */
const LONGEST_WAY = 9;

/** Units a second above which an entity was teleported: nothing moves that fast by itself. */
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

/** @typedef {Omit<Shown, "slot">} Measured */

/** @typedef {{tick: number, value: ?Measured}[]} Values oldest first */

/**
 * Converts the integers of PROTOCOL.md, "Quantised entities", into units.
 *
 * @param {import("../wire/snapshot.js").Entity} entity
 * @param {number[]} origin
 * @returns {Measured}
 */
function measured(entity, origin) {
  return {
    generation: entity.generation,
    isPlayer: entity.kind === ON_FOOT || entity.driven,
    model: entity.kind === ON_FOOT ? null : entity.model,
    position: entity.position.map((steps, axis) => origin[axis] + steps / 32),
    velocity: entity.velocity.map((steps) => steps * 4),
    rotation: entity.kind === ON_FOOT ? heading(entity.yaw) : attitude(entity),
    asleep: entity.asleep,
    crouching: entity.kind === ON_FOOT && entity.posture === 1,
  };
}

/** @param {number} yaw */
function heading(yaw) {
  const half = (yaw / 4096) * Math.PI;
  return [0, 0, Math.sin(half), Math.cos(half)];
}

/** @param {import("../wire/snapshot.js").Attitude} attitude */
function attitude({ largest, components }) {
  const others = components.map((value) => (value * Math.SQRT1_2) / 1023);
  const square = others.reduce((sum, value) => sum + value * value, 0);
  const rotation = [...others];
  rotation.splice(largest, 0, Math.sqrt(Math.max(0, 1 - square)));
  return rotation;
}

/**
 * Sets `into` to the rotation at the share `t` of the shorter way from `a` to `b`.
 *
 * @param {number[]} into
 * @param {number[]} a
 * @param {number[]} b
 * @param {number} t
 */
function turn(into, a, b, t) {
  const dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  const sign = dot < 0 ? -t : t;
  let square = 0;
  for (let i = 0; i < 4; i++) {
    into[i] = a[i] * (1 - t) + b[i] * sign;
    square += into[i] * into[i];
  }
  const length = Math.sqrt(square) || 1;
  for (let i = 0; i < 4; i++) into[i] /= length;
}

/**
 * Sets `into` to the position at the share `t` of the way from `a` to `b`: on a curve that fits
 * their velocities, or on a line if the velocities do not agree with the way.
 *
 * @param {number[]} into
 * @param {Measured} a
 * @param {Measured} b
 * @param {number} t
 * @param {number} seconds
 */
function travel(into, a, b, t, seconds) {
  let [error, way] = [0, 0];
  for (let i = 0; i < 3; i++) {
    const step = b.position[i] - a.position[i];
    const expected = ((a.velocity[i] + b.velocity[i]) / 2) * seconds;
    error += (step - expected) ** 2;
    way += step * step;
  }
  const straight = Math.sqrt(error) > 2 + Math.sqrt(way) / 4;
  const [t2, t3] = [t * t, t * t * t];
  for (let i = 0; i < 3; i++) {
    into[i] = straight
      ? a.position[i] + (b.position[i] - a.position[i]) * t
      : a.position[i] * (2 * t3 - 3 * t2 + 1) +
        a.velocity[i] * seconds * (t3 - 2 * t2 + t) +
        b.position[i] * (3 * t2 - 2 * t3) +
        b.velocity[i] * seconds * (t3 - t2);
  }
}

/**
 * @param {number[]} a
 * @param {number[]} b
 */
function distance(a, b) {
  return Math.hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
}

/**
 * @param {number[]} into
 * @param {number[]} from
 */
function copy(into, from) {
  for (let i = 0; i < from.length; i++) into[i] = from[i];
}

/** All slots of the match. */
export class Motion {
  constructor() {
    this.origin = [0, 0, 0];
    this.tickRate = 60;
    /** @type {Map<number, Values>} */
    this.slots = new Map();
    /**
     * The slots in ascending order, each with the object that is drawn for it.
     *
     * @type {{slot: number, values: Values, shown: Shown}[]}
     */
    this.tracks = [];
    /** @type {Shown[]} */
    this.shown = [];
  }

  /**
   * Forgets everything.
   *
   * @param {{origin: number[], tickRate: number}} hello of the server
   */
  reset({ origin, tickRate }) {
    this.origin = origin;
    this.tickRate = tickRate;
    this.slots = new Map();
    this.tracks = [];
    this.shown = [];
  }

  /**
   * Adds the records of a snapshot.
   *
   * @param {import("../wire/snapshot.js").Snapshot} snapshot
   */
  take({ tick, records }) {
    for (const { slot, entity } of records) {
      const values = this.slots.get(slot) ?? this.begin(slot);
      values.push({ tick, value: entity && measured(entity, this.origin) });
      if (values.length > 1 && values[values.length - 2].tick > tick) values.sort((a, b) => a.tick - b.tick);
      if (values.length > KEPT) values.shift();
    }
  }

  /** @param {number} slot */
  begin(slot) {
    /** @type {Values} */
    const values = [];
    const place = { position: [0, 0, 0], rotation: [0, 0, 0, 1], velocity: [0, 0, 0] };
    const shown = { slot, generation: 0, isPlayer: false, model: null, asleep: false, crouching: false, ...place };
    this.slots.set(slot, values);
    this.tracks.push({ slot, values, shown });
    this.tracks.sort((a, b) => a.slot - b.slot);
    return values;
  }

  /**
   * Everything as it was at `tick`, which may lie between two snapshots.
   *
   * @param {number} tick
   * @returns {Shown[]} in order of slots; the list and its entries are valid until the next call
   */
  at(tick) {
    this.shown.length = 0;
    for (const { values, shown } of this.tracks) {
      if (this.moveTo(shown, values, tick)) this.shown.push(shown);
    }
    return this.shown;
  }

  /**
   * Moves the object that is drawn for a slot to its place at `tick`. Returns whether the slot held
   * an entity at that tick.
   *
   * @param {Shown} shown
   * @param {Values} values
   * @param {number} tick
   */
  moveTo(shown, values, tick) {
    let index = values.length - 1;
    while (index >= 0 && values[index].tick > tick) index--;
    const a = values[index]?.value;
    if (!a) return false;
    const next = values[index + 1];
    const b = next?.value;
    const begin = next ? Math.max(values[index].tick, next.tick - LONGEST_WAY) : tick;
    const seconds = next ? (next.tick - begin) / this.tickRate : 0;
    // The server sends every moving body, so a body without an update stands still.
    const moves = b && b.generation === a.generation && tick > begin && distance(a.position, b.position) <= LEAP * seconds;
    const { generation, isPlayer, model, velocity, asleep } = moves ? b : a;
    Object.assign(shown, { generation, isPlayer, model, velocity, asleep, crouching: a.crouching });
    if (moves) {
      const t = (tick - begin) / (next.tick - begin);
      travel(shown.position, a, b, t, seconds);
      turn(shown.rotation, a.rotation, b.rotation, t);
    } else {
      copy(shown.position, a.position);
      copy(shown.rotation, a.rotation);
    }
    return true;
  }
}
