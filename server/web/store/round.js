/** The round: its phase, the end of the phase, the next map, and the result. */

/** The phases of a match. */
const PHASES = /** @type {const} */ (["warm-up", "playing", "intermission"]);

/** The round that is shown. */
export class Round {
  constructor() {
    this.reset();
  }

  /** Forgets the round, for another match. */
  reset() {
    /** @type {?(typeof PHASES[number])} null if the match has not told it */
    this.phase = null;
    /**
     * The tick in which the phase ends by time; 0 if it does not.
     *
     * @type {number}
     */
    this.ends = 0;
    /**
     * The name of the next map; null if it is not known.
     *
     * @type {?string}
     */
    this.next = null;
    /** @type {?import("./roster.js").Player[]} the players when the round ended, the best first */
    this.result = null;
  }

  /**
   * Enters a phase.
   *
   * @param {{phase?: string, ends?: ?number, next?: ?string}} event
   * @param {import("./roster.js").Roster} roster
   */
  enter({ phase, ends, next }, roster) {
    this.phase = PHASES.find((one) => one === phase) ?? null;
    this.ends = ends ?? 0;
    this.next = next || null;
    this.result = this.phase === "intermission" ? roster.ranking().map((player) => ({ ...player })) : null;
  }
}
