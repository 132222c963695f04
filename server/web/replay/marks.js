/** The marks on the timeline of a replay: the deaths, and the steps from one to another. */

/** Seconds before a death from which the replay shows it, so that the visitor sees its cause. */
const LEAD = 1;

/** Seconds after a mark within which a step back in a playing replay goes to the mark before it. */
const AGAIN = 0.5;

/** Maximum number of pixels between a click and the mark that it hits. */
const NEAR = 7;

/**
 * @typedef {import("./engine.js").Recording} Recording
 * @typedef {[number, number, number, string?]} Death tick, slot, slot of the killer, what killed
 */

/**
 * The tick from which a death is watched.
 *
 * @param {Recording} recording
 * @param {Death} death
 */
export function before({ first, tickRate }, [tick]) {
  return Math.max(first, tick - LEAD * tickRate);
}

/**
 * The place of the next or the previous mark.
 *
 * @param {Recording} recording
 * @param {Death[]} deaths
 * @param {number} at the tick that is shown
 * @param {number} step 1 or -1
 * @param {boolean} isPlaying
 * @returns {?number} the tick to go to; null if there is no such mark
 */
export function neighbour(recording, deaths, at, step, isPlaying) {
  const places = deaths.map((death) => before(recording, death)).sort((one, other) => one - other);
  if (step > 0) return places.find((place) => place > at) ?? null;
  const earlier = places.filter((place) => place < at);
  const isJustLeft = isPlaying && at - (earlier.at(-1) ?? 0) < AGAIN * recording.tickRate;
  return earlier.at(isJustLeft ? -2 : -1) ?? null;
}

/**
 * The mark at a place of the timeline.
 *
 * @param {Recording} recording
 * @param {Death[]} deaths
 * @param {number} x pixels from the left
 * @param {number} width of the timeline in pixels
 * @returns {?Death} the nearest death; null if none is near
 */
export function markAt({ first, ticks }, deaths, x, width) {
  const away = (/** @type {Death} */ [tick]) => Math.abs(((tick - first) / Math.max(1, ticks - first)) * width - x);
  const nearest = deaths.reduce((/** @type {?Death} */ best, death) => (best && away(best) <= away(death) ? best : death), null);
  return nearest && away(nearest) <= NEAR ? nearest : null;
}

/**
 * The name of a player at a tick, by the names of the recording.
 *
 * @param {Recording} recording
 * @param {number} slot
 * @param {number} tick
 */
export function nameAt({ names }, slot, tick) {
  const known = names.filter(([since, of]) => of === slot && since <= tick);
  return known.at(-1)?.[2] ?? `player ${slot + 1}`;
}

/**
 * A death in words.
 *
 * @param {Recording} recording
 * @param {Death} death
 */
export function told(recording, [tick, slot, by]) {
  const victim = nameAt(recording, slot, tick);
  return by === slot ? `${victim} died` : `${nameAt(recording, by, tick)} ▸ ${victim}`;
}
