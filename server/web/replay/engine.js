/**
 * The simulation, compiled to WebAssembly from the server's own code (`wasm/`): bytes go
 * in and out through two buffers in its memory.
 */

const READ = new TextDecoder();

/** One instance of the simulation. */
export class Engine {
  /** @param {WebAssembly.Exports} exports */
  constructor(exports) {
    this.exports = exports;
  }

  /** @returns {Promise<Engine>} */
  static async load() {
    const { instance } = await WebAssembly.instantiateStreaming(fetch("/web/wasm/page.wasm"));
    return new Engine(instance.exports);
  }

  /** Hands bytes over. */
  give(bytes) {
    const at = this.exports.input(bytes.length);
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
  }

  /** @returns {Uint8Array} a copy of what the last call gave */
  taken() {
    const { memory, output, output_length } = this.exports;
    return new Uint8Array(memory.buffer, output(), output_length()).slice();
  }

  /** What the last call gave, as a text. */
  text() {
    return READ.decode(this.taken());
  }

  /**
   * Reads a recording.
   *
   * @param {Uint8Array} bytes
   * @returns {Recording}
   * @throws {Error} if it is none
   */
  openRecording(bytes) {
    this.give(bytes);
    if (!this.exports.open_recording()) throw new Error(this.text());
    return JSON.parse(this.text());
  }

  /**
   * Sets up the recorded match on its map.
   *
   * @param {Uint8Array} bytes of the `.obsp`
   * @throws {Error} if it is another one
   */
  openMap(bytes) {
    this.give(bytes);
    if (!this.exports.open_map()) throw new Error(this.text());
  }

  /**
   * Verifies so many more ticks.
   *
   * @returns {Progress}
   */
  verify(ticks) {
    this.exports.verify(ticks);
    return JSON.parse(this.text());
  }

  /**
   * The state after a tick: the simulation goes there from the nearest keyframe.
   *
   * @returns {{tick: number, numbers: Float32Array, events: object[], contacts: object}}
   */
  show(wanted) {
    const tick = this.exports.show(wanted);
    const numbers = new Float32Array(this.taken().buffer);
    this.exports.events();
    const events = JSON.parse(this.text());
    this.exports.contacts();
    return { tick, numbers, events, contacts: JSON.parse(this.text()) };
  }

  /** Why the entity in a slot is as it is after a tick; null if there is none. */
  why(slot, tick) {
    this.exports.why(slot, tick);
    return JSON.parse(this.text());
  }
}

/**
 * @typedef {object} Recording
 * @property {string} map its name
 * @property {string} hash of the map, hexadecimal
 * @property {number} ticks
 * @property {number} tickRate
 * @property {string} build that recorded it
 * @property {?string} incomplete why it breaks off, if it does
 * @property {number[][]} deaths tick, slot, slot of the killer
 * @property {[number, number, string][]} names tick, slot, name
 * @property {[number, ?number, string][]} chat tick, slot of the speaker, line
 *
 * @typedef {object} Progress
 * @property {number} tick up to which it was verified
 * @property {number} verified digests that are equal
 * @property {string} digest of the match there, hexadecimal
 * @property {number} audited ticks, by brute force
 * @property {?string} finding the first of the audit, if there is one
 * @property {?string} difference the first, if there is one
 * @property {?string} broken why the rest cannot be played, if that is so
 */
