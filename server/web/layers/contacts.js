/** Points at which props touch something: brighter the harder they press. */

import { stroke } from "../draw/renderer.js";

const RESTING = [1, 0.83, 0.3, 0.95];
const NEAR = [0.5, 0.85, 1, 0.7];

/** Impulse of a crate that lies on four points, for a tick: about 66 kg. */
const WEIGHT = 220;

export const CONTACT_LEGEND = [
  { colour: RESTING, label: "pressing" },
  { colour: NEAR, label: "near" },
];

/**
 * @param {import("../draw/renderer.js").Frame} frame
 * @param {?{points: number[][]}} contacts of `/contacts`
 */
export function addContacts(frame, contacts) {
  for (const [x, y, z, , impulse] of contacts?.points ?? []) {
    const colour = impulse > 0 ? RESTING : NEAR;
    const size = 4 + Math.min(5, impulse / WEIGHT);
    stroke(frame.strokes, [x, y, z], [x, y, z], colour, colour, size);
  }
}
