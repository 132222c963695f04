/**
 * The store: all that is true and that words may be about. It has the line to the server, the match,
 * the page's own player and what the page shows. Links, replays and the player write it. `tell/`
 * decides from it what is told, and where.
 */

import { NO_VALUES } from "../match/values.js";
import { Log } from "./log.js";
import { Roster } from "./roster.js";
import { Round } from "./round.js";

/**
 * The line to the server.
 *
 * @typedef {object} Line
 * @property {"connecting" | "live" | "lost" | "rejoining" | "unsupported" | "replay"} state
 * @property {string} [message] what is wrong
 * @property {string} [advice] what can be done about it
 * @property {number} [retryAt] time of the next attempt, by `performance.now()`
 * @property {number} [until] time at which attempts to rejoin end, by `performance.now()`
 * @property {?number} [halted] seconds for which the match has stood still although the server
 *   answers
 */

/**
 * The page's own player.
 *
 * @typedef {object} Own
 * @property {string} name under which the player joined
 * @property {?number} slot
 * @property {boolean} isJoined whether the player is in the match
 * @property {boolean} isThere whether the player is alive
 * @property {boolean} isSteered whether mouse, fingers or a gamepad steer the player
 * @property {string} weapon
 * @property {?number} idleFor seconds until the player leaves for doing nothing; null while active
 * @property {string} warning about a bad connection; empty for a good one
 * @property {?Death} death the last death, until the player is back
 */

/**
 * A death of the page's own player.
 *
 * @typedef {object} Death
 * @property {?string} by name of the killer; null after a death by the player's own doing
 * @property {?string} means what killed, if the server says so
 * @property {number} tick
 */

/** Seconds until a dead player is back by the usual rules, until a return has been seen. */
const USUAL_WAIT = 2;

/** What is true. */
export class Store {
  constructor() {
    /** @type {Line} */
    this.line = { state: "connecting" };
    this.roster = new Roster();
    this.round = new Round();
    this.log = new Log();
    /** The tick of the match that is shown, and ticks a second. */
    [this.tick, this.tickRate] = [null, 60];
    /** @type {?Own} null for a spectator */
    this.own = null;
    /** @type {"watch" | "play" | "replay"} what the page does */
    this.mode = "watch";
    /** The slot of the player whom a spectator follows, if any. */
    this.followed = null;
    /** What the server says about itself at `/info`; null until it has. */
    this.server = null;
    /** The name that the visitor has chosen to play under. */
    this.chosenName = "";
    /** Whether the visitor wants to watch, and why the server refused them as a player. */
    [this.wantsToWatch, this.refused] = [false, ""];
    /** @type {import("../match/values.js").Values} the values that the game replicates */
    this.values = NO_VALUES;
    this.waiting = [];
    this.forget();
  }

  /** Forgets the match, for another one. */
  forget() {
    this.roster.reset();
    this.round.reset();
    this.log.reset();
    [this.waiting, this.values, this.tick] = [[], NO_VALUES, null];
    /** Deaths that wait for a return: their ticks by slot. Seconds until a dead player is back. */
    [this.deaths, this.wait] = [new Map(), USUAL_WAIT];
    if (this.own) this.own.death = null;
  }

  /** Stores an event until its tick is shown. */
  take(event) {
    this.waiting.push(event);
  }

  /**
   * Applies all events up to this tick.
   *
   * @param {number} tick
   * @param {number} now seconds
   */
  advance(tick, now) {
    this.tick = tick;
    while (this.waiting.length > 0 && this.waiting[0].tick <= tick) this.happen(this.waiting.shift(), now);
  }

  /**
   * Applies an event of the match.
   *
   * @param {object} event in the form of `wire/control.js`
   * @param {number} now seconds
   */
  happen(event, now) {
    const [player, by] = [event.player, event.by].map((id) => (id ? this.roster.find(id) : null));
    this.log.add(event, player, by, now);
    if (event.event === "round") this.round.enter(event, this.roster);
    if (event.event === "died") this.died(event, player, by);
    if (event.event === "vitals" && event.health > 0) this.returned(event);
    this.roster.happen(event);
  }

  died({ player: { slot }, tick, means }, player, by) {
    if (tick === undefined) return;
    this.deaths.set(slot, tick);
    if (!this.own || slot !== this.own.slot) return;
    this.own.death = { by: by && by !== player ? by.name : null, means: means || null, tick };
  }

  /** Learns from a return how long the dead wait in this match. */
  returned({ player: { slot }, tick }) {
    const died = this.deaths.get(slot);
    if (died === undefined) return;
    this.wait = (tick - died) / this.tickRate;
    this.deaths.delete(slot);
    if (slot === this.own?.slot) this.own.death = null;
  }

  /** Seconds until a dead player who died at `tick` is back; zero or less once that is overdue. */
  untilReturn(tick) {
    return this.wait - (this.tick - tick) / this.tickRate;
  }
}
