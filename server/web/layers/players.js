/** Players on foot: each part has an instance for each player, so that a part is one call. */

import { put } from "../draw/frame.js";
import { posture, WalkedDistances } from "./posture.js";

const VISOR = [0.1, 0.13, 0.18];
const GUN = [0.3, 0.32, 0.36];

/** How much darker legs and arms are than the torso, and how much lighter the head is. */
const LEGS = 0.5;
const ARMS = 0.78;
const HEAD = 0.35;

/** Angles of the arms that hold the gun, in radians forward, and the gun's place from the neck. */
const HOLDS = [1.3, 1.12];
const GUN_AT = [13, -4, -6];
const SHOULDER = 9.5;
const HIPS = 4.6;

/** Draws players, and remembers how far each has walked. */
export class Players {
  constructor() {
    this.walked = new WalkedDistances();
    this.posed = { legs: [0, 0], neck: [0, 0] };
    /** @type {Map<number[], {legs: number[], arms: number[], head: number[]}>} shades of a colour */
    this.shades = new Map();
    this.place = [0, 0, 0];
    this.turned = [0, 0, 0, 1];
    this.size = [1, 1, 1];
  }

  shadesOf(colour) {
    let shades = this.shades.get(colour);
    if (!shades) {
      const darker = (share) => colour.map((value) => value * share);
      shades = { legs: darker(LEGS), arms: darker(ARMS), head: colour.map((value) => value + (0.92 - value) * HEAD) };
      this.shades.set(colour, shades);
    }
    return shades;
  }

  /**
   * @param {import("../draw/frame.js").Frame} frame
   * @param {import("../match/motion.js").Shown} player
   * @param {import("../match/scene.js").Players} sizes
   * @param {number[]} own the colour of the player
   * @param {number[]} colour of the torso: `own`, unless the player is in pain
   * @param {number} glow
   */
  add(frame, player, { standing, crouching: crouched }, own, colour, glow) {
    const { position, rotation, velocity, crouching } = player;
    const { posed } = this;
    posture(this.walked.of(player), velocity, crouching, posed);
    const scale = standing.figure;
    const feet = -(crouching ? crouched : standing).half[2];
    const [x, y, z, w] = rotation;
    const yaw = Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
    const pitch = Math.asin(Math.max(-1, Math.min(1, 2 * (w * y - x * z))));
    const hip = feet + posed.hip * scale[2];
    const [ahead, above] = posed.neck;
    const neck = hip + above * scale[2];
    const shades = this.shadesOf(own);
    const part = (shape, forward, side, up, angle, size, shade) => {
      this.put(frame, shape, position, yaw, [forward * scale[0], side * scale[1], up], angle, size, scale, shade, glow);
    };
    part("torso", 0, 0, hip, posed.lean, crouching ? 0.85 : 1, colour);
    part("head", ahead, 0, neck, pitch * 0.7, crouching ? 0.8 : 1, shades.head);
    part("visor", ahead, 0, neck, pitch * 0.7, crouching ? 0.8 : 1, VISOR);
    part("leg", 0, HIPS, hip, -posed.legs[0], posed.leg, shades.legs);
    part("leg", 0, -HIPS, hip, -posed.legs[1], posed.leg, shades.legs);
    const shoulder = neck - 3 * scale[2];
    part("arm", ahead * 0.9, SHOULDER, shoulder, pitch - HOLDS[1] - posed.swing * 0.15, 1, shades.arms);
    part("arm", ahead * 0.9, -SHOULDER, shoulder, pitch - HOLDS[0] + posed.swing * 0.15, 1, shades.arms);
    const [reach, beside, below] = GUN_AT;
    const down = below - Math.sin(pitch) * reach;
    part("gun", ahead + reach * Math.cos(pitch), beside, neck + down * scale[2], pitch, 1, GUN);
  }

  put(frame, shape, [x, y, z], yaw, [forward, side, up], angle, length, scale, colour, glow) {
    const [cos, sin] = [Math.cos(yaw), Math.sin(yaw)];
    const { place, turned, size } = this;
    place[0] = x + forward * cos - side * sin;
    place[1] = y + forward * sin + side * cos;
    place[2] = z + up;
    turnInto(turned, yaw, angle);
    for (let i = 0; i < 3; i++) size[i] = scale[i];
    size[2] *= length;
    put(frame.bodies, shape, place, turned, size, colour, 1, glow);
  }
}

/** Fills a quaternion with a turn about the axis to the left, then a turn about the upward axis. */
export function turnInto(turned, yaw, pitch) {
  const [c, s, d, t] = [Math.cos(yaw / 2), Math.sin(yaw / 2), Math.cos(pitch / 2), Math.sin(pitch / 2)];
  [turned[0], turned[1], turned[2], turned[3]] = [-s * t, c * t, s * d, c * d];
}
