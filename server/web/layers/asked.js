/**
 * Data that the server computes only on request: contact points, the work of the filter cascade,
 * cuts through the onion.
 */

import { ofMatch } from "../link/match.js";

/** Milliseconds between two requests for data that change all the time. */
const ASK_EVERY = 250;

/** Fetches one path again and again while it is wanted. */
export class Asked {
  /**
   * @param {() => ?string} path to fetch, or null while it is not wanted
   * @param {boolean} [once] whether an answer stays valid while the path is the same
   */
  constructor(path, once = false) {
    Object.assign(this, { path, once });
    /** The server's latest answer, while it is wanted. */
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
        // The failure is ignored: another part of the page shows trouble with the connection.
      }
    }
  }
}
