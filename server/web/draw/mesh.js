/** Flat-shaded triangles from convex polygons, and the edges where the surface bends. */

import { cross, dot, normalise, scale, subtract } from "./algebra.js";
import { LOOKS } from "../match/liquids.js";
import { isSky, materialOf, nameByPlace } from "./palette.js";

/** How many numbers a vertex has: position and normal. */
export const VERTEX = 6;

/** How many numbers a vertex of the map has: position, normal, colour, cell and grain. */
export const MAP_LAYOUT = [3, 3, 3, 4, 3];

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

/** Sine of the angle at a corner below which its edges are one line. */
const IN_LINE = 1e-3;

/**
 * Twice the area of the triangle of three corners that follow one another. 0 if their edges are one
 * line, or bend outward.
 *
 * @param {number[]} normal of the polygon
 */
function earOf(before, at, after, normal) {
  const [into, out] = [subtract(at, before), subtract(after, at)];
  const turn = dot(cross(into, out), normal);
  return turn > IN_LINE * Math.hypot(...into) * Math.hypot(...out) ? turn : 0;
}

/**
 * Cuts a convex polygon into triangles, none of which is flat. A fan is enough if no corner lies on
 * a straight edge. Otherwise the smallest triangle at a corner of the polygon is cut off, again and
 * again, so that the rest keeps an area for all corners on its edges.
 *
 * @param {number[][]} corners counter-clockwise from the front
 * @param {number[]} [normal]
 * @returns {number[][]} the indices of each triangle's corners
 */
export function cutInto(corners, normal = normalOf(corners)) {
  const ring = corners.map((_, i) => i);
  const ears = () => ring.map((_, i) => earOf(corners[ring.at(i - 1)], corners[ring[i]], corners[ring[(i + 1) % ring.length]], normal));
  let areas = ears();
  if (areas.every((area) => area > 0)) return ring.slice(1, -1).map((corner) => [0, corner, corner + 1]);
  const found = [];
  while (ring.length > 3) {
    const least = areas.reduce((best, area, i) => (area > 0 && !(areas[best] > 0 && areas[best] <= area) ? i : best), 0);
    found.push([ring.at(least - 1), ring[least], ring[(least + 1) % ring.length]]);
    ring.splice(least, 1);
    areas = ears();
  }
  return [...found, ring];
}

/** The corners of each triangle of `cutInto`. */
export function cut(corners, normal) {
  return cutInto(corners, normal).map((triangle) => triangle.map((i) => corners[i]));
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
    for (const corner of cut(corners, normal).flat()) out.push(...corner, ...normal);
  }
  return new Float32Array(out);
}

/**
 * The triangles of a map with their materials. The triangles of a polygon share its vertices.
 *
 * @param {import("../match/scene.js").Scene} scene
 * @returns {{vertices: Float32Array, indices: Uint32Array, solid: number}} numbers as in `MAP_LAYOUT`
 *   for each vertex, three vertices for each triangle, and how many indices come before the sky's
 */
export function mapTriangles({ polygons, textures = [], textured = [] }) {
  const [vertices, indices, sky] = [[], [], []];
  const known = new Map();
  let first = 0;
  polygons.forEach((corners, i) => {
    const normal = normalOf(corners);
    const name = textures[textured[i]] ?? nameByPlace(normal, corners[0]);
    if (!known.has(name)) known.set(name, materialOf(name));
    const { colour, cell, grain } = known.get(name);
    for (const corner of corners) vertices.push(...corner, ...normal, ...colour, ...cell, ...grain);
    const into = isSky(name) ? sky : indices;
    for (const corner of cutInto(corners, normal).flat()) into.push(first + corner);
    first += corners.length;
  });
  return { vertices: new Float32Array(vertices), indices: new Uint32Array([...indices, ...sky]), solid: indices.length };
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

/** How many numbers a vertex of a liquid has: position, and colour with opacity. */
export const LIQUID_LAYOUT = [3, 4];

/**
 * Cuts the surfaces of liquids into triangles.
 *
 * @param {import("../match/liquids.js").Liquid[]} liquids
 * @returns {Float32Array} numbers by `LIQUID_LAYOUT`
 */
export function liquidTriangles(liquids) {
  const corners = liquids.flatMap(({ kind, surfaces }) => {
    const { colour, opacity } = LOOKS[kind];
    return surfaces.flatMap((surface) => cut(surface, normalOf(surface)).flat().map((corner) => [...corner, ...colour, opacity]));
  });
  return new Float32Array(corners.flat());
}
