/** Draws the clock, the card in the middle, the hint below the crosshair and the warning above. */

import { css, slotColour } from "../draw/colours.js";
import { find } from "./find.js";
import { onChange, put } from "./put.js";

/** @typedef {{place: number, name: string, score: number, slot: number}} Row */

/** The middle of the page. */
export class CentreView {
  constructor() {
    this.clock = find("#clock", HTMLElement);
    this.hint = find("#play .word", HTMLElement);
    this.warning = find("#play .line", HTMLElement);
    this.card = find("#centre", HTMLElement);
    this.title = find("strong", HTMLElement, this.card);
    this.table = find("table", HTMLTableElement, this.card);
    this.lines = find("p", HTMLElement, this.card);
    this.drawRows = onChange((/** @type {Row[]} */ rows) => this.fill(rows));
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

  /** @param {Row[]} rows */
  fill(rows) {
    this.table.hidden = rows.length === 0;
    this.table.tBodies[0].replaceChildren(
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
