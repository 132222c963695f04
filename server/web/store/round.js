/** The round: its phase, when that ends, the map that comes next, and the result. */

/** The round that is shown. */
export class Round {
  constructor() {
    this.reset();
  }

  /** Forgets the round, for another match. */
  reset() {
    /** @type {?("warm-up" | "playing" | "intermission")} null if the match has not said it */
    this.phase = null;
    /** The tick in which the phase ends by time; 0 if it does not. */
    this.ends = 0;
    /** The name of the next map; null if it is not known. */
    this.next = null;
    /** @type {?import("./roster.js").Player[]} the players when the round ended, the best first */
    this.result = null;
  }

  /**
   * Enters a phase.
   *
   * @param {{phase: string, ends: ?number, next?: ?string}} event in the form of `wire/control.js`
   * @param {import("./roster.js").Roster} roster
   */
  enter({ phase, ends, next }, roster) {
    [this.phase, this.ends, this.next] = [phase?.replace("_", "-") ?? null, ends ?? 0, next || null];
    this.result = this.phase === "intermission" ? roster.ranking().map((player) => ({ ...player })) : null;
  }
}
