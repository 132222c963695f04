/** The positions of everything at the moment that is shown, interpolated from the snapshots. */

import { add, rotate } from "../draw/algebra.js";
import { ON_FOOT } from "../wire/snapshot.js";

/** Maximum number of values that are kept per slot. */
const KEPT = 24;

/**
 * Maximum number of ticks for which a body has moved when the first snapshot shows the motion. A
 * body that was left out of snapshots for longer is drawn at rest until that many ticks before.
 */
const LONGEST_WAY = 9;

/** Units a second above which an entity was teleported: nothing moves that fast by itself. */
const LEAP = 6000;

/** Maximum number of attachments from an entity to the carrier that carries all others. */
const MOST_LINKS = 4;

/** The component of an offset from a carrier that stands for zero. */
const NO_OFFSET = 32768;

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

/**
 * The carrier of an attached entity, and the entity's place in the carrier's frame.
 *
 * @typedef {{slot: number, generation: number, offset: number[], rotation: number[]}} Carrier
 */

/** @typedef {Omit<Shown, "slot"> & {isVisible: boolean, carrier: ?Carrier}} Measured */

/** @typedef {{tick: number, value: ?Measured}[]} Values oldest first */

/**
 * A slot: its values, its value at the moment that is shown, and the object that is drawn.
 *
 * @typedef {{slot: number, values: Values, now: ?Measured, shown: Shown}} Track
 */

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
    // A body that is asleep stands still: its velocity is only the velocity of its surface.
    velocity: entity.velocity.map((steps) => (entity.asleep ? 0 : steps * 4)),
    rotation: entity.kind === ON_FOOT ? heading(entity.yaw) : attitude(entity),
    asleep: entity.asleep,
    crouching: entity.kind === ON_FOOT && entity.posture === 1,
    isVisible: entity.traits?.visible ?? true,
    carrier: carrierOf(entity),
  };
}

/**
 * @param {import("../wire/snapshot.js").Entity} entity
 * @returns {?Carrier} null if the entity is not attached
 */
function carrierOf({ traits }) {
  if (!traits?.carrier) return null;
  const { slot, generation, offset } = traits.carrier;
  return { slot, generation, offset: offset.map((steps) => (steps - NO_OFFSET) / 32), rotation: attitude(traits.carrier) };
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
 * The rotation that turns by `b` and then by `a`.
 *
 * @param {number[]} a
 * @param {number[]} b
 */
function product([ax, ay, az, aw], [bx, by, bz, bw]) {
  const turned = [
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
  ];
  const length = Math.hypot(...turned) || 1;
  return turned.map((part) => part / length);
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
    /** @type {Map<number, Track>} */
    this.slots = new Map();
    /**
     * The slots in ascending order.
     *
     * @type {Track[]}
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
      const { values } = this.slots.get(slot) ?? this.begin(slot);
      values.push({ tick, value: entity && measured(entity, this.origin) });
      if (values.length > 1 && values[values.length - 2].tick > tick) values.sort((a, b) => a.tick - b.tick);
      if (values.length > KEPT) values.shift();
    }
  }

  /** @param {number} slot */
  begin(slot) {
    const place = { position: [0, 0, 0], rotation: [0, 0, 0, 1], velocity: [0, 0, 0] };
    const shown = { slot, generation: 0, isPlayer: false, model: null, asleep: false, crouching: false, ...place };
    /** @type {Track} */
    const track = { slot, values: [], now: null, shown };
    this.slots.set(slot, track);
    this.tracks.push(track);
    this.tracks.sort((a, b) => a.slot - b.slot);
    return track;
  }

  /**
   * Everything visible as it was at `tick`, which may lie between two snapshots.
   *
   * @param {number} tick
   * @returns {Shown[]} in order of slots; the list and its entries are valid until the next call
   */
  at(tick) {
    this.shown.length = 0;
    for (const track of this.tracks) track.now = this.moveTo(track, tick);
    for (const track of this.tracks) {
      if (track.now?.isVisible && this.follow(track, MOST_LINKS)) this.shown.push(track.shown);
    }
    return this.shown;
  }

  /**
   * Moves an attached entity to where its carrier, which may be hidden, is at the moment. Returns
   * false if the carrier is not known, or the chain of carriers is longer than `links`.
   *
   * @param {Track} track
   * @param {number} links
   */
  follow({ now, shown }, links) {
    if (!now?.carrier) return now !== null;
    const { slot, generation, offset, rotation } = now.carrier;
    const carrier = this.slots.get(slot);
    if (links === 0 || carrier?.now?.generation !== generation || !this.follow(carrier, links - 1)) return false;
    const [x, y, z, w] = carrier.shown.rotation;
    shown.position = add(carrier.shown.position, rotate([x, y, z, w], offset));
    shown.rotation = product(carrier.shown.rotation, rotation);
    shown.velocity = carrier.shown.velocity;
    return true;
  }

  /**
   * Moves the object that is drawn for a slot to its place at `tick`. Returns the value that the
   * slot held at that tick; null if the slot was empty.
   *
   * @param {Track} track
   * @param {number} tick
   */
  moveTo({ values, shown }, tick) {
    let index = values.length - 1;
    while (index >= 0 && values[index].tick > tick) index--;
    const a = values[index]?.value;
    if (!a) return null;
    const next = values[index + 1];
    const b = next?.value;
    const begin = next ? Math.max(values[index].tick, next.tick - LONGEST_WAY) : tick;
    const seconds = next ? (next.tick - begin) / this.tickRate : 0;
    // The server sends every moving body, so a body without an update stands still. An attached
    // entity has no pose of its own, so there is nothing to interpolate.
    const isSame = b && b.generation === a.generation && !a.carrier && !b.carrier;
    const moves = isSame && tick > begin && distance(a.position, b.position) <= LEAP * seconds;
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
    return a;
  }
}
