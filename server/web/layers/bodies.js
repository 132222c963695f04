/** Everybody and everything, as bodies of a frame. */

import { add, mix, rotate } from "../draw/algebra.js";
import { hueColour, modelColour, PROJECTILES } from "../draw/colours.js";
import { put } from "../draw/renderer.js";
import { hueOf } from "../match/roster.js";

const WHOLE = [1, 1, 1];
const ASLEEP = [0.34, 0.42, 0.62];
const VISOR = [0.09, 0.11, 0.15];

/** A disc under players, so that they are found from afar. */
const HALO = [28, 28, 0.6];

const PAIN = [1, 0.93, 0.9];

/** Half heights of `standing` and `crouching` in `maps/spaces.toml`. */
const CROUCHED = 18 / 28;

/**
 * @param {import("../draw/renderer.js").Frame} frame
 * @param {import("../match/motion.js").Shown[]} shown
 * @param {{sleeping: boolean, followed: ?number, hurt: Map<number, number>}} options `hurt`
 *   has the slots of those who were just hurt, with how fresh that is
 */
export function addBodies(frame, shown, { sleeping, followed, hurt }) {
  for (const entity of shown) {
    const { position, rotation, model, slot } = entity;
    const pain = hurt.get(slot) ?? 0;
    const glow = Math.max(followed === slot ? 0.28 : 0, pain * 0.7);
    if (model === null) {
      const size = entity.crouching ? [1, 1, CROUCHED] : WHOLE;
      const colour = mix(hueColour(hueOf(slot)), PAIN, pain);
      put(frame.bodies, "pawn", position, rotation, size, colour, glow);
      put(frame.bodies, "visor", position, rotation, size, VISOR);
      const feet = add(position, [0, 0, -27 * size[2]]);
      if (followed !== slot) put(frame.ghosts, "ball", feet, rotation, HALO, [...colour, 0.5], 1);
      continue;
    }
    let colour = entity.isPlayer ? hueColour(hueOf(slot)) : modelColour(model);
    if (sleeping && !entity.isPlayer) colour = entity.asleep ? ASLEEP : colour.map((value) => Math.min(1, value * 1.1));
    const flies = PROJECTILES.has(model);
    put(frame.bodies, `model ${model}`, position, rotation, WHOLE, colour, flies ? 0.75 : glow);
    if (flies) put(frame.ghosts, "ball", position, rotation, [9, 9, 9], [...colour, 0.25], 1);
  }
}

/** The corners of a box about a place, turned. */
export function boxCorners(position, rotation, min, max) {
  return Array.from({ length: 8 }, (_, i) => {
    const corner = [0, 1, 2].map((axis) => ((i >> axis) & 1 ? max : min)[axis]);
    return add(position, rotate(rotation, corner));
  });
}
