/** The middle of the page: one card at a time, a hint below the crosshair, and a warning above. */

import { wayToDie } from "../store/log.js";
import { result } from "./round.js";

/**
 * @typedef {object} Card
 * @property {"result" | "death"} kind
 * @property {string} title
 * @property {string[]} lines
 * @property {{place: number, name: string, score: number, slot: number}[]} [rows] of a table
 */

/**
 * The page's own player, if there is one in a match that goes on.
 *
 * @param {import("../store/store.js").Store} store
 */
const inMatch = ({ own, line }) => (own?.isJoined && line.state === "live" ? own : null);

/**
 * The death of the page's own player: by whom, by what, and how long until the return.
 *
 * @param {import("../store/store.js").Store} store
 * @returns {?Card}
 */
function death(store) {
  const own = inMatch(store);
  if (!own || own.isThere || !own.death) return null;
  const { by, means, tick } = own.death;
  const weapon = means && means.replaceAll(/[_.-]/g, " ");
  const withIt = weapon ? ` with ${/^[aeiou]/i.test(weapon) ? "an" : "a"} ${weapon}` : "";
  const way = by ? null : wayToDie(means);
  const title = way ? `You ${way}` : by ? `${by} killed you${withIt}` : withIt ? `You killed yourself${withIt}` : "You died";
  const seconds = Math.ceil(store.untilReturn(tick));
  return { kind: "death", title, lines: [seconds > 0 ? `You are back in ${seconds} s` : "You are back in a moment"] };
}

/**
 * The card in the middle. Trouble with the line replaces the card.
 *
 * @param {import("../store/store.js").Store} store
 * @returns {?Card}
 */
export function centre(store) {
  if (store.line.state !== "live" && store.line.state !== "replay") return null;
  return result(store) ?? death(store);
}

/**
 * The hint that a player needs most.
 *
 * @param {import("../store/store.js").Store} store
 * @returns {string}
 */
export function hint(store) {
  const { own, line } = store;
  if (!own || line.state === "rejoining") return "";
  if (!own.isJoined) return "Joining…";
  if (own.idleFor !== null) return `Still there? Move, or you leave the match in ${own.idleFor} s.`;
  if (!own.isThere || store.round.phase === "intermission") return "";
  if (own.isNewToFingers) return "Drag on the left half of the screen to move, on the right half to look round.";
  if (own.isSteered) return "";
  return `Click to steer with the mouse. W A S D moves, Space jumps, C crouches, ${own.keys}Enter chats, ? shows all keys. Esc frees the mouse for the button Leave.`;
}

/**
 * The warning about a bad connection. A connection that is lost has a message of its own.
 *
 * @param {import("../store/store.js").Store} store
 * @returns {string}
 */
export function warning(store) {
  return inMatch(store)?.warning ?? "";
}
