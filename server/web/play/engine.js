/**
 * The client library of the bots, compiled to WebAssembly. Bytes and times go in; bytes and the
 * entities to draw come out. It predicts the page's own player with the server's own code.
 */

import { described } from "../match/described.js";
import { compiled, Engine } from "../replay/engine.js";
import { Reader } from "../wire/control.js";
import { NO_SCHEMA, readSchema } from "../wire/fields.js";

/** Kinds of messages to send. */
export const [STREAM, DATAGRAM, FINISH, CLOSE] = [1, 2, 3, 4];

/** Maximum number of ticks that one call plays, after a pause of the page. */
const CATCH_UP = 8;

/**
 * A reason of the library as a sentence.
 *
 * @param {string} text
 */
function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

/** One player. */
export class PlayEngine extends Engine {
  /** @returns {Promise<PlayEngine>} */
  static async load() {
    return new PlayEngine((await Engine.load("play")).exports);
  }

  /** Fetches the library, so that the next player begins at once. */
  static prefetch() {
    // The failure is ignored: the next player tries again, and is told.
    compiled("play").catch(() => {});
  }

  /**
   * Asks to join.
   *
   * @param {string} name
   * @param {string} match the name of a match, empty for the server's first
   * @param {Uint8Array} token a connect token, empty if there is none
   * @throws {Error} if no server would take one of the names
   */
  join(name, match, token) {
    const names = new TextEncoder().encode(`${name}\0${match}\0`);
    this.give(new Uint8Array([...names, ...token]));
    if (!this.exports.join(performance.now())) throw new Error(this.text());
  }

  /** Asks to join once more on a new connection, after one was lost. */
  rejoin() {
    this.exports.rejoin(performance.now());
  }

  /**
   * Passes on bytes that came on the control stream or as a datagram.
   *
   * @param {Uint8Array} bytes
   * @param {boolean} isDatagram
   */
  receive(bytes, isDatagram) {
    this.give(bytes);
    this.exports.receive(Number(isDatagram), performance.now());
  }

  /**
   * Passes on the map and the game's data. The data are empty if the game has none.
   *
   * @param {Uint8Array} map
   * @param {Uint8Array} game
   * @throws {Error} if their hashes are not those that the server named
   */
  useMap(map, game) {
    const bytes = new Uint8Array(game.length + map.length);
    bytes.set(game);
    bytes.set(map, game.length);
    this.give(bytes);
    if (!this.exports.use_map(game.length, performance.now())) throw new Error(this.text());
  }

  /**
   * Plays the ticks that are due, with these keys.
   *
   * @param {ReturnType<import("./keys.js").Keys["input"]>} input
   */
  tick({ forward, right, yaw, pitch, buttons }) {
    let played = 0;
    while (played < CATCH_UP && this.exports.tick(forward, right, yaw, pitch, buttons, performance.now())) played++;
    return played;
  }

  /** The tick of the last command that was sent; -1 before the first. */
  get sentTick() {
    return this.exports.sent_tick();
  }

  /** Milliseconds until the next tick is due; null while none is. */
  get untilTick() {
    const due = this.exports.next_tick?.() ?? -1;
    return due < 0 ? null : due - performance.now();
  }

  /** All messages to send: kind and bytes. */
  *sent() {
    for (let kind; (kind = this.exports.transmit()) !== 0; ) yield { kind, bytes: this.taken() };
  }

  /** The events of the connection. */
  *events() {
    while (this.exports.event()) yield JSON.parse(this.text());
  }

  /**
   * The events of the match up to the moment that is shown.
   *
   * @param {import("../wire/fields.js").Schema} schema of the game
   */
  *matchEvents(schema) {
    while (this.exports.match_event(performance.now())) {
      const event = JSON.parse(this.text());
      if (event.event !== "game" || described(event, schema)) yield event;
    }
  }

  /**
   * The effects that have come since the last call.
   *
   * @returns {import("../wire/effects.js").Effect[]}
   */
  effects() {
    this.exports.effects();
    return JSON.parse(this.text());
  }

  /** The entities to draw: the page's own player first, if it is in the world. */
  view() {
    const now = performance.now();
    const tick = this.exports.render_tick(now);
    const isThere = Boolean(this.exports.view(now));
    return { tick, isThere, numbers: new Float32Array(this.taken().buffer) };
  }

  /** The slot of the page's own player, or null. */
  get slot() {
    const slot = this.exports.slot();
    return slot < 0 ? null : slot;
  }

  /** Figures of the connection and the prediction. */
  stats() {
    this.exports.stats();
    return JSON.parse(this.text());
  }

  /**
   * Sends a line of chat to all players.
   *
   * @param {string} line
   * @returns {?string} why no server would take it, as a sentence; null if it is sent
   */
  say(line) {
    this.give(new TextEncoder().encode(line));
    return this.exports.say() ? null : sentence(this.text());
  }

  /**
   * Checks the name of a player.
   *
   * @param {string} name
   * @returns {?string} why no server would take it, as a sentence; null if nothing is wrong
   */
  faultOfName(name) {
    this.give(new TextEncoder().encode(name));
    return this.exports.check_name() ? null : sentence(this.text());
  }

  /**
   * The values that the game replicates to the page's own player.
   *
   * @returns {?import("../match/values.js").Values} null before the match is known
   */
  values() {
    this.exports.values(performance.now());
    return JSON.parse(this.text());
  }

  /**
   * The game's declarations of values, events and actions.
   *
   * @returns {import("../wire/fields.js").Schema} `NO_SCHEMA` before the server's hello
   */
  schema() {
    this.exports.schema();
    const bytes = this.taken();
    return bytes.length > 0 ? readSchema(new Reader(bytes)) : NO_SCHEMA;
  }

  /** Leaves the match. */
  leave() {
    this.exports.leave();
  }
}
