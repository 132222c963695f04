/** Draws the clock, the card in the middle, the hint below the crosshair and the warning above. */

import { css, slotColour } from "../draw/colours.js";
import { onChange, put } from "./put.js";

/** The middle of the page. */
export class CentreView {
  constructor() {
    this.clock = document.querySelector("#clock");
    this.hint = document.querySelector("#play .word");
    this.warning = document.querySelector("#play .line");
    this.card = document.querySelector("#centre");
    this.title = this.card.querySelector("strong");
    this.table = this.card.querySelector("tbody");
    this.lines = this.card.querySelector("p");
    this.drawRows = onChange((rows) => this.fill(rows));
  }

  /** @param {import("../tell/tell.js").Told} told */
  show({ clock, centre, hint, warning }) {
    this.clock.hidden = clock === null;
    put(this.clock, clock ?? "");
    put(this.hint, hint);
    put(this.warning, warning);
    this.card.hidden = centre === null;
    if (!centre) return;
    this.card.dataset.kind = centre.kind;
    put(this.title, centre.title);
    put(this.lines, centre.lines.join("\n"));
    this.drawRows(centre.rows ?? []);
  }

  fill(rows) {
    this.table.parentElement.hidden = rows.length === 0;
    this.table.replaceChildren(
      ...rows.map(({ place, name, score, slot }) => {
        const row = document.createElement("tr");
        const [number, named, points] = [place, name, score].map((text) => Object.assign(row.insertCell(), { textContent: String(text) }));
        number.className = points.className = "number";
        const mark = document.createElement("i");
        mark.style.background = css(slotColour(slot));
        named.className = "name";
        named.prepend(mark);
        return row;
      }),
    );
  }
}
