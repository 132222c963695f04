/** Draws the feeds: kills, chat, and events of the game. */

import { css, hasTeam, slotColour } from "../draw/colours.js";
import { find } from "./find.js";
import { onChange } from "./put.js";

/** @typedef {import("../tell/feeds.js").Said} Said */

/** The places of the feeds, by their names in `tell/`. */
const PLACES = /** @type {const} */ ([["kills", "#kills"], ["chat", "#news"], ["toasts", "#toasts"]]);

/** The lists of lines. */
export class Feeds {
  constructor() {
    this.lists = PLACES.map(([feed, place]) => {
      const list = find(place, HTMLElement);
      return { feed, draw: onChange((/** @type {Said[]} */ lines) => fill(list, lines)) };
    });
  }

  /** @param {import("../tell/tell.js").Told} told */
  show(told) {
    for (const { feed, draw } of this.lists) draw(told[feed]);
  }
}

/**
 * @param {HTMLElement} list
 * @param {Said[]} lines
 */
function fill(list, lines) {
  list.replaceChildren(
    ...lines.map(({ what, text, slot, isOwn }) => {
      const line = document.createElement("li");
      line.className = what;
      line.classList.toggle("own", isOwn);
      line.textContent = text;
      if (slot !== undefined && hasTeam(slot)) line.style.borderInlineStart = `3px solid ${css(slotColour(slot))}`;
      return line;
    }),
  );
}
