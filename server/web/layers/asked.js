/**
 * What the server works out only when asked: contact points, what the filter
 * cascade is busy with, cuts through the onion.
 */

import { ofMatch } from "../link/match.js";

/** Milliseconds between two questions for what changes all the time. */
const ASK_EVERY = 250;

/** Asks for one path again and again while it is wanted. */
export class Asked {
  /**
   * @param {() => ?string} path to be asked for, or null while it is not wanted
   * @param {boolean} [once] whether an answer is good for as long as the path
   */
  constructor(path, once = false) {
    Object.assign(this, { path, once });
    /** What the server answered last, while it is wanted. */
    this.answer = null;
    this.answered = null;
  }

  /** Runs for as long as the page is open. */
  async run() {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY));
      const path = document.hidden ? null : this.path();
      if (path === null) [this.answer, this.answered] = [null, null];
      if (path === null || (this.once && this.answered === path)) continue;
      try {
        const answer = await fetch(ofMatch(path), { cache: "no-store", signal: AbortSignal.timeout(5000) });
        if (answer.ok) [this.answer, this.answered] = [await answer.json(), path];
      } catch {
        // The connection's own trouble is told elsewhere.
      }
    }
  }
}
