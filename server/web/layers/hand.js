/** The weapon in the hand of the page's own player, in the first person. */

import { add, cross, normalise, scale } from "../draw/algebra.js";
import { PROJECTILES, slotColour } from "../draw/colours.js";
import { weapons } from "../draw/figures.js";
import { put, stroke } from "../draw/frame.js";
import { turnInto } from "./players.js";

/** Place of the hand from the eyes, in units: forward, to the right, down. */
const AT = [19, 7.6, 8.2];

/** Units of way for a swing of the hand to both sides, and how far it swings. */
const STRIDE = 184;
const SWINGS = 0.55;

/** Seconds in which a kick and a flash fade, and in which a weapon is raised. */
const KICK = 0.16;
const FLASH = 0.09;
const RAISE = 0.18;

/** Units that the weapon kicks back, and radians that it rises. */
const BACK = 4;
const RISES = 0.16;

/** Units from the eyes within which a new missile is the player's own. */
const OWN = 110;

const METAL = [0.34, 0.36, 0.41];
const LIGHTS = [[0.35, 0.85, 1], [1, 0.55, 0.2], [0.55, 0.95, 0.35]];
const FIRE = [1, 0.88, 0.6];
/** Factors by which a weapon is drawn smaller than others see it, so that it hides less. */
const SIZE = [0.78, 0.62, 0.62];

/** For each weapon the units from the hand to the muzzle. */
const MUZZLES = weapons().map(({ muzzle }) => muzzle);

/** Seconds after a launch that is shown, within which its missile appears. */
const APPEARS = 0.6;

/** The hand of one page. */
export class Hand {
  constructor() {
    this.firedAt = -Infinity;
    this.weapon = 0;
    this.raisedAt = -Infinity;
    this.flying = new Set();
    this.turned = [0, 0, 0, 1];
    /** The player whose hand was last drawn, and the place of the muzzle; null if none was. */
    this.muzzle = null;
  }

  /** Notes that the player has fired. */
  fired(now) {
    this.firedAt = now;
  }

  /** Notes launches by the missiles that appear, because only predicted launches are effects. */
  watch(shown, eye, now) {
    const flying = new Set();
    for (const { slot, generation, model, position } of shown) {
      if (!PROJECTILES.has(model)) continue;
      const id = `${slot} ${generation}`;
      flying.add(id);
      const away = Math.hypot(...position.map((value, axis) => value - eye[axis]));
      if (!this.flying.has(id) && away < OWN && now - this.firedAt > APPEARS) this.fired(now);
    }
    this.flying = flying;
  }

  /**
   * Adds the hand to a frame.
   *
   * @param {import("../draw/frame.js").Frame} frame
   * @param {{slot: number, weapon: number, eye: number[], ahead: number[], walked: number}} holder
   * @param {number} now seconds
   */
  draw(frame, { slot, weapon, eye, ahead, walked }, now) {
    if (weapon !== this.weapon) [this.weapon, this.raisedAt] = [weapon, now];
    const kick = Math.max(0, 1 - (now - this.firedAt) / KICK) ** 2;
    const low = Math.max(0, 1 - (now - this.raisedAt) / RAISE);
    const right = normalise(cross(ahead, [0, 0, 1]));
    const up = cross(right, ahead);
    const swing = (walked / STRIDE) * 2 * Math.PI;
    const [forward, side, down] = [AT[0] - BACK * kick, AT[1] + SWINGS * Math.sin(swing), AT[2] + SWINGS * Math.abs(Math.cos(swing)) + 9 * low];
    const place = add(eye, add(scale(ahead, forward), add(scale(right, side), scale(up, -down))));
    const yaw = Math.atan2(ahead[1], ahead[0]);
    const pitch = Math.asin(ahead[2]) + RISES * kick - low;
    turnInto(this.turned, yaw, -pitch);
    const { turned } = this;
    put(frame.hands, "forearm", place, turned, SIZE, slotColour(slot));
    put(frame.hands, `weapon ${weapon}`, place, turned, SIZE, METAL);
    put(frame.hands, `light ${weapon}`, place, turned, SIZE, LIGHTS[weapon], 1, 0.7 + 0.3 * kick);
    const barrel = [Math.cos(yaw) * Math.cos(pitch), Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch)];
    this.muzzle = { slot, at: add(place, scale(barrel, MUZZLES[weapon] * SIZE[0])) };
    const flash = 1 - (now - this.firedAt) / FLASH;
    if (flash > 0) {
      const { at } = this.muzzle;
      stroke(frame.veils, at, at, LIGHTS[weapon], 0.55 * flash, 0.55 * flash, 60 * flash + 14);
      stroke(frame.veils, at, at, FIRE, flash, flash, 24 * flash + 6);
      for (const [x, z] of [[1, 0.3], [-1, 0.4], [0.2, 1], [-0.3, -0.9]]) {
        stroke(frame.veils, at, add(at, add(scale(right, x * 6), scale(up, z * 6))), FIRE, 0.9 * flash, 0, 3);
      }
    }
  }

  /** Notes that no hand is in the picture. */
  hide() {
    this.muzzle = null;
  }
}
