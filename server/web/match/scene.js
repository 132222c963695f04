/**
 * What does not move: the map and the shapes of bodies, from `/scene/HASH`.
 */

import { outline, points } from "../draw/mesh.js";
import { ofMatch } from "../link/match.js";

/**
 * @typedef {object} Scene
 * @property {string} hash content hash of the map
 * @property {{min: number[], max: number[]}} bounds of what can be seen of the map
 * @property {number[][][]} polygons of the map, as points
 * @property {[number[], number[]][]} edges at which the map bends
 * @property {{name: string, polygons: number[][][], min: number[], max: number[]}[]} models
 * @property {{name: string, half_extents: number[]}[]} sizes
 * @property {{origin: number[], cell: number, counts: number[]}} grid
 */

/** The box around polygons: the solids themselves may reach far beyond it. */
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
 * @param {?string} hash of the map; without it, the one that is played
 * @returns {Promise<Scene>}
 */
export async function fetchScene(hash) {
  const answer = await fetch(ofMatch(hash ? `/scene/${hash}` : "/scene"));
  if (!answer.ok) throw new Error(`/scene: status ${answer.status}`);
  const told = await answer.json();
  const polygons = told.polygons.map(points);
  return {
    ...told,
    polygons,
    bounds: around(polygons) ?? told.bounds,
    edges: outline(polygons),
    models: told.models.map((model) => ({ ...model, polygons: model.polygons.map(points) })),
  };
}
