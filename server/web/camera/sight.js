/**
 * Computes how far a line of sight reaches through the map, so that the camera can stay in front of
 * walls.
 */

import { normalOf } from "../draw/mesh.js";
import { cross, dot, subtract } from "../draw/algebra.js";

/** Lines of sight through one map. */
export class Sight {
  /**
   * @param {number[][][]} polygons of the map: convex, counter-clockwise from the front
   * @param {number[][][]} [solid] the polygons that are not of the sky
   */
  constructor(polygons, solid = polygons) {
    const isSolid = new Set(solid);
    /** @type {?number[]} the normal of the face that ended the last line of sight; null for the sky */
    this.met = null;
    this.faces = polygons.map((corners) => {
      const normal = normalOf(corners);
      const edges = corners.map((a, i) => {
        // A vector in the plane of the face, from the edge into the face.
        const inward = cross(normal, subtract(corners[(i + 1) % corners.length], a));
        return { inward, least: dot(inward, a) };
      });
      return { normal, distance: dot(normal, corners[0]), edges, isSolid: isSolid.has(corners) };
    });
  }

  /**
   * The share of the way from one place to another that is free, up to the first face.
   *
   * @param {number[]} from a place in the open
   * @param {number[]} to
   * @returns {number} from 0 to 1; 1 if no face is in the way
   */
  reach(from, to) {
    let reached = 1;
    this.met = null;
    for (const { normal, distance, edges, isSolid } of this.faces) {
      const begin = dot(normal, from) - distance;
      const end = dot(normal, to) - distance;
      // A line meets a face only from its front.
      if (begin <= 0 || end >= 0) continue;
      const share = begin / (begin - end);
      if (share >= reached) continue;
      const at = [0, 1, 2].map((i) => from[i] + (to[i] - from[i]) * share);
      if (edges.every(({ inward, least }) => dot(inward, at) >= least)) [reached, this.met] = [share, isSolid ? normal : null];
    }
    return reached;
  }
}
