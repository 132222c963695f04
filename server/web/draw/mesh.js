/** Flat-shaded triangles from convex polygons, and the edges where the surface bends. */

import { cross, dot, normalise, scale, subtract } from "./algebra.js";

/** How many numbers a vertex has: position and normal. */
export const VERTEX = 6;

/** Cosine of the angle between two faces. Above it, the faces look like one plane. */
const SAME_PLANE = 0.999;

/** Units to which corners are rounded, to find edges on the same line. */
const LATTICE = 1 / 8;

/** Splits a flat list of coordinates into points. */
export function points(flat) {
  const found = [];
  for (let i = 0; i + 2 < flat.length; i += 3) found.push([flat[i], flat[i + 1], flat[i + 2]]);
  return found;
}

/** The normal of a convex polygon, counter-clockwise from its front (Newell). */
export function normalOf(corners) {
  const sum = [0, 0, 0];
  corners.forEach((a, i) => {
    const part = cross(a, corners[(i + 1) % corners.length]);
    for (let axis = 0; axis < 3; axis++) sum[axis] += part[axis];
  });
  return normalise(sum);
}

/**
 * Cuts polygons into triangles.
 *
 * @param {number[][][]} polygons convex, counter-clockwise from the front
 * @returns {Float32Array} `VERTEX` numbers for each vertex
 */
export function triangles(polygons) {
  const out = [];
  for (const corners of polygons) {
    const normal = normalOf(corners);
    for (let i = 1; i + 1 < corners.length; i++) {
      for (const corner of [corners[0], corners[i], corners[i + 1]]) out.push(...corner, ...normal);
    }
  }
  return new Float32Array(out);
}

/**
 * The edges at which a surface bends, as in a pencil drawing. Edges that merely divide a plane are
 * left out, however the polygons on either side are cut.
 *
 * @param {number[][][]} polygons
 * @returns {[number[], number[]][]} pairs of ends
 */
export function outline(polygons) {
  const lines = new Map();
  for (const corners of polygons) {
    const normal = normalOf(corners);
    corners.forEach((a, i) => enter(lines, a, corners[(i + 1) % corners.length], normal));
  }
  return [...lines.values()].flatMap(bends);
}

function enter(lines, a, b, normal) {
  let direction = normalise(subtract(b, a));
  const leading = direction.find((value) => Math.abs(value) > 1e-3) ?? 1;
  if (leading < 0) direction = scale(direction, -1);
  // The direction of a line and its point nearest to the origin identify the line.
  const foot = subtract(a, scale(direction, dot(a, direction)));
  const key = [
    ...direction.map((value) => Math.round(value * 200)),
    ...foot.map((value) => Math.round(value / LATTICE / 2)),
  ].join();
  const line = lines.get(key) ?? { foot, direction, parts: [] };
  const ends = [dot(a, direction), dot(b, direction)];
  line.parts.push({ from: Math.min(...ends), to: Math.max(...ends), normal });
  lines.set(key, line);
}

function bends({ foot, direction, parts }) {
  const cuts = [...new Set(parts.flatMap(({ from, to }) => [from, to]).map((x) => Math.round(x / LATTICE)))];
  cuts.sort((a, b) => a - b);
  const at = (distance) => foot.map((value, axis) => value + direction[axis] * distance);
  const found = [];
  for (let i = 0; i + 1 < cuts.length; i++) {
    const middle = ((cuts[i] + cuts[i + 1]) / 2) * LATTICE;
    const normals = parts.filter(({ from, to }) => from < middle && middle < to).map((part) => part.normal);
    if (normals.length === 0) continue;
    const flat = normals.length > 1 && normals.every((normal) => dot(normal, normals[0]) > SAME_PLANE);
    if (!flat) found.push([at(cuts[i] * LATTICE), at(cuts[i + 1] * LATTICE)]);
  }
  return found;
}
