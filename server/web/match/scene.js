/** The scene: the map and the shapes of bodies, from `/scene/HASH`. */

import { outline, points } from "../draw/mesh.js";
import { isSky } from "../draw/palette.js";
import { ofMatch } from "../link/match.js";

/**
 * @typedef {object} Scene
 * @property {string} hash content hash of the map
 * @property {{min: number[], max: number[]}} bounds of the visible part of the map, without the sky
 * @property {number[][][]} polygons of the map, as points
 * @property {number[][][]} solid the polygons that are not of the sky
 * @property {[number[], number[]][]} edges at which the map bends
 * @property {{name: string, polygons: number[][][], min: number[], max: number[]}[]} models
 * @property {{name: string, half_extents: number[]}[]} sizes
 * @property {Players} players sizes of players on this map
 * @property {{origin: number[], cell: number, counts: number[]}} grid
 * @property {import("./liquids.js").Liquid[]} liquids
 * @property {import("../camera/intermission.js").Intermission[]} intermissions
 */

/**
 * @typedef {object} Posture
 * @property {number[]} half half of the sides of the box
 * @property {number[]} figure factors by which the figure is larger than the figure of a standing
 *   player of the default size
 * @property {number} eyes height of the eyes over the middle
 *
 * @typedef {{standing: Posture, crouching: Posture}} Players
 */

/**
 * Half of the sides of the box of a player of the default size, and the height of the eyes over its
 * middle.
 */
const USUAL = {
  standing: { half: [16, 16, 28], eyes: 22 },
  crouching: { half: [16, 16, 18], eyes: 10 },
};

/**
 * The sizes of players on a map that was compiled for `sizes`.
 *
 * @param {{name: string, half_extents: number[]}[]} sizes
 * @returns {Players}
 */
export function playersOf(sizes) {
  const posture = (/** @type {"standing" | "crouching"} */ name) => {
    const usual = USUAL[name];
    const half = sizes.find((size) => size.name === name)?.half_extents ?? usual.half;
    const figure = half.map((value, axis) => value / USUAL.standing.half[axis]);
    return { half, figure, eyes: (half[2] * usual.eyes) / usual.half[2] };
  };
  return { standing: posture("standing"), crouching: posture("crouching") };
}

/**
 * The box around polygons. The solids themselves may reach far beyond it.
 *
 * @param {number[][][]} polygons
 */
function around(polygons) {
  if (polygons.length === 0) return null;
  const [min, max] = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
  for (const corner of polygons.flat()) {
    corner.forEach((value, axis) => {
      min[axis] = Math.min(min[axis], value);
      max[axis] = Math.max(max[axis], value);
    });
  }
  return { min, max };
}

/**
 * Fetches the scene of a map.
 *
 * @param {?string} hash of the map; null for the map of the match
 * @returns {Promise<Scene>}
 */
export async function fetchScene(hash) {
  const answer = await fetch(ofMatch(hash ? `/scene/${hash}` : "/scene"));
  if (!answer.ok) throw new Error(`/scene: status ${answer.status}`);
  const told = await answer.json();
  /** @type {number[][][]} */
  const polygons = told.polygons.map(points);
  const solid = polygons.filter((/** @type {number[][]} */ _, /** @type {number} */ i) => !isSky(told.textures[told.textured[i]]));
  return {
    ...told,
    polygons,
    players: playersOf(told.sizes),
    solid,
    bounds: around(solid) ?? told.bounds,
    edges: outline(solid),
    liquids: (told.liquids ?? []).map((/** @type {any} */ liquid) => ({ ...liquid, surfaces: liquid.surfaces.map(points) })),
    intermissions: told.intermissions ?? [],
    models: told.models.map((/** @type {any} */ model) => ({ ...model, polygons: model.polygons.map(points) })),
  };
}
