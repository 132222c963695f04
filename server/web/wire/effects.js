/**
 * PROTOCOL.md, "Effects": the datagram of rays, explosions and hits.
 *
 * @typedef {{tick: number, what: "ray", player: number, from: number[], to: number[]}
 *   | {tick: number, what: "blast", at: number[], radius: number}
 *   | {tick: number, what: "hurt", player: number, by: number, damage: number}
 *   | {tick: number, what: "replaced", entity: number}} Effect places in units; players and bodies by
 *   their slots, as in the server's `/effects`
 */

import { Malformed } from "./range_decoder.js";
import { nearestTick } from "./snapshot.js";

/** The kind of the datagram. */
const KIND = 2;

/** Maximum number of effects of a tick, and of ticks from a datagram's first to its last. */
const MOST_OF_TICK = 64;
const SPAN = 32;

/** Bits of a slot, and of a radius or damage. */
const [SLOT, AMOUNT] = [12, 12];

/** Lattice points per unit. */
const STEPS = 32;

/** Whether a datagram is of the kind that has effects. */
export function hasEffects(/** @type {Uint8Array} */ datagram) {
  return (datagram[0] & 3) === KIND;
}

/** Reads bits, the lowest of each byte first. */
class BitReader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.used = 0;
  }

  /** @param {number} width */
  unsigned(width) {
    if (this.used + width > 8 * this.bytes.length) throw new Malformed("effects that end too early");
    let value = 0;
    for (let i = 0; i < width; i++, this.used++) {
      if ((this.bytes[this.used >> 3] >> (this.used & 7)) & 1) value += 2 ** i;
    }
    return value;
  }

  /** Checks that only zeros follow, fewer than a byte of them. */
  end() {
    const left = 8 * this.bytes.length - this.used;
    if (left >= 8 || this.unsigned(left) !== 0) throw new Malformed("bytes after the last effect");
  }
}

/**
 * @param {BitReader} reader
 * @param {{origin: number[], bits: number[]}} terms
 */
function place(reader, { origin, bits }) {
  return origin.map((least, axis) => least + reader.unsigned(bits[axis]) / STEPS);
}

/**
 * @param {BitReader} reader
 * @param {{origin: number[], bits: number[]}} terms
 * @param {number} tick
 * @returns {Effect}
 */
function readEffect(reader, terms, tick) {
  const slot = () => reader.unsigned(SLOT);
  switch (reader.unsigned(2)) {
    case 0:
      return { tick, what: "ray", player: slot(), from: place(reader, terms), to: place(reader, terms) };
    case 1:
      return { tick, what: "blast", at: place(reader, terms), radius: reader.unsigned(AMOUNT) };
    case 2:
      return { tick, what: "hurt", player: slot(), by: slot(), damage: reader.unsigned(AMOUNT) };
    default:
      return { tick, what: "replaced", entity: slot() };
  }
}

/**
 * Decodes a datagram of effects.
 *
 * @param {Uint8Array} bytes
 * @param {{origin: number[], bits: number[]}} terms of the server's hello
 * @param {number} near a tick that the sender cannot be far from
 * @returns {Effect[]} in order of their ticks
 * @throws {Malformed} if the datagram breaks the protocol
 */
export function decodeEffects(bytes, terms, near) {
  if (bytes[0] !== KIND) throw new Malformed("a datagram that has no effects");
  const reader = new BitReader(bytes);
  reader.unsigned(8);
  const first = nearestTick(reader.unsigned(16), near);
  const count = reader.unsigned(8) + 1;
  /** @type {Effect[]} */
  const effects = [];
  let [tick, ofTick] = [first, 0];
  for (let i = 0; i < count; i++) {
    if (i > 0 && reader.unsigned(1)) [tick, ofTick] = [tick + reader.unsigned(5) + 1, 0];
    if (tick - first > SPAN) throw new Malformed("effects of too many ticks");
    if (++ofTick > MOST_OF_TICK) throw new Malformed("too many effects of a tick");
    effects.push(readEffect(reader, terms, tick));
  }
  reader.end();
  return effects;
}

/** Takes each effect once. Datagrams repeat effects of earlier datagrams. */
export class EffectReader {
  /** @param {{tick: number, origin: number[], bits: number[]}} terms the server's hello */
  constructor(terms) {
    this.terms = terms;
    /** The ticks whose effects were taken, newest first. The hello's tick ends an earlier world. */
    this.taken = [terms.tick];
  }

  /**
   * Takes a datagram.
   *
   * @param {Uint8Array} bytes
   * @param {number} near a tick that the sender cannot be far from
   * @returns {Effect[]} the effects that are new
   * @throws {Malformed} if the datagram breaks the protocol
   */
  receive(bytes, near) {
    const { taken, terms } = this;
    const isNew = (/** @type {Effect} */ { tick }) => tick > terms.tick && tick >= this.taken[0] - SPAN && !taken.includes(tick);
    const effects = decodeEffects(bytes, terms, near).filter(isNew);
    const ticks = [...new Set(effects.map(({ tick }) => tick)), ...taken].sort((a, b) => b - a);
    this.taken = ticks.filter((tick) => tick >= ticks[0] - SPAN);
    return effects;
  }
}
