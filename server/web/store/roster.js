/** The players with their names, health and scores. */

/** Health of a player until an event tells it. */
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
  }

  /**
   * Replaces the players by those of a replay. Players without a name are called by their slots.
   *
   * @param {(Omit<Player, "name"> & {name?: string})[]} players
   */
  assign(players) {
    const there = new Set(players.map(({ slot }) => slot));
    for (const slot of this.players.keys()) if (!there.has(slot)) this.players.delete(slot);
    for (const player of players) {
      const name = player.name ?? `player ${player.slot + 1}`;
      this.players.set(player.slot, { ...player, name });
    }
  }

  /**
   * @param {import("./store.js").Id} id
   * @returns {?Player}
   */
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

  /**
   * Applies an event of the match.
   *
   * @param {import("./store.js").MatchEvent} event
   */
  happen({ event, player: id, name = "", health = 0, score = 0 }) {
    const player = id ? this.find(id) : null;
    if (event === "joined" && id && !player) {
      const { slot, generation = 0 } = id;
      this.players.set(slot, { slot, generation, name, health: FULL_HEALTH, score: 0, deaths: null });
    }
    if (!player) return;
    if (event === "left") this.players.delete(player.slot);
    if (event === "vitals") [player.health, player.score] = [health, score];
    if (event === "died") player.health = 0;
  }
}
