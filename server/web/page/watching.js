/** A page that watches: the snapshots of the match, shown a little in the past. */

import { Watcher } from "../link/keep_watching.js";
import { MatchClock } from "../match/clock.js";
import { Motion } from "../match/motion.js";
import { valuesOf } from "../match/values.js";

/** The match as spectators see it. */
export class Watching {
  /**
   * @param {import("../store/store.js").Store} store
   * @param {object} page
   * @param {(info: object) => Promise<void>} page.prepare fetches the scene that `/info` names
   * @param {() => void} page.begin forgets what was drawn, for another world
   * @param {(line: import("../store/store.js").Line) => void} page.tellLine notes the line's state
   * @param {import("../layers/layers.js").Layers} page.layers
   */
  constructor(store, page) {
    this.store = store;
    this.page = page;
    this.clock = new MatchClock();
    this.motion = new Motion();
    /**
     * The server's `/info`.
     *
     * @type {any}
     */
    this.info = null;
    /**
     * Why the page does not play any more; shown as soon as the page watches.
     *
     * @type {?string}
     */
    this.farewell = null;
    this.watcher = new Watcher({
      prepare: (info) => page.prepare((this.info = info)),
      joined: (hello) => this.joined(hello),
      newWorld: (world) => this.newWorld(/** @type {any} */ (world)),
      event: (event) => this.hear(/** @type {import("../store/store.js").MatchEvent} */ (event)),
      snapshot: (snapshot) => this.take(snapshot),
      effects: (effects) => this.watcher.stopped || page.layers.take(effects),
      status: (line) => page.tellLine(this.explained(line)),
    });
  }

  /** The history of what the server has sent; null before it has accepted the page. */
  get history() {
    return this.watcher.connection?.history ?? null;
  }

  /** The newest tick of the match, or null. */
  get newestTick() {
    return this.history?.latest ?? null;
  }

  /**
   * The line, with the reason why a player left even if the server takes no spectators.
   *
   * @param {import("../store/store.js").Line} line
   */
  explained(line) {
    const why = line.state === "lost" && this.farewell;
    return why ? { ...line, message: why, advice: line.message } : line;
  }

  /** @param {any} hello of the server */
  joined(hello) {
    this.clock.reset();
    this.clock.tickRate = this.store.tickRate = hello.tickRate;
    this.motion.reset(hello);
    this.page.begin();
    // The card on which the page opens says why the visitor could not join.
    if (this.farewell && !this.store.refused) this.store.log.note(this.farewell, performance.now() / 1000);
    this.farewell = null;
  }

  /**
   * Follows the match into another world, perhaps on another map.
   *
   * @param {{map: number[], mapName: string}} world
   */
  newWorld({ map, mapName }) {
    const hash = map.map((byte) => byte.toString(16).padStart(2, "0")).join("");
    this.page.prepare({ ...this.info, map: mapName, map_hash: hash }).catch((error) => console.error(error));
  }

  /** @param {import("../store/store.js").MatchEvent} event */
  hear(event) {
    // A connection that is being closed may still bring events when the page already plays.
    if (!this.watcher.stopped) this.store.take(event);
  }

  /** @param {any} snapshot */
  take(snapshot) {
    this.clock.arrived(snapshot.tick, performance.now() / 1000);
    this.motion.take(snapshot);
  }

  /**
   * Advances the match.
   *
   * @param {number} now seconds
   * @param {number} passed seconds since the last call
   * @returns {?{tick: number, shown: import("../match/motion.js").Shown[]}} null before anything is
   *   known
   */
  advance(now, passed) {
    const tick = this.clock.advance(now, passed);
    if (tick === null) return null;
    this.store.advance(tick, now);
    return { tick, shown: this.motion.at(tick) };
  }

  /** Reads the values of the game that are known. */
  show() {
    this.store.values = valuesOf(this.history, this.store.followed, this.store.roster.players.keys());
  }
}
