/** Draws the note for a player who has chosen another name, and joins again on demand. */

import { find } from "./find.js";
import { put } from "./put.js";

/** The note below the field of the name. */
export class RenamingView {
  /** @param {() => void} again joins again under the chosen name */
  constructor(again) {
    this.note = find("#renaming", HTMLElement);
    this.text = find("span", HTMLElement, this.note);
    find("button", HTMLElement, this.note).addEventListener("click", () => {
      find("#help", HTMLElement).hidePopover();
      again();
    });
  }

  /** @param {import("../tell/tell.js").Told} told */
  show({ renaming }) {
    this.note.hidden = renaming === "";
    put(this.text, renaming);
  }
}
