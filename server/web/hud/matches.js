/** The name of the match that is shown, and links to the server's other matches. */

import { ofMatch } from "../link/match.js";

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

/** A button with the name of the match, and the list that it opens. */
export class Matches {
  constructor() {
    this.button = document.querySelector("#choose");
    this.popover = document.querySelector("#matches");
    this.list = this.popover.querySelector("ul");
    this.popover.addEventListener("toggle", (event) => event.newState === "open" && this.renew());
  }

  /** Shows the matches that `/info` lists; nothing if the server has only one. */
  show({ match, matches }) {
    if (!matches) return;
    this.button.hidden = matches.length < 2;
    this.button.querySelector("span").textContent = match;
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
    const at = [...this.list.querySelectorAll("a")].indexOf(document.activeElement);
    this.list.replaceChildren(...lines);
    (this.list.querySelectorAll("a")[at] ?? null)?.focus();
  }

  /** Updates the numbers of players. */
  async renew() {
    this.list.querySelector("[aria-current]")?.focus();
    try {
      const answer = await fetch(ofMatch("/info"), { cache: "no-store" });
      if (answer.ok) this.show(await answer.json());
    } catch {
      // The failure is ignored: if the server is gone, another part of the page says so.
    }
  }
}
