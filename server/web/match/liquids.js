/** The liquids of a map: in which of them a place is, and what their surfaces look like. */

/**
 * @typedef {object} Liquid a convex volume
 * @property {"water" | "slime" | "lava"} kind
 * @property {number[][]} planes that bound it: the outward normal, and the distance from the origin
 * @property {number[][][]} surfaces its faces that look up into air, as points
 */

/**
 * How each liquid looks. `colour` is red, green and blue. `opacity` is the share of the picture
 * behind its surface that the surface hides. `tint` is the share of the whole view that the liquid
 * hides from an eye in it.
 *
 * @type {Record<string, {colour: number[], opacity: number, tint: number}>}
 */
export const LOOKS = {
  water: { colour: [0.16, 0.4, 0.5], opacity: 0.55, tint: 0.42 },
  slime: { colour: [0.3, 0.46, 0.1], opacity: 0.78, tint: 0.6 },
  lava: { colour: [0.95, 0.34, 0.06], opacity: 0.92, tint: 0.75 },
};

/**
 * The liquid at a place.
 *
 * @param {Liquid[]} liquids
 * @param {number[]} place units
 * @returns {?string} its kind; null in air
 */
export function liquidAt(liquids, [x, y, z]) {
  const found = liquids.find(({ planes }) => planes.every(([a, b, c, distance]) => a * x + b * y + c * z <= distance));
  return found?.kind ?? null;
}
