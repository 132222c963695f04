/**
 * The store: the facts that the page's texts are about. It has the line to the server, the match,
 * the page's own player and what the page shows. Links, replays and the player write to the store.
 * `tell/` reads it, and decides what is told, and where.
 */

import { NO_VALUES } from "../match/values.js";
import { toastOf } from "../match/described.js";
import { Log, ownMeans } from "./log.js";
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
 * @property {boolean} isNewToFingers whether fingers steer, and have not turned the view yet
 * @property {string} keys of the actions, for people
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

/**
 * An event of the match, in the form of `wire/control.js`. Events of the client library also have
 * this form.
 *
 * @typedef {object} MatchEvent
 * @property {string} event the kind
 * @property {number} [tick] not in a replay
 * @property {Id} [player]
 * @property {Id} [by] the killer
 * @property {string} [means] what killed
 * @property {string} [name] of a player, or of an event of the game
 * @property {string} [line]
 * @property {number} [kind] of an event of the game
 * @property {number[]} [data] the content of an event of the game
 * @property {?Record<string, any>} [content] the same by the names of its fields
 * @property {string} [toast] the text by which an event of the game is told
 * @property {string} [sound] of an event of the game
 * @property {number} [health]
 * @property {number} [score]
 * @property {string} [phase]
 * @property {?number} [ends] the tick in which the phase ends by time; 0 if it does not
 * @property {?string} [next] the map of the next round
 *
 * @typedef {{slot: number, generation?: number}} Id
 */

/** Seconds until a dead player is back by the usual rules; used until the page sees a return. */
const USUAL_WAIT = 2;

/** The facts that the page's texts are about. */
export class Store {
  constructor() {
    /** @type {Line} */
    this.line = { state: "connecting" };
    this.roster = new Roster();
    this.round = new Round();
    this.log = new Log();
    /**
     * The tick of the match that is shown; null before the first.
     *
     * @type {?number}
     */
    this.tick = null;
    /** Ticks a second. */
    this.tickRate = 60;
    /** @type {?Own} null for a spectator */
    this.own = null;
    /** @type {"watch" | "play" | "replay"} what the page does */
    this.mode = "watch";
    /**
     * The slot of the player whom a spectator follows, if any.
     *
     * @type {?number}
     */
    this.followed = null;
    /**
     * The server's `/info`; null until the server has answered.
     *
     * @type {?Record<string, any>}
     */
    this.server = null;
    /** The name that the visitor has chosen to play under. */
    this.chosenName = "";
    /** Whether the visitor wants to watch. */
    this.wantsToWatch = false;
    /** Why the visitor could not join as a player. */
    this.refused = "";
    /** @type {import("../match/values.js").Values} the values that the game replicates */
    this.values = NO_VALUES;
    /** @type {MatchEvent[]} the events whose ticks are not shown yet */
    this.waiting = [];
    /** @type {Map<number, number>} deaths of players who have not respawned yet: their ticks by slot */
    this.deaths = new Map();
    /** Seconds until a dead player is back. */
    this.wait = USUAL_WAIT;
  }

  /** Forgets the match, for another one. */
  forget() {
    this.roster.reset();
    this.round.reset();
    this.log.reset();
    [this.waiting, this.values, this.tick] = [[], NO_VALUES, null];
    this.deaths.clear();
    this.wait = USUAL_WAIT;
    if (this.own) this.own.death = null;
  }

  /**
   * Stores an event until its tick is shown.
   *
   * @param {MatchEvent} event
   */
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
    const due = this.waiting.findIndex((event) => (event.tick ?? 0) > tick);
    const events = this.waiting.splice(0, due < 0 ? this.waiting.length : due);
    for (const event of events) this.happen(event, now);
  }

  /**
   * Applies an event of the match.
   *
   * @param {MatchEvent} event
   * @param {number} now seconds
   */
  happen(event, now) {
    if (event.event === "game") event.line = toastOf(event, (id) => this.roster.find(id)?.name ?? "a player");
    const [player, by] = [event.player, event.by].map((id) => (id ? this.roster.find(id) : null));
    this.log.add(event, player, by, now);
    if (event.event === "round") this.round.enter(event, this.roster);
    if (event.event === "died") this.died(event, player, by);
    if (event.event === "vitals" && (event.health ?? 0) > 0) this.returned(event);
    this.roster.happen(event);
  }

  /**
   * @param {MatchEvent} event
   * @param {?import("./roster.js").Player} player
   * @param {?import("./roster.js").Player} by
   */
  died({ player: id, tick, means }, player, by) {
    if (!id || tick === undefined) return;
    this.deaths.set(id.slot, tick);
    if (!this.own || id.slot !== this.own.slot) return;
    const killer = by && by !== player ? by : null;
    this.own.death = { by: killer?.name ?? null, means: (killer ? means : ownMeans(means)) || null, tick };
  }

  /**
   * Learns from the return of a player how long dead players wait in this match.
   *
   * @param {MatchEvent} event
   */
  returned({ player: id, tick }) {
    const died = id && this.deaths.get(id.slot);
    if (!id || died === undefined || tick === undefined) return;
    this.wait = (tick - died) / this.tickRate;
    this.deaths.delete(id.slot);
    if (this.own && id.slot === this.own.slot) this.own.death = null;
  }

  /**
   * Seconds until a player who died at a tick is back; zero or less once that is overdue.
   *
   * @param {number} tick
   */
  untilReturn(tick) {
    return this.wait - ((this.tick ?? tick) - tick) / this.tickRate;
  }
}
