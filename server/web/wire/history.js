/**
 * PROTOCOL.md, "Baselines" and "Digest": the values that a client has of each slot, and the
 * snapshots that it has received and acknowledges.
 */

import { decodeSnapshot, Digest, nearestTick, UnknownBaseline } from "./snapshot.js";

/** Maximum number of values that are kept per slot. */
const VALUES_OF_A_SLOT = 32;

/**
 * Maximum number of ticks by which a snapshot may be late. An acknowledgement covers this many
 * ticks.
 */
const TICKS_BACK = 32;

/** @typedef {import("./snapshot.js").Entity} Entity */

/** @typedef {{tick: number, entity: ?Entity}} Value */

/** The client's knowledge of a match. */
export class History {
  /** @param {import("./snapshot.js").Terms & {tick: number}} terms the server's hello */
  constructor(terms) {
    this.terms = terms;
    this.latest = terms.tick;
    /** @type {number[]} ticks of received snapshots, newest first, at most `TICKS_BACK` old */
    this.taken = [];
    /** @type {Map<number, Value[]>} newest first */
    this.slots = new Map();
    /**
     * Offsets of the values of the match and of the client's own player, newest first.
     *
     * @type {Record<"match" | "own", {tick: number, offsets: number[]}[]>}
     */
    this.offsets = { match: [], own: [] };
    /** Number of digests that were checked, and the ticks of the digests that differed. */
    this.digests = 0;
    /** @type {number[]} */
    this.mismatches = [];
  }

  /**
   * Decodes a datagram.
   *
   * @param {Uint8Array} bytes
   * @returns {?import("./snapshot.js").Snapshot} the snapshot, or null if it is too old to be used
   * @throws {Malformed} if the datagram breaks the protocol
   */
  receive(bytes) {
    // A snapshot of the former world is dropped: the hello of the new world has overtaken it.
    if (bytes.length >= 3 && nearestTick(bytes[1] + 256 * bytes[2], this.latest) <= this.terms.tick) return null;
    let snapshot;
    try {
      snapshot = decodeSnapshot(bytes, this.terms, this.latest, (slot, tick, exact) =>
        this.value(slot, tick, exact),
        (what, of) => this.offsets[what].find((known) => known.tick === of)?.offsets,
      );
    } catch (error) {
      // A late snapshot may reference a baseline that was dropped.
      if (error instanceof UnknownBaseline) return null;
      throw error;
    }
    const { tick, records, digest } = snapshot;
    if (this.taken.includes(tick) || tick <= this.latest - TICKS_BACK) return null;
    const isLatest = this.taken.length === 0 || tick > this.latest;
    for (const { slot, entity } of records) this.keep(slot, tick, entity);
    for (const what of /** @type {const} */ (["match", "own"])) {
      const offsets = snapshot[what];
      if (!offsets) continue;
      const known = [...this.offsets[what], { tick, offsets }];
      this.offsets[what] = known.sort((a, b) => b.tick - a.tick).slice(0, VALUES_OF_A_SLOT);
    }
    this.taken = [tick, ...this.taken].sort((a, b) => b - a);
    this.latest = this.taken[0];
    this.taken = this.taken.filter((taken) => taken > this.latest - TICKS_BACK - 1);
    if (digest && isLatest) this.verify(tick, records, digest);
    return snapshot;
  }

  /**
   * The value of a slot at exactly this tick if `exact`, else the latest value up to the tick.
   *
   * @param {number} slot
   * @param {number} tick
   * @param {boolean} exact
   */
  value(slot, tick, exact) {
    const values = this.slots.get(slot) ?? [];
    return values.find((value) => (exact ? value.tick === tick : value.tick <= tick));
  }

  /**
   * The entity in a slot by the latest snapshots, or null.
   *
   * @param {number} slot
   */
  entity(slot) {
    return this.slots.get(slot)?.[0]?.entity ?? null;
  }

  /**
   * Stores a new value of a slot, and drops the oldest if there are too many.
   *
   * @param {number} slot
   * @param {number} tick
   * @param {?Entity} entity
   */
  keep(slot, tick, entity) {
    const values = [...(this.slots.get(slot) ?? []), { tick, entity }];
    values.sort((a, b) => b.tick - a.tick);
    this.slots.set(slot, values.slice(0, VALUES_OF_A_SLOT));
  }

  /**
   * Compares the digest of the known values with the server's.
   *
   * @param {number} tick
   * @param {{slot: number, entity: ?Entity}[]} records
   * @param {{first: number, slots: number, value: number}} told
   */
  verify(tick, records, { first, slots, value }) {
    const digest = new Digest(tick);
    for (const { slot, entity } of records) digest.slot(slot, entity);
    for (let n = 0; n < 32; n++) {
      if (Math.floor(slots / 2 ** n) % 2 === 1) digest.slot(first + n, this.entity(first + n));
    }
    this.digests++;
    if (digest.hash !== value) this.mismatches.push(tick);
  }

  /**
   * The acknowledgement for a command datagram.
   *
   * @returns {?{latest: number, before: number}} the newest tick, and a bit for each of the ticks
   *   before it
   */
  acknowledgement() {
    if (this.taken.length === 0) return null;
    const before = this.taken
      .map((tick) => this.latest - tick - 1)
      .filter((n) => n >= 0 && n < 32)
      .reduce((bits, n) => bits + 2 ** n, 0);
    return { latest: this.latest, before };
  }
}
