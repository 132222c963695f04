/** The log: what happened in the match, with the names that the players had then. */

/** Entries that are kept. */
const KEPT = 60;

/**
 * One thing that happened. `page` marks a line of the page itself, about an act of its visitor.
 *
 * @typedef {object} Entry
 * @property {"died" | "left" | "said" | "announced" | "game" | "page"} what
 * @property {number} at seconds
 * @property {string} [name] of the player
 * @property {number} [slot] of the player
 * @property {?string} [by] name of the killer; null after a death by the player's own doing
 * @property {number} [bySlot] slot of the killer
 * @property {?string} [means] what killed
 * @property {string} [line] that was said or announced, or the text of a game's event
 */

/**
 * The weapon with which players killed themselves; null if a door, a lift or a trigger of the map did.
 *
 * @param {string} [means]
 */
export const ownMeans = (means) => (means && !/^(func|trigger)_/.test(means) ? means : null);

/** The latest entries. */
export class Log {
  constructor() {
    this.reset();
  }

  /** Forgets everything. */
  reset() {
    /** @type {Entry[]} oldest first */
    this.entries = [];
  }

  /**
   * Adds an event of the match, if the log has events of its kind.
   *
   * @param {import("./store.js").MatchEvent} event
   * @param {?import("./roster.js").Player} player of the event
   * @param {?import("./roster.js").Player} by the killer
   * @param {number} now seconds
   */
  add(event, player, by, now) {
    const { event: what, line } = event;
    if (what === "announced") this.push({ what, line, at: now });
    if (what === "game" && line) this.push({ what, line, at: now });
    if (!player) return;
    const of = { name: player.name, slot: player.slot, at: now };
    if (what === "left") this.push({ ...of, what });
    if (what === "said") this.push({ ...of, what, line });
    if (what !== "died") return;
    const killer = by && by !== player ? by : null;
    const means = killer ? event.means : ownMeans(event.means);
    this.push({ ...of, what, by: killer?.name ?? null, bySlot: killer?.slot, means: means || null });
  }

  /**
   * Adds a line of the page itself.
   *
   * @param {string} line
   * @param {number} now seconds
   */
  note(line, now) {
    this.push({ what: "page", line, at: now });
  }

  /** @param {Entry} entry */
  push(entry) {
    this.entries.push(entry);
    if (this.entries.length > KEPT) this.entries.shift();
  }
}

/** How liquids kill, by the means of a death. */
const WAYS = { water: "drowned", slime: "melted in slime", lava: "burnt in lava" };

/**
 * How a liquid killed a player; null if no liquid did.
 *
 * @param {?string} [means]
 * @returns {?string}
 */
export const wayToDie = (means) => (means && Object.hasOwn(WAYS, means) ? WAYS[/** @type {keyof typeof WAYS} */ (means)] : null);
