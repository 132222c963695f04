/**
 * PROTOCOL.md, "Control stream": frames, and the messages in them.
 */

import { readSchema } from "./fields.js";
import { Malformed } from "./range_decoder.js";

export const VERSION = 17;
/** The longest frame of a server. A client may send 1,024 bytes. */
const LONGEST_FRAME = 8192;

class Writer {
  constructor() {
    /** @type {number[]} */
    this.bytes = [];
  }

  /**
   * Writes a number of up to 32 bits, in as few bytes as it needs.
   *
   * @param {number} value
   */
  unsigned(value) {
    if (value < 251) {
      this.bytes.push(value);
    } else {
      const width = value < 2 ** 16 ? 2 : 4;
      this.bytes.push(width === 2 ? 251 : 252);
      for (let i = 0; i < width; i++) this.bytes.push(Math.floor(value / 256 ** i) % 256);
    }
    return this;
  }

  /** @param {Iterable<number>} bytes */
  raw(bytes) {
    this.bytes.push(...bytes);
    return this;
  }

  /** @param {string} text */
  text(text) {
    const bytes = new TextEncoder().encode(text);
    return this.unsigned(bytes.length).raw(bytes);
  }

  /** @returns {Uint8Array} the length of the message, then the message */
  frame() {
    const length = this.bytes.length;
    return Uint8Array.from([length % 256, length >> 8, ...this.bytes]);
  }
}

/** Reads a message. It throws `Malformed` if the message ends too early. */
export class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.next = 0;
  }

  byte() {
    if (this.next >= this.bytes.length) throw new Malformed("a message ends too early");
    return this.bytes[this.next++];
  }

  unsigned() {
    const first = this.byte();
    if (first < 251) return first;
    if (first > 253) throw new Malformed("a number of an unknown width");
    let value = 0;
    for (let i = 0; i < 2 ** (first - 250); i++) value += this.byte() * 256 ** i;
    return value;
  }

  /** Reads a number with a sign, in zigzag form: even numbers are positive. */
  signed() {
    const value = this.unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** @param {number} count */
  raw(count) {
    return Array.from({ length: count }, () => this.byte());
  }

  text() {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(this.raw(this.unsigned())));
  }

  entity() {
    return { slot: this.unsigned(), generation: this.unsigned() };
  }

  /** Checks that nothing follows. */
  end() {
    if (this.next !== this.bytes.length) throw new Malformed("bytes after a message");
  }
}

/** @returns {Uint8Array} the frame of a client that leaves */
export function leave() {
  return new Writer().unsigned(1).frame();
}

/**
 * @param {number} tick with a wrong digest
 * @returns {Uint8Array} the frame that reports it to the server
 */
export function mismatch(tick) {
  return new Writer().unsigned(2).unsigned(tick).frame();
}

/** Cuts a stream into the contents of frames. */
export class Framer {
  constructor() {
    /** @type {number[]} */
    this.waiting = [];
  }

  /**
   * Takes in more of the stream.
   *
   * @param {Uint8Array} bytes
   * @returns {Uint8Array[]} contents of the frames that are whole now
   * @throws {Malformed} a frame is longer than is allowed
   */
  push(bytes) {
    this.waiting.push(...bytes);
    const frames = [];
    while (this.waiting.length >= 2) {
      const length = this.waiting[0] + 256 * this.waiting[1];
      if (length < 1 || length > LONGEST_FRAME) throw new Malformed("a frame whose length is not allowed");
      if (this.waiting.length < 2 + length) break;
      frames.push(Uint8Array.from(this.waiting.slice(2, 2 + length)));
      this.waiting = this.waiting.slice(2 + length);
    }
    return frames;
  }
}

/**
 * @param {string} name of the client, 1 to 32 bytes
 * @param {string} [match] name of a match; empty for the server's first
 * @param {Uint8Array} [password] of the match, if it has one
 * @param {boolean} [effects] whether the client asks for effects
 * @returns {Uint8Array} the frame that asks to join, on whatever map the match is
 */
export function hello(name, match = "", password = new Uint8Array(), effects = false) {
  const start = new Writer().unsigned(0).unsigned(VERSION).raw(new Array(32).fill(0)).text(name);
  // The password takes the place of a connect token. There is no ticket.
  return start.unsigned(password.length).raw(password).raw(new Array(16).fill(0)).text(match).unsigned(Number(effects)).frame();
}

/** @typedef {(r: Reader) => Record<string, any>} Read */

/** @type {Read[]} */
const REFUSALS = [
  (r) => ({ reason: "wrong-version", server: r.unsigned() }),
  (r) => ({ reason: "full", limit: r.unsigned() }),
  (r) => ({ reason: "wrong-map", hash: r.raw(32), name: r.text() }),
  () => ({ reason: "bad-name" }),
  () => ({ reason: "not-ready" }),
  () => ({ reason: "banned" }),
  () => ({ reason: "token-required" }),
  () => ({ reason: "bad-token" }),
  () => ({ reason: "address-limit" }),
  (r) => ({ reason: "no-such-match", matches: matchNames(r) }),
  () => ({ reason: "not-allowed" }),
];

/** @type {Read[]} */
const CLOSINGS = [
  () => ({ reason: "shutting-down" }),
  () => ({ reason: "timed-out" }),
  (r) => ({ reason: "removed", why: r.text() }),
  () => ({ reason: "replaced" }),
];

const PHASES = ["warm-up", "playing", "intermission"];

/** @type {Read[]} */
const EVENTS = [
  (r) => ({ event: "joined", player: r.entity(), name: r.text() }),
  (r) => ({ event: "left", player: r.entity() }),
  (r) => ({ event: "died", player: r.entity(), by: r.entity(), means: r.text() }),
  (r) => ({ event: "said", player: r.entity(), line: r.text() }),
  (r) => ({ event: "vitals", player: r.entity(), health: r.unsigned(), score: r.signed() }),
  (r) => ({ event: "announced", line: r.text() }),
  (r) => ({ event: "round", phase: variant(r, PHASES, "phase"), ends: r.unsigned(), next: r.text() }),
  (r) => ({ event: "game", kind: r.byte(), data: gameData(r) }),
];

/**
 * The hash of the game's data, or null if there are none.
 *
 * @param {Reader} reader
 */
function gameHash(reader) {
  const some = reader.byte();
  if (some > 1) throw new Malformed("an option byte that is neither 0 nor 1");
  return some === 0 ? null : reader.raw(32);
}

/**
 * The names of the matches of a server.
 *
 * @param {Reader} reader
 */
function matchNames(reader) {
  const count = reader.unsigned();
  if (count > 8) throw new Malformed("too many matches");
  return Array.from({ length: count }, () => reader.text());
}

/**
 * The content of an event that the game itself defines.
 *
 * @param {Reader} reader
 */
function gameData(reader) {
  const length = reader.unsigned();
  if (length > 256) throw new Malformed("an event that is too long");
  return reader.raw(length);
}

/**
 * Reads a number and returns the entry of a list that it names.
 *
 * @template T
 * @param {Reader} reader
 * @param {T[]} list
 * @param {string} what
 */
function variant(reader, list, what) {
  const entry = list[reader.unsigned()];
  if (entry === undefined) throw new Malformed(`an unknown ${what}`);
  return entry;
}

/** @type {Read[]} */
const MESSAGES = [
  (r) => ({
    message: "hello",
    player: r.entity(),
    tickRate: r.unsigned(),
    snapshotRate: r.unsigned(),
    tick: r.unsigned(),
    map: r.raw(32),
    mapName: r.text(),
    origin: [r.signed(), r.signed(), r.signed()],
    bits: r.raw(3),
    playerLimit: r.unsigned(),
    ticket: r.raw(16),
    rejoinSeconds: r.unsigned(),
    schema: readSchema(r),
    game: gameHash(r),
  }),
  (r) => ({ message: "refused", ...variant(r, REFUSALS, "refusal")(r) }),
  (r) => ({ message: "closing", ...variant(r, CLOSINGS, "reason to close")(r) }),
  (r) => ({ message: "event", tick: r.unsigned(), ...variant(r, EVENTS, "event")(r) }),
  (r) => ({ message: "new-world", map: r.raw(32), mapName: r.text() }),
];

/**
 * Decodes a message of the server.
 *
 * @param {Uint8Array} content of a frame
 * @returns {Record<string, any>} `message` names the kind: `hello`, `refused` (with a `reason`), `closing` (with
 *   a `reason`), `event` (with a `tick`, and the kind as `event`) or `new-world`
 * @throws {Malformed} if the content is not such a message
 */
export function serverMessage(content) {
  const reader = new Reader(content);
  const message = variant(reader, MESSAGES, "message")(reader);
  reader.end();
  return message;
}
