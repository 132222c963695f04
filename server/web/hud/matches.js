/** The name of the match that is shown, and links to the server's other matches. */

import { ofMatch } from "../link/match.js";
import { find } from "./find.js";

/**
 * @param {{href: string}} page the address of the page
 * @param {string} name of a match
 * @returns {string} the address of the page for a spectator of that match
 */
export function addressOf(page, name) {
  const address = new URL(page.href);
  for (const other of ["replay", "play"]) address.searchParams.delete(other);
  address.searchParams.set("match", name);
  return address.search;
}

/**
 * A match in `/info`.
 *
 * @typedef {object} Match
 * @property {string} name
 * @property {string} map
 * @property {?number} players null for a visitor who may not see the match
 * @property {number} max_players
 * @property {boolean} failed
 */

/** A button with the name of the match, and the list that it opens. */
export class Matches {
  constructor() {
    this.button = find("#choose", HTMLElement);
    this.name = find("span", HTMLElement, this.button);
    this.popover = find("#matches", HTMLElement);
    this.list = find("ul", HTMLElement, this.popover);
    this.popover.addEventListener("toggle", () => this.popover.matches(":popover-open") && this.renew());
  }

  /**
   * Shows the matches that `/info` lists; nothing if the server has only one.
   *
   * @param {{match?: string, matches?: Match[]}} info
   */
  show({ match, matches }) {
    if (!matches) return;
    this.button.hidden = matches.length < 2;
    this.name.textContent = match ?? "";
    const lines = matches.map(({ name, map, players, max_players: most, failed }) => {
      const [line, link] = [document.createElement("li"), document.createElement("a")];
      link.href = addressOf(location, name);
      link.textContent = name;
      if (name === match) link.setAttribute("aria-current", "page");
      // The server does not send the number of players to a visitor who may not see the match.
      const many = players === null ? `up to ${most} players` : `${players} of ${most} players`;
      line.append(link, failed ? " has failed" : ` ${map}, ${many}`);
      return line;
    });
    // The link that has the focus keeps it.
    const at = [...this.list.querySelectorAll("a")].findIndex((link) => link === document.activeElement);
    this.list.replaceChildren(...lines);
    (this.list.querySelectorAll("a")[at] ?? null)?.focus();
  }

  /** Updates the numbers of players. */
  async renew() {
    /** @type {?HTMLElement} */ (this.list.querySelector("[aria-current]"))?.focus();
    try {
      const answer = await fetch(ofMatch("/info"), { cache: "no-store" });
      if (answer.ok) this.show(await answer.json());
    } catch {
      // The failure is ignored: if the server is gone, another part of the page says so.
    }
  }
}
