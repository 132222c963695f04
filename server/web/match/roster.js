/**
 * The players with their names, health and scores, and the latest news. All of this comes in events
 * of the control stream. Each event takes effect when its tick is shown.
 */

import { hueOf } from "../draw/colours.js";

/** Seconds for which a line about an event is shown. */
export const NEWS_SHOWN = 7;

/** Seconds for which a line of chat is shown. */
export const WORDS_SHOWN = 14;

/** Lines of news that are kept. */
const NEWS_KEPT = 40;

/** Health of a player until an event says it. */
const FULL_HEALTH = 100;

/**
 * @typedef {object} Player
 * @property {number} slot
 * @property {number} generation
 * @property {string} name
 * @property {number} health 0 to 100, 0 while dead
 * @property {number} score
 * @property {?number} deaths in the whole match; null if the page does not know all of them, as in
 *   a match that it began to watch later
 * @property {number} hue 0 to 1
 */

/**
 * @typedef {object} News
 * @property {"kill" | "joined" | "left" | "said" | "announced"} what
 * @property {string} text
 * @property {number} at seconds
 */

/** The players of a match. */
export class Roster {
  constructor() {
    this.reset();
  }

  /** Forgets everybody. */
  reset() {
    /** @type {Map<number, Player>} by slot */
    this.players = new Map();
    /** @type {News[]} oldest first */
    this.news = [];
    this.waiting = [];
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
    while (this.waiting.length > 0 && this.waiting[0].tick <= tick) {
      this.happen(this.waiting.shift(), now);
    }
  }

  /**
   * Replaces the players by those of a replay. Players without a name are called by their slots.
   */
  assign(players) {
    const there = new Set(players.map(({ slot }) => slot));
    for (const slot of this.players.keys()) if (!there.has(slot)) this.players.delete(slot);
    for (const player of players) {
      const name = player.name ?? `player ${player.slot + 1}`;
      this.players.set(player.slot, { ...player, name, hue: hueOf(player.slot) });
    }
  }

  /** @returns {?Player} */
  find({ slot, generation }) {
    const player = this.players.get(slot);
    return player && player.generation === generation ? player : null;
  }

  /** @returns {Player[]} the best first */
  ranking() {
    return [...this.players.values()].sort(
      (a, b) => b.score - a.score || (a.deaths ?? 0) - (b.deaths ?? 0) || a.name.localeCompare(b.name, "en", { numeric: true }),
    );
  }

  happen(event, now) {
    const player = event.player ? this.find(event.player) : null;
    const tell = (what, text) => {
      this.news.push({ what, text, at: now });
      if (this.news.length > NEWS_KEPT) this.news.shift();
    };
    switch (event.event) {
      case "joined": {
        const { slot, generation } = event.player;
        const fresh = { slot, generation, name: event.name, health: FULL_HEALTH, score: 0, deaths: null, hue: hueOf(slot) };
        if (!player) this.players.set(slot, fresh);
        break;
      }
      case "left":
        if (player) {
          this.players.delete(player.slot);
          tell("left", `${player.name} left`);
        }
        break;
      case "vitals":
        if (player) [player.health, player.score] = [event.health, event.score];
        break;
      case "died": {
        const by = this.find(event.by);
        if (player) {
          player.health = 0;
          const own = !by || by === player;
          tell("kill", own ? `${player.name} died` : `${by.name} ▸ ${player.name}`);
        }
        break;
      }
      case "said":
        if (player) tell("said", `${player.name}: ${event.line}`);
        break;
      case "announced":
        tell("announced", event.line);
        break;
      case "game":
        tell("announced", (event.name ?? "game event").replaceAll("_", " "));
        break;
    }
  }
}
