/** Finds the body that a click means. */

import { project } from "../draw/algebra.js";

/** A click within this many pixels of a body means that body. */
const REACH = 34;

/**
 * The body that is nearest to a point of the picture, or null if none is near.
 *
 * @param {import("../match/motion.js").Shown[]} shown
 * @param {Float32Array} matrix of the view
 * @param {[number, number]} point in pixels, from the upper left
 * @param {HTMLElement} picture
 */
export function nearest(shown, matrix, [x, y], { clientWidth: width, clientHeight: height }) {
  let best = null;
  let least = REACH;
  for (const one of shown) {
    const at = project(matrix, one.position);
    const away = at ? Math.hypot((at[0] * 0.5 + 0.5) * width - x, (0.5 - at[1] * 0.5) * height - y) : Infinity;
    if (away < least) [best, least] = [one, away];
  }
  return best;
}
