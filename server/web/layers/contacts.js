/** Points at which props touch something. The harder they press, the larger the point is drawn. */

import { stroke } from "../draw/frame.js";

const RESTING = [1, 0.83, 0.3];
const NEAR = [0.5, 0.85, 1];
const OPACITY = 0.9;

/** Impulse in a tick on each of the four points on which a crate of about 66 kg lies. */
const WEIGHT = 220;

export const CONTACT_LEGEND = [
  { colour: RESTING, label: "pressing" },
  { colour: NEAR, label: "near" },
];

/**
 * @param {import("../draw/frame.js").Frame} frame
 * @param {?{points: number[][]}} contacts of `/contacts`: x, y, z, gap, impulse
 */
export function addContacts(frame, contacts) {
  for (const point of contacts?.points ?? []) {
    const impulse = point[4];
    const size = 4 + Math.min(5, impulse / WEIGHT);
    stroke(frame.strokes, point, point, impulse > 0 ? RESTING : NEAR, OPACITY, OPACITY, size);
  }
}
