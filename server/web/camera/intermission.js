/** The camera at the end of a round: it looks from a place that the map names. */

/**
 * @typedef {object} Intermission
 * @property {number[]} eye
 * @property {number[]} ahead the direction of the view
 * @property {number[]} up the direction that is up in the picture
 */

/** Spreads ticks over all whole numbers of 32 bits: 2³² divided by the golden ratio. */
const SPREAD = 0x9e3779b1;

/**
 * The camera between two rounds. The tick in which the intermission ends chooses among several, so
 * all pages show the same one, and the next round may have another.
 *
 * @param {Intermission[]} cameras of the map
 * @param {import("../store/round.js").Round} round
 * @returns {?Intermission} null while a round is played, and on maps without such a camera
 */
export function intermissionOf(cameras, { phase, ends }) {
  if (phase !== "intermission" || cameras.length === 0) return null;
  return cameras[(Math.imul(ends, SPREAD) >>> 16) % cameras.length] ?? null;
}
