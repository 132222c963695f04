/**
 * The work of the filter cascade: a line between any two bodies that it tests, coloured by the
 * stage that decides, and a floor that is warmer where there are more such lines.
 */

import { put, stroke } from "../draw/frame.js";

/** Colours of the stages after the grid, from cold to hot. */
const COLOURS = {
  spheres: [0.35, 0.55, 0.95],
  boxes: [0.3, 0.85, 0.75],
  plane: [0.6, 0.9, 0.4],
  bsp_box: [1, 0.8, 0.3],
  exact: [1, 0.35, 0.3],
};

/** Weight of a decision by each stage: the cost of the stage relative to spheres. */
const WEIGHTS = { spheres: 1, boxes: 3, plane: 4, bsp_box: 8, exact: 20 };

/** Weight at which a cell has the hottest colour. */
const HOTTEST = 60;

export const HEAT_LEGEND = ["spheres", "boxes", "bsp_box", "exact"].map((stage) => ({
  colour: COLOURS[stage],
  label: `told apart by ${stage.replace("_", " ")}`,
}));

/** Colours of the reasons why bodies are awake. Moving bodies have no mark. */
const REASONS = {
  settles: [0.55, 0.75, 0.95],
  in_air: [0.95, 0.95, 0.95],
  touches_moving: [0.95, 0.75, 0.3],
  leans_on_player: [0.85, 0.45, 0.95],
};

for (const [reason, colour] of Object.entries(REASONS)) {
  HEAT_LEGEND.push({ colour, label: `awake: ${reason.replaceAll("_", " ")}` });
}

const UPRIGHT = [0, 0, 0, 1];
const MARK = [20, 20, 1];
const MARK_OPACITY = 0.6;

/** A note about the limits of this layer. */
export const HEAT_NOTE = "Pairs of bodies are shown as if they met for the first time. In the match itself, the plane of the last tick decides most pairs early. Pairs with the world are not shown.";

/** Adds the layer of the heat to frames. */
export class Heat {
  constructor(renderer) {
    this.renderer = renderer;
    this.of = null;
    this.texture = null;
  }

  /**
   * @param {import("../draw/frame.js").Frame} frame
   * @param {?object} cascade of `/cascade`
   * @param {import("../match/motion.js").Shown[]} shown
   * @param {import("../match/scene.js").Scene} scene
   * @param {number} height at which the floor is drawn, in units
   */
  add(frame, cascade, shown, { grid }, height) {
    if (!cascade) return;
    const places = new Map(shown.map(({ slot, position }) => [slot, position]));
    for (const [first, second, number] of cascade.pairs) {
      const stage = cascade.stages[number];
      const [a, b] = [places.get(first), places.get(second)];
      if (!a || !b || !COLOURS[stage]) continue;
      const opacity = stage === "spheres" ? 0.16 : 0.85;
      stroke(frame.strokes, a, b, COLOURS[stage], opacity, opacity, stage === "spheres" ? 1 : 2.2);
    }
    for (const [slot, number] of cascade.awake) {
      const [place, colour] = [places.get(slot), REASONS[cascade.reasons[number]]];
      if (place && colour) put(frame.ghosts, "disc", place, UPRIGHT, MARK, colour, MARK_OPACITY);
    }
    if (this.of !== cascade) this.measure(cascade, places, grid);
    const end = [0, 1].map((axis) => grid.origin[axis] + grid.cell * grid.counts[axis]);
    frame.sheets.push({ texture: this.texture, area: [...grid.origin, ...end], height, over: true });
  }

  measure(cascade, places, { origin, cell, counts }) {
    this.of = cascade;
    const weights = new Float32Array(counts[0] * counts[1]);
    for (const [first, second, number] of cascade.pairs) {
      const [a, b] = [places.get(first), places.get(second)];
      if (!a || !b) continue;
      const [x, y] = [0, 1].map((axis) =>
        Math.min(Math.max(Math.floor(((a[axis] + b[axis]) / 2 - origin[axis]) / cell), 0), counts[axis] - 1),
      );
      weights[y * counts[0] + x] += WEIGHTS[cascade.stages[number]] ?? 0;
    }
    const pixels = new Uint8Array(weights.length * 4);
    weights.forEach((weight, i) => {
      const heat = Math.min(1, Math.sqrt(weight / HOTTEST));
      pixels.set([255, 190 - 150 * heat, 70 - 40 * heat, weight === 0 ? 0 : 40 + 150 * heat], i * 4);
    });
    if (this.texture) this.renderer.gl.deleteTexture(this.texture);
    this.texture = this.renderer.picture(pixels, counts[0], counts[1], true);
  }
}
