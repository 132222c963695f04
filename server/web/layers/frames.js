/** Layers of lines: the simulation's grid and the bounding boxes. */

import { boxCorners } from "./bodies.js";
import { stroke } from "../draw/frame.js";

const GRID = [0.45, 0.78, 1];
const BOX_AWAKE = [0.55, 1, 0.75];
const BOX_ASLEEP = [0.55, 0.68, 1];

/** Opacities of lines. Boxes of awake bodies have the highest, so that moving bodies stand out. */
const GRID_OPACITY = 0.32;
const AWAKE_OPACITY = 0.8;
const ASLEEP_OPACITY = 0.5;

export const BOX_LEGEND = [
  { colour: BOX_AWAKE, label: "awake" },
  { colour: BOX_ASLEEP, label: "asleep" },
];

/**
 * The edges of a box as pairs of corners. Each bit of a corner's number says at which end of an
 * axis it is.
 */
const EDGES = [0, 1, 2].flatMap((axis) =>
  Array.from({ length: 8 }, (_, i) => i).filter((i) => !((i >> axis) & 1)).map((i) => [i, i | (1 << axis)]),
);

/**
 * Draws the cells by which the simulation finds pairs of near bodies (Blow 1997), at this height.
 */
export function addGrid(frame, { grid }, height) {
  const { origin, cell, counts } = grid;
  const end = [origin[0] + cell * counts[0], origin[1] + cell * counts[1]];
  for (let i = 0; i <= counts[0]; i++) {
    const x = origin[0] + i * cell;
    stroke(frame.veils, [x, origin[1], height], [x, end[1], height], GRID, GRID_OPACITY, GRID_OPACITY, 1.2);
  }
  for (let i = 0; i <= counts[1]; i++) {
    const y = origin[1] + i * cell;
    stroke(frame.veils, [origin[0], y, height], [end[0], y, height], GRID, GRID_OPACITY, GRID_OPACITY, 1.2);
  }
}

/**
 * Draws the boxes that the cascade tests. The box of a body turns with the body; the box of a
 * player stays upright.
 */
export function addBoxes(frame, shown, { models, players }) {
  for (const { model, position, rotation, crouching: crouches, asleep } of shown) {
    const { half } = crouches ? players.crouching : players.standing;
    const shape = model === null ? null : models[model];
    const corners = shape
      ? boxCorners(position, rotation, shape.min, shape.max)
      : boxCorners(position, [0, 0, 0, 1], half.map((value) => -value), half);
    const colour = asleep ? BOX_ASLEEP : BOX_AWAKE;
    const opacity = asleep ? ASLEEP_OPACITY : AWAKE_OPACITY;
    for (const [a, b] of EDGES) stroke(frame.strokes, corners[a], corners[b], colour, opacity, opacity, 1.3);
  }
}
