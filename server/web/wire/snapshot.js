/**
 * PROTOCOL.md, "Snapshots": the decoder of a datagram.
 *
 * All numbers of an entity are the integers that PROTOCOL.md defines.
 *
 * @typedef {object} Body
 * @property {number} generation
 * @property {boolean} asleep
 * @property {number[]} position
 * @property {number[]} velocity
 * @property {number[]} [offsets] of the values of its fields, if its kind has fields
 * @property {Traits} [traits] if they are not the usual ones
 *
 * @typedef {object} Traits
 * @property {number} layers one bit each
 * @property {number} mask one bit for each layer whose entities the entity may meet
 * @property {boolean} visible
 * @property {number} substance 0 solid, 1 intangible, 2 attached
 * @property {{slot: number, generation: number, offset: number[], largest: number, components: number[]}}
 *   [carrier] of an attached entity
 *
 * @typedef {object} Attitude
 * @property {number} largest index of the component that is left out
 * @property {number[]} components the other components
 *
 * @typedef {Body & {kind: 0, posture: number, yaw: number}} OnFoot a player on foot
 *
 * @typedef {Body & Attitude & {kind: 1, model: number, driven: boolean}} Polyhedron `driven` if a player
 *   is in it
 *
 * @typedef {OnFoot | Polyhedron} Entity
 *
 * @typedef {{bits: number[], tickRate: number, schema?: import("./fields.js").Schema}} Terms what the
 *   server's hello says about snapshots
 *
 * @typedef {{tick: number, lead: ?number, since: number, motion: ?object, match: ?number[], own: ?number[],
 *   records: {slot: number, entity: ?Entity}[], digest: ?{first: number, slots: number, value:
 *   number}}} Snapshot
 */

import { fieldsOf, NO_SCHEMA, readChangedOffsets, readOffsets } from "./fields.js";
import { PROBABILITIES } from "./probabilities.js";
import { Malformed, RangeDecoder } from "./range_decoder.js";

/** @type {0} the kind of a player on foot */
export const ON_FOOT = 0;

/** @type {1} the kind of all other entities */
export const POLYHEDRON = 1;

/** Indices of the first probabilities of differences. */
const FIRST_CHANCE = { velocity: 88, position: 269 };
const AXES = [0, 1, 2];

/**
 * The tick nearest to `near` that has these 16 low bits.
 *
 * @param {number} low
 * @param {number} near
 */
export function nearestTick(low, near) {
  const ahead = ((((low - near) % 65536) + 65536 + 32768) % 65536) - 32768;
  return near + ahead;
}

/**
 * The class of a difference by its size: 0 to 2.
 *
 * @param {number} value
 */
function size(value) {
  return value === 0 ? 0 : value <= 3 ? 1 : 2;
}

/**
 * The class of a turn by its size: 1 to 6.
 *
 * @param {number} greatest
 */
function turnSize(greatest) {
  if (greatest === 0) return 1;
  if (greatest === 1) return 2;
  if (greatest <= 3) return 3;
  if (greatest <= 7) return 4;
  return greatest <= 31 ? 5 : 6;
}

/**
 * Decodes a snapshot.
 *
 * @param {Uint8Array} bytes of a datagram
 * @param {Terms} terms
 * @param {number} near a tick that the sender cannot be far from
 * @param {(slot: number, tick: number, exact: boolean) => {tick: number, entity: ?Entity} |
 *   undefined} baseline the value of a slot at that tick, or the latest one up to it
 * @param {(what: "match" | "own", tick: number) => number[] | undefined} [offsets] the values of the match
 *   ("match") or the client's own player ("own") that were received for that tick
 * @returns {Snapshot}
 * @throws {Malformed} if the datagram is not a snapshot
 * @throws {UnknownBaseline} if the datagram came too late to be decoded
 */
export function decodeSnapshot(bytes, terms, near, baseline, offsets = () => undefined) {
  if (bytes.length < 3 || (bytes[0] & 3) !== 0 || bytes[0] > 127) throw new Malformed("a datagram that is not a snapshot");
  const tick = nearestTick(bytes[1] + 256 * bytes[2], near);
  const coder = new RangeDecoder(PROBABILITIES, bytes.subarray(3));
  const lead = coder.bit(0) ? coder.signed(1, 8) + 5 : null;
  const acknowledged = coder.number(9, 8);
  const count = coder.number(17, 8);
  const since = coder.number(828, 8);
  const motion = bytes[0] & 8 ? readMotion(coder) : null;
  const { ofMatch, ofOwnPlayer } = terms.schema ?? NO_SCHEMA;
  const match = bytes[0] & 16 ? readBlock(coder, ofMatch, tick, (of) => offsets("match", of)) : null;
  const own = bytes[0] & 32 ? readBlock(coder, ofOwnPlayer, tick, (of) => offsets("own", of)) : null;
  const records = [];
  let next = 0;
  for (let i = 0; i < count; i++) {
    const slot = next + coder.number(25, 12);
    if (slot > 4095) throw new Malformed("a slot out of range");
    const read = readRecord(coder, terms, tick, acknowledged, slot, baseline);
    const entity = read && bytes[0] & 64 ? readTraits(coder, read) : read;
    records.push({ slot, entity });
    next = slot + 1;
  }
  const digest =
    bytes[0] & 4 ? { first: coder.raw(12), slots: coder.raw(32), value: coder.raw(32) } : null;
  coder.finish();
  return { tick, lead, since, motion, match, own, records, digest };
}

/** The error of a snapshot that references a missing baseline. */
export class UnknownBaseline extends Error {}

/**
 * Reads the offsets of the match, or of the client's own player.
 *
 * @param {RangeDecoder} coder
 * @param {import("./fields.js").Field[]} of
 * @param {number} tick
 * @param {(tick: number) => number[] | undefined} known
 */
function readBlock(coder, of, tick, known) {
  const age = coder.raw(8);
  const old = age === 0 ? of.map(() => 0) : known(tick - age);
  if (!old) throw new UnknownBaseline(`values of tick ${tick - age}`);
  return readChangedOffsets(coder, of, old);
}

/**
 * An entity with the offsets of its values, if there are any.
 *
 * @template {Entity} E
 * @param {E} entity
 * @param {number[]} offsets
 * @returns {E}
 */
function withOffsets(entity, offsets) {
  return offsets.length > 0 ? { ...entity, offsets } : entity;
}

/**
 * Reads the traits of an entity, if they have changed.
 *
 * @template {Entity} E
 * @param {RangeDecoder} coder
 * @param {E} entity with the traits that it had
 * @returns {E & {traits?: Traits}}
 */
function readTraits(coder, entity) {
  if (!coder.raw(1)) return entity;
  const [layers, mask] = coder.raw(1) ? [coder.raw(32), coder.raw(32)] : [1, 0xffffffff];
  const visible = coder.raw(1) === 1;
  const substance = coder.raw(2);
  if (substance > 2) throw new Malformed("a substance out of range");
  const traits = { layers, mask, visible, substance };
  if (substance === 2) {
    const [slot, generation] = [coder.raw(12), coder.raw(16)];
    const carrier = { slot, generation, offset: AXES.map(() => coder.raw(16)), ...readAttitude(coder) };
    return { ...entity, traits: { ...traits, carrier } };
  }
  const isUsual = layers === 1 && mask === 0xffffffff && visible && substance === 0;
  /** @type {E & {traits?: Traits}} */
  const changed = { ...entity, traits };
  if (isUsual) delete changed.traits;
  return changed;
}

/**
 * Reads the motion of the client's own player. A spectator gets none.
 *
 * @param {RangeDecoder} coder
 */
function readMotion(coder) {
  const view = new DataView(new ArrayBuffer(4));
  const float = () => {
    view.setUint32(0, coder.raw(32));
    return view.getFloat32(0);
  };
  const position = AXES.map(float);
  const velocity = AXES.map(() => (coder.raw(1) ? float() : 0));
  const yaw = coder.raw(16);
  const [crouching, grounded, jumpHeld] = AXES.map(() => coder.raw(1) === 1);
  const movement = coder.raw(1) ? coder.raw(4) : 0;
  const groundVelocity = coder.raw(1) ? AXES.map(float) : [0, 0, 0];
  const sincePushed = coder.raw(5);
  const touched = Array.from({ length: coder.raw(2) }, () => {
    const slot = coder.raw(12);
    const asleep = coder.raw(1) === 1;
    const place = { position: AXES.map(float), orientation: [...AXES, 3].map(float) };
    const still = { velocity: [0, 0, 0], spin: [0, 0, 0] };
    const moves = () => ({ velocity: AXES.map(float), spin: AXES.map(float) });
    const motion = coder.raw(1) ? moves() : still;
    const goal = () => ({ goal: AXES.map(float), speed: float(), start: coder.raw(32) });
    const linearMove = coder.raw(1) ? goal() : null;
    const pendulum = () => ({ place: AXES.map(float), way: AXES.map(float), ticks: coder.raw(32), at: coder.raw(32) });
    const swing = coder.raw(1) ? pendulum() : null;
    const zone = () => ({ zone: [AXES.map(float), AXES.map(float)], goal: AXES.map(float), speed: float(), delay: coder.raw(32) });
    return { slot, asleep, ...place, ...motion, linearMove, swing, armed: coder.raw(1) ? zone() : null };
  });
  const ground = { grounded, groundVelocity };
  return { position, velocity, yaw, crouching, ...ground, jumpHeld, movement, sincePushed, touched };
}

/**
 * Reads the content of a slot: an entity, or null.
 *
 * @param {RangeDecoder} coder
 * @param {Terms} terms
 * @param {number} tick
 * @param {number} acknowledged
 * @param {number} slot
 * @param {(slot: number, tick: number, exact: boolean) => {tick: number, entity: ?Entity} | undefined} baseline
 * @returns {?Entity}
 */
function readRecord(coder, terms, tick, acknowledged, slot, baseline) {
  const isLatest = coder.bit(37) === 0;
  if (!isLatest && !coder.bit(38)) return coder.bit(39) ? null : readWhole(coder, terms);
  const age = isLatest ? acknowledged : coder.raw(8);
  if (age === 0) throw new Malformed("a baseline whose age is zero");
  const known = baseline(slot, tick - age, !isLatest);
  if (!known || !known.entity) throw new UnknownBaseline(`slot ${slot} at tick ${tick - age}`);
  return readChange(coder, terms, known.entity, Math.min(tick - known.tick, 16));
}

/** @param {RangeDecoder} coder */
function readAttitude(coder) {
  return { largest: coder.raw(2), components: AXES.map(() => coder.signed(68, 10)) };
}

/**
 * @param {RangeDecoder} coder
 * @param {Terms} terms
 */
function readPosition(coder, terms) {
  return AXES.map((axis) => coder.raw(terms.bits[axis]));
}

/**
 * Reads an entity that is sent in full.
 *
 * @param {RangeDecoder} coder
 * @param {Terms} terms
 * @returns {Entity}
 */
function readWhole(coder, terms) {
  const generation = coder.number(40, 16);
  const kind = coder.bit(56);
  const body = {
    generation,
    asleep: coder.bit(57) === 1,
    position: readPosition(coder, terms),
    velocity: coder.bit(58) ? AXES.map(() => coder.signed(59, 9)) : [0, 0, 0],
  };
  const schema = terms.schema ?? NO_SCHEMA;
  if (kind === ON_FOOT) {
    const entity = { ...body, kind: ON_FOOT, posture: coder.raw(1), yaw: coder.raw(12) };
    return withOffsets(entity, readOffsets(coder, fieldsOf(schema, kind)));
  }
  const entity = { ...body, kind: POLYHEDRON, model: coder.raw(7), driven: coder.raw(1) === 1, ...readAttitude(coder) };
  return withOffsets(entity, readOffsets(coder, fieldsOf(schema, kind, entity.model, entity.driven)));
}

/**
 * Reads an entity that is sent as changes over `age` ticks.
 *
 * @param {RangeDecoder} coder
 * @param {Terms} terms
 * @param {Entity} old
 * @param {number} age
 * @returns {Entity}
 */
function readChange(coder, terms, old, age) {
  const { kind } = old;
  const rate = terms.tickRate;
  const half = Math.floor(rate / 2);
  const asleep = coder.bit(78 + 2 * kind + (old.asleep ? 1 : 0)) === 1;
  const rises = old.velocity[2] !== 0 ? 1 : 0;
  const falls = !asleep && coder.bit(84 + 2 * kind + rises) === 1;

  const expected = asleep ? [0, 0, 0] : [...old.velocity];
  if (falls) {
    expected[2] = Math.max(expected[2] - Math.floor((200 * age + half) / rate), -511);
  }
  let greatest = 0;
  const surprises = AXES.map((axis) => {
    const chance = FIRST_CHANCE.velocity + 10 * (9 * kind + 3 * axis + size(greatest));
    const difference = coder.signed(chance, 10);
    greatest = Math.max(greatest, Math.abs(difference));
    return difference;
  });
  const velocity = AXES.map((axis) => expected[axis] + surprises[axis]);

  const predicted = AXES.map((axis) => {
    const way = (old.velocity[axis] + velocity[axis]) * 64 * age;
    const at = old.position[axis] + Math.floor((way + half) / rate);
    return Math.min(Math.max(at, 0), 2 ** terms.bits[axis] - 1);
  });
  /** @type {number[]} */
  let position;
  if (coder.bit(268)) {
    position = readPosition(coder, terms);
  } else {
    greatest = 0;
    position = AXES.map((axis) => {
      const surprised = surprises[axis] !== 0 ? 1 : 0;
      const chance =
        FIRST_CHANCE.position + 12 * (18 * kind + 6 * axis + 3 * surprised + size(greatest));
      const difference = coder.signed(chance, 12);
      greatest = Math.max(greatest, Math.abs(difference));
      return predicted[axis] + difference;
    });
  }

  const traits = old.traits ? { traits: old.traits } : {};
  const body = { generation: old.generation, asleep, position, velocity, ...traits };
  if (old.kind === ON_FOOT) {
    const posture = coder.bit(82 + old.posture);
    const surprised = surprises.some((difference) => difference !== 0) ? 1 : 0;
    const turn = coder.signed(701 + 12 * surprised, 12);
    const yaw = (((old.yaw + turn) % 4096) + 4096) % 4096;
    return withOffsets({ ...body, kind: ON_FOOT, posture, yaw }, readNewOffsets(coder, terms, old));
  }
  const { model, driven } = old;
  const moves = velocity.some((speed) => speed !== 0) ? 1 : 0;
  let { largest, components } = old;
  if (coder.bit(725 + moves)) {
    if (coder.bit(727)) {
      ({ largest, components } = readAttitude(coder));
    } else {
      greatest = 0;
      components = components.map((component, i) => {
        const chance = 728 + 11 * (i === 0 ? 0 : turnSize(greatest));
        const difference = coder.signed(chance, 11);
        greatest = Math.max(greatest, Math.abs(difference));
        return component + difference;
      });
    }
  }
  const turned = { ...body, kind: POLYHEDRON, model, driven, largest, components };
  return withOffsets(turned, readNewOffsets(coder, terms, old));
}

/**
 * Reads the new offsets of an entity.
 *
 * @param {RangeDecoder} coder
 * @param {Terms} terms
 * @param {Entity} old
 */
function readNewOffsets(coder, terms, old) {
  const schema = terms.schema ?? NO_SCHEMA;
  const of = old.kind === ON_FOOT ? fieldsOf(schema, old.kind) : fieldsOf(schema, old.kind, old.model, old.driven);
  const offsets = old.offsets ?? [];
  return of.length > 0 && coder.bit(805) ? readChangedOffsets(coder, of, offsets) : offsets;
}

/** PROTOCOL.md, "Digest": the hash of a tick and of the content of some slots. */
export class Digest {
  /** @param {number} tick */
  constructor(tick) {
    this.hash = 0x811c9dc5;
    this.bytes(tick, 4);
  }

  /**
   * Adds the low bytes of a number, the lowest first.
   *
   * @param {number} value
   * @param {number} width in bytes
   */
  bytes(value, width) {
    for (let i = 0; i < width; i++) {
      const byte = Math.floor(value / 2 ** (8 * i)) & 0xff;
      this.hash = Math.imul(this.hash ^ byte, 0x01000193) >>> 0;
    }
  }

  /**
   * Adds the content of a slot: an entity, or null if the slot is empty.
   *
   * @param {number} slot
   * @param {?Entity} entity
   */
  slot(slot, entity) {
    this.bytes(slot, 2);
    if (!entity) {
      this.bytes(0, 1);
      return;
    }
    this.bytes(entity.kind === ON_FOOT ? 1 : entity.driven ? 3 : 2, 1);
    this.bytes(entity.generation, 2);
    this.bytes(entity.asleep ? 1 : 0, 1);
    this.bytes(entity.kind === ON_FOOT ? entity.posture : entity.model, 1);
    entity.position.forEach((value) => this.bytes(value, 4));
    entity.velocity.forEach((value) => this.bytes(value, 2));
    if (entity.kind === ON_FOOT) {
      this.bytes(entity.yaw, 2);
    } else {
      this.bytes(entity.largest, 1);
      entity.components.forEach((value) => this.bytes(value, 2));
    }
    (entity.offsets ?? []).forEach((value) => this.bytes(value, 2));
    if (entity.traits) this.traits(entity.traits);
  }

  /**
   * Adds the traits of an entity.
   *
   * @param {Traits} traits
   */
  traits({ layers, mask, visible, substance, carrier }) {
    this.bytes(layers, 4);
    this.bytes(mask, 4);
    this.bytes(visible ? 1 : 0, 1);
    this.bytes(substance, 1);
    if (!carrier) return;
    this.bytes(carrier.slot, 2);
    this.bytes(carrier.generation, 2);
    carrier.offset.forEach((value) => this.bytes(value, 2));
    this.bytes(carrier.largest, 1);
    carrier.components.forEach((value) => this.bytes(value, 2));
  }
}
