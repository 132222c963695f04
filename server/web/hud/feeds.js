/** Draws the feeds: kills, chat, and events of the game. */

import { onChange } from "./put.js";

/** The places of the feeds, by their names in `tell/`. */
const PLACES = { kills: "#kills", chat: "#news", toasts: "#toasts" };

/** The lists of lines. */
export class Feeds {
  constructor() {
    this.lists = Object.entries(PLACES).map(([feed, place]) => [feed, onChange((lines) => fill(document.querySelector(place), lines))]);
  }

  /** @param {import("../tell/tell.js").Told} told */
  show(told) {
    for (const [feed, draw] of this.lists) draw(told[feed]);
  }
}

function fill(list, lines) {
  list.replaceChildren(
    ...lines.map(({ what, text }) => {
      const line = document.createElement("li");
      line.className = what;
      line.textContent = text;
      return line;
    }),
  );
}
