/** Players and props, as bodies of a frame. */

import { add, mix, rotate } from "../draw/algebra.js";
import { modelColour, PROJECTILES, slotColour } from "../draw/colours.js";
import { put } from "../draw/frame.js";

export const WHOLE = [1, 1, 1];
const ASLEEP = [0.34, 0.42, 0.62];

/** A disc under a player, which makes players visible from afar. */
const HALO = [28, 28, 1];
const HALO_OPACITY = 0.5;

/** A glow around missiles. */
const GLOW = [9, 9, 9];
const GLOW_OPACITY = 0.25;

const PAIN = [1, 0.93, 0.9];

/** Slightly less than half of the figure's height, in units. */
const FEET = 27;

/** The renderer's names of the models, made once so that frames make no texts. */
export const MODEL_NAMES = Array.from({ length: 128 }, (_, model) => `model ${model}`);

/**
 * @param {import("../draw/frame.js").Frame} frame
 * @param {import("../match/motion.js").Shown[]} shown
 * @param {import("../match/scene.js").Players} players
 * @param {import("./players.js").Players} figures
 * @param {{sleeping: boolean, followed: ?number, hurt: Map<number, number>}} options `hurt` has the
 *   slots of players who were just hurt, with a value that fades from 1 to 0
 */
export function addBodies(frame, shown, players, figures, { sleeping, followed, hurt }) {
  for (const entity of shown) {
    const { position, rotation, model, slot, isPlayer, asleep } = entity;
    const pain = hurt.get(slot) ?? 0;
    const glow = Math.max(followed === slot ? 0.28 : 0, pain * 0.7);
    if (model === null) {
      const size = (entity.crouching ? players.crouching : players.standing).figure;
      const own = slotColour(slot);
      const colour = pain > 0 ? mix(own, PAIN, pain) : own;
      figures.add(frame, entity, players, own, colour, glow);
      if (followed !== slot) halo(frame, position, FEET * size[2], own);
      continue;
    }
    let colour = isPlayer ? slotColour(slot) : modelColour(model);
    if (sleeping && !isPlayer && asleep) colour = ASLEEP;
    const flies = PROJECTILES.has(model);
    put(frame.bodies, MODEL_NAMES[model], position, rotation, WHOLE, colour, 1, flies ? 0.75 : glow);
    if (flies) put(frame.ghosts, "ball", position, rotation, GLOW, colour, GLOW_OPACITY);
  }
}

const UPRIGHT = [0, 0, 0, 1];
const ground = [0, 0, 0];

function halo(frame, position, down, colour) {
  [ground[0], ground[1], ground[2]] = position;
  ground[2] -= down;
  put(frame.ghosts, "disc", ground, UPRIGHT, HALO, colour, HALO_OPACITY);
}

/** The corners of a box that is turned by a rotation and then moved to a position. */
export function boxCorners(position, rotation, min, max) {
  return Array.from({ length: 8 }, (_, i) => {
    const corner = [0, 1, 2].map((axis) => ((i >> axis) & 1 ? max : min)[axis]);
    return add(position, rotate(rotation, corner));
  });
}
