/**
 * The branch of a replay, drawn transparent beside the recorded match. A line leads to each
 * displaced body from its place in the recording.
 */

import { OTHER } from "../draw/colours.js";
import { put, stroke } from "../draw/frame.js";
import { apart } from "../replay/branch.js";
import { MODEL_NAMES, WHOLE } from "./bodies.js";

const OPACITY = 0.62;
const GLOW = 0.45;

/** Half the length of the cross at the place of a body that is gone in the branch. */
const CROSS = 22;

/**
 * @param {import("../draw/frame.js").Frame} frame
 * @param {import("../match/motion.js").Shown[]} record
 * @param {import("../match/motion.js").Shown[]} other
 * @param {import("../match/scene.js").Players} players
 */
export function addBranch(frame, record, other, players) {
  if (other.length === 0) return;
  const { pairs, gone, added, flying } = apart(record, other);
  for (const { position, rotation, model, crouching } of [...pairs.map((pair) => pair.other), ...added, ...flying]) {
    const shape = model === null ? "pawn" : MODEL_NAMES[model];
    const size = model === null ? (crouching ? players.crouching : players.standing).figure : WHOLE;
    put(frame.ghosts, shape, position, rotation, size, OTHER, OPACITY, GLOW);
  }
  for (const { one, other: twin } of pairs) stroke(frame.veils, one.position, twin.position, OTHER, 0.35, 1, 1.5);
  for (const { position: [x, y, z] } of gone) {
    for (const [u, v] of [[1, 1], [1, -1]]) {
      stroke(frame.veils, [x - u * CROSS, y, z - v * CROSS], [x + u * CROSS, y, z + v * CROSS], OTHER, 1, 1, 2.5);
      stroke(frame.veils, [x, y - u * CROSS, z - v * CROSS], [x, y + u * CROSS, z + v * CROSS], OTHER, 1, 1, 2.5);
    }
  }
}
