/** Draws the line to the server: a word at the top, and a panel for trouble. */

import { find } from "./find.js";
import { put } from "./put.js";

/** The word and the panel. */
export class StatusView {
  /**
   * @param {import("../store/store.js").Store} store
   * @param {() => void} retry called by the button
   */
  constructor(store, retry) {
    this.store = store;
    this.chip = find("#status", HTMLElement);
    this.trouble = find("#trouble", HTMLElement);
    this.message = find("strong", HTMLElement, this.trouble);
    this.advice = find("p", HTMLElement, this.trouble);
    this.wait = find("output", HTMLElement, this.trouble);
    this.button = find("button", HTMLElement, this.trouble);
    this.button.addEventListener("click", retry);
  }

  /** The line that is shown. */
  get status() {
    return this.store.line;
  }

  /** @param {import("../tell/tell.js").Told} told */
  show({ chip, trouble }) {
    this.chip.dataset.state = chip.state;
    put(this.chip, chip.word);
    this.trouble.hidden = trouble === null;
    if (!trouble) return;
    put(this.message, trouble.message);
    put(this.advice, trouble.advice);
    put(this.wait, trouble.wait);
    this.button.hidden = !trouble.canRetry;
  }
}
