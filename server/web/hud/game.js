/** Draws the values of a game: the match's at the top, a player's at the bottom. */

import { css, teamColour } from "../draw/colours.js";
import { find } from "./find.js";
import { onChange } from "./put.js";

/** @typedef {import("../tell/values.js").Told[]} Texts */

/** The two lists. */
export class GameView {
  constructor() {
    const [match, own] = ["#match-values", "#own-values"].map((place) => find(place, HTMLElement));
    this.drawMatch = onChange((/** @type {Texts} */ values) => fill(match, values));
    this.drawOwn = onChange((/** @type {Texts} */ values) => fill(own, values));
  }

  /** @param {import("../tell/tell.js").Told} told */
  show({ values: { match, own, of } }) {
    this.drawMatch(match);
    this.drawOwn(of && own.length > 0 ? [{ name: of, text: "" }, ...own] : own);
  }
}

/**
 * @param {HTMLElement} list
 * @param {Texts} values
 */
function fill(list, values) {
  list.hidden = values.length === 0;
  list.replaceChildren(
    ...values.map(({ name, text, share, team }) => {
      const [pair, term, value] = ["div", "dt", "dd"].map((tag) => document.createElement(tag));
      [term.textContent, value.textContent] = [name, text];
      if (share !== undefined) value.append(Object.assign(document.createElement("meter"), { value: share, title: text }));
      if (team !== undefined) value.style.color = css(teamColour(team));
      pair.append(term, value);
      return pair;
    }),
  );
}
