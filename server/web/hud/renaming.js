/** Draws the note beside the name of a player who has chosen another, and joins again on demand. */

import { put } from "./put.js";

/** The note below the field of the name. */
export class RenamingView {
  /** @param {() => void} again joins again under the chosen name */
  constructor(again) {
    this.note = document.querySelector("#renaming");
    this.text = this.note.querySelector("span");
    this.note.querySelector("button").addEventListener("click", () => {
      document.querySelector("#help").hidePopover();
      again();
    });
  }

  /** @param {import("../tell/tell.js").Told} told */
  show({ renaming }) {
    this.note.hidden = renaming === "";
    put(this.text, renaming);
  }
}
