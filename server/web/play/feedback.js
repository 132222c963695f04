/**
 * The marks of hits: a mark for a hit on another player, and the directions from which the player
 * was hit.
 */

import { find } from "../hud/find.js";

/** Maximum number of marks of directions that are shown at once. */
const MARKS = 6;

/** Whether the visitor wants less motion: then marks only fade. */
const STILL = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)") ?? { matches: false };

/** The marks around the crosshair. */
export class Feedback {
  /** @param {HTMLElement} panel of the player */
  constructor(panel) {
    this.aim = find(".aim", HTMLElement, panel);
    this.mark = find(".hit", HTMLElement, panel);
    this.pain = find(".pain", HTMLElement, panel);
    /** Counts of hits by the player and of hits on the player, for tests. */
    this.counts = { landed: 0, suffered: 0 };
  }

  /**
   * Shows that the player has hit another player.
   *
   * @param {boolean} isLast whether the hit killed
   */
  landed(isLast) {
    this.counts.landed++;
    this.mark.classList.toggle("last", isLast);
    this.mark.animate(STILL.matches ? [{ opacity: 1 }, { opacity: 0 }] : [{ opacity: 1, scale: 1.35 }, { opacity: 0, scale: 1 }], isLast ? 420 : 240);
  }

  /**
   * Shows that the player was hit.
   *
   * @param {number} share of a full health that is lost
   * @param {?number} turn radians to the left from the direction of the view to the attacker;
   *   null if the player is the attacker
   */
  suffered(share, turn) {
    this.counts.suffered++;
    this.pain.animate([{ opacity: Math.min(0.35 + share * 1.5, 1) }, { opacity: 0 }], 550);
    if (turn === null || this.aim.querySelectorAll(".from").length >= MARKS) return;
    const mark = document.createElement("i");
    mark.className = "from";
    mark.style.rotate = `${-turn}rad`;
    this.aim.append(mark);
    mark.animate([{ opacity: 1 }, { opacity: 0 }], 1300).finished.then(
      () => mark.remove(),
      () => mark.remove(),
    );
  }
}
