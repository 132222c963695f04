/**
 * The simulation, compiled to WebAssembly from the server's own code (`wasm/`). Bytes pass in and
 * out through two buffers in its memory.
 */

const READ = new TextDecoder();

/** @type {Map<string, Promise<WebAssembly.Module>>} the modules that were fetched, by name */
const MODULES = new Map();

/**
 * Fetches and compiles a module, unless that has been done.
 *
 * @param {string} name
 */
export function compiled(name) {
  let module = MODULES.get(name);
  if (!module) {
    module = WebAssembly.compileStreaming(fetch(new URL(`../wasm/${name}.wasm`, import.meta.url).href));
    MODULES.set(name, module);
    // After a failure the next call tries again.
    module.catch(() => MODULES.delete(name));
  }
  return module;
}

/** One instance of the simulation. */
export class Engine {
  /** @param {WebAssembly.Exports} exports */
  constructor(exports) {
    this.exports = /** @type {Exports} */ (exports);
  }

  /**
   * @param {string} module name of the module: `play` plays in a match, `replay` plays recordings
   * @returns {Promise<Engine>}
   */
  static async load(module = "replay") {
    return new Engine((await WebAssembly.instantiate(await compiled(module))).exports);
  }

  /**
   * Passes bytes as the input of the next call.
   *
   * @param {Uint8Array} bytes
   */
  give(bytes) {
    const at = this.exports.input(bytes.length);
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
  }

  /** @returns {Uint8Array} a copy of the output of the last call */
  taken() {
    const { memory, output, output_length } = this.exports;
    return new Uint8Array(memory.buffer, output(), output_length()).slice();
  }

  /** The output of the last call, as a text. */
  text() {
    return READ.decode(this.taken());
  }

  /**
   * Reads a recording.
   *
   * @param {Uint8Array} bytes
   * @returns {Recording}
   * @throws {Error} if the bytes are not a recording
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
   * @throws {Error} if it is another map
   */
  openMap(bytes) {
    this.give(bytes);
    if (!this.exports.open_map()) throw new Error(this.text());
  }

  /**
   * Verifies the next `ticks` ticks.
   *
   * @param {number} ticks
   * @returns {Progress}
   */
  verify(ticks) {
    this.exports.verify(ticks);
    return JSON.parse(this.text());
  }

  /**
   * The state after a tick, to which the simulation goes from the nearest known state.
   *
   * @param {number} wanted tick
   * @param {boolean} [hot] whether the work of the cascade is wanted
   * @returns {Frame}
   */
  show(wanted, hot = false) {
    const tick = this.exports.show(wanted);
    const numbers = new Float32Array(this.taken().buffer);
    this.exports.events();
    const events = JSON.parse(this.text());
    this.exports.contacts();
    const contacts = JSON.parse(this.text());
    if (hot) this.exports.cascade();
    return { tick, numbers, events, contacts, cascade: hot ? JSON.parse(this.text()) : null };
  }

  /**
   * A cut through the onion at a height.
   *
   * @param {number} height
   */
  cut(height) {
    this.exports.cut(height);
    return JSON.parse(this.text());
  }

  /**
   * Begins a branch after a tick.
   *
   * @param {Asked} asked
   * @throws {Error} if there can be no such branch
   */
  branch({ slot, change, ticks, tick }) {
    if (!this.exports.branch(slot, change, ticks, tick)) throw new Error(this.text());
  }

  /**
   * The state of the branch after a tick; null where there is none.
   *
   * @param {number} tick
   */
  showBranch(tick) {
    return this.exports.show_branch(tick) ? new Float32Array(this.taken().buffer) : null;
  }

  /** Ends the branch. */
  endBranch() {
    this.exports.end_branch();
  }

  /**
   * Why the entity in a slot moves or rests after a tick; null if there is no such entity.
   *
   * @param {number} slot
   * @param {number} tick
   * @returns {?Reasons}
   */
  why(slot, tick) {
    this.exports.why(slot, tick);
    return JSON.parse(this.text());
  }

  /**
   * Searches back for the tick in which the entity in a slot last moved, by one keyframe at a call.
   * Returns undefined while the search goes on, and null if there is no such entity.
   *
   * @param {number} slot
   * @param {number} tick
   * @returns {?LastMoved | undefined}
   */
  lastMoved(slot, tick) {
    return this.exports.last_moved(slot, tick) ? JSON.parse(this.text()) : undefined;
  }
}

/**
 * The functions of the module, and its memory.
 *
 * @typedef {{memory: WebAssembly.Memory} & Record<string, (...values: number[]) => any>} Exports
 *
 * @typedef {object} Frame the state after a tick
 * @property {number} tick
 * @property {Float32Array} numbers which describe the entities, as `frames.js` says
 * @property {?Float32Array} [other] the numbers of the branch, if there is one
 * @property {{tick: number}[]} events
 * @property {{points: number[][]}} contacts
 * @property {?object} cascade
 *
 * @typedef {object} Asked a branch
 * @property {number} slot of the body that is changed
 * @property {number} change 0 nothing, 1 removed, 2 stands still, 3 holds fire, 4 jumps
 * @property {number} ticks how long the change lasts, if it is a change of keys
 * @property {number} tick after which the branch begins
 *
 * @typedef {object} LastMoved
 * @property {?number} moved the tick in which the entity last moved; null if it has not moved
 * @property {number} since the tick since which it has not moved
 *
 * @typedef {object} Touched something that a body touches; `other` and `solid` are null if it has gone
 * @property {?number} other slot of the body
 * @property {?number} solid number of the solid of the world
 * @property {number[]} normal
 * @property {number} gap
 * @property {number} impulse
 * @property {string} stage
 *
 * @typedef {object} Reasons why an entity moves or rests
 * @property {boolean} asleep
 * @property {string} because
 * @property {string} sleeps
 * @property {number[]} island slots of the bodies that wake with it
 * @property {number} speed
 * @property {[number, number, number]} rests
 * @property {number} needed
 * @property {boolean} held
 * @property {boolean} moves
 * @property {?{other: ?number, solid: ?number, share: number, normal: number[]}} stopped
 * @property {Touched[]} touching
 *
 * @typedef {object} Recording
 * @property {string} map name of the map
 * @property {string} hash of the map, hexadecimal
 * @property {number} first tick after which the recording begins: 0 unless it is an excerpt
 * @property {number} ticks the last tick
 * @property {number} tickRate
 * @property {string} build the build that recorded the match
 * @property {?string} incomplete the reason why the recording breaks off, if it does
 * @property {[number, number, number, string?][]} deaths tick, slot, slot of the killer, and what
 *   killed
 * @property {[number, number, string][]} names tick, slot, name
 * @property {[number, ?number, string][]} chat tick, slot of the speaker, line
 * @property {Round[]} [rounds]
 *
 * @typedef {[number, string, number, string]} Round the tick in which a phase of the match begins, its
 *   name, the tick in which it ends by time or 0, and the map of the next round if it is known
 *
 * @typedef {object} Progress
 * @property {number} tick up to which the recording was verified
 * @property {number} verified digests that are equal
 * @property {string} digest of the match at that tick, hexadecimal
 * @property {number} audited ticks that were audited by brute force
 * @property {?string} finding the audit's first finding, if there is one
 * @property {?string} difference the first known difference, if there is one
 * @property {?string} broken the reason why the rest cannot be played, if there is one
 */
