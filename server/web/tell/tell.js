/**
 * Decides from the store what is told, and where. The modules in this folder write all texts about
 * the match, the line and the page's own player, each for one place of the page. Their functions
 * are pure; `hud/` draws what they return.
 */

import { centre, hint, warning } from "./centre.js";
import { chat, kills, toasts } from "./feeds.js";
import { chip, trouble } from "./line.js";
import { renaming } from "./renaming.js";
import { clock } from "./round.js";
import { values } from "./values.js";
import { welcome } from "./welcome.js";

/**
 * @typedef {object} Told
 * @property {{state: string, word: string}} chip the word at the top about the line
 * @property {?import("./line.js").Trouble} trouble the panel in the middle, if the match cannot be
 *   shown
 * @property {?string} clock the time of the round, at the top
 * @property {?import("./centre.js").Card} centre the card in the middle
 * @property {string} hint below the crosshair
 * @property {string} warning about a bad connection, at the top
 * @property {import("./feeds.js").Said[]} kills
 * @property {import("./feeds.js").Said[]} chat
 * @property {import("./feeds.js").Said[]} toasts
 * @property {?import("./welcome.js").Welcome} welcome the card on which the page opens
 * @property {string} renaming the note for a player who has chosen another name
 * @property {ReturnType<typeof values>} values of the game
 */

/**
 * @param {import("../store/store.js").Store} store
 * @param {number} now milliseconds, by `performance.now()`
 * @returns {Told}
 */
export function tell(store, now) {
  return {
    chip: chip(store),
    trouble: trouble(store, now),
    clock: clock(store),
    centre: centre(store),
    hint: hint(store),
    warning: warning(store),
    kills: kills(store, now / 1000),
    chat: chat(store, now / 1000),
    toasts: toasts(store, now / 1000),
    welcome: welcome(store),
    renaming: renaming(store),
    values: values(store),
  };
}
