/** Draws the card on which the page opens. */

import { find } from "./find.js";
import { put } from "./put.js";
import { remember, remembered } from "./remembered.js";

const MEMORY = "arena welcome";

/** The card with a name and Play. */
export class WelcomeView {
  /**
   * @param {import("../store/store.js").Store} store
   * @param {import("./settings.js").Settings} settings
   * @param {object} acts
   * @param {() => void} acts.play joins the match
   * @param {() => void} acts.changed called when the visitor wants to watch
   */
  constructor(store, settings, acts) {
    this.card = find("#welcome", HTMLFormElement);
    this.title = find("strong", HTMLElement, this.card);
    this.detail = find("small", HTMLElement, this.card);
    this.fault = find("p", HTMLElement, this.card);
    this.name = find("[name=name]", HTMLInputElement, this.card);
    settings.bind(this.name);
    store.wantsToWatch = remembered(MEMORY).watch === true;
    this.card.addEventListener("submit", (event) => {
      event.preventDefault();
      remember(MEMORY, { watch: false });
      acts.play();
    });
    const watch = () => {
      store.wantsToWatch = true;
      remember(MEMORY, { watch: true });
      acts.changed();
    };
    find("[name=watch]", HTMLElement, this.card).addEventListener("click", watch);
    this.card.addEventListener("keydown", (event) => event.key === "Escape" && watch());
    // A click selects the invented name, so that a typed name replaces it.
    this.name.addEventListener("click", () => {
      if (this.name.value === settings.guest) this.name.select();
    });
    // A new name ends the fault of the old one.
    this.name.addEventListener("input", () => {
      store.refused = "";
      acts.changed();
    });
  }

  /** @param {import("../tell/tell.js").Told} told */
  show({ welcome }) {
    document.body.classList.toggle("welcome", welcome !== null);
    this.card.hidden = welcome === null;
    if (!welcome) return;
    put(this.title, welcome.title);
    put(this.detail, welcome.detail);
    if (welcome.fault && welcome.fault !== this.fault.textContent) this.name.focus();
    put(this.fault, welcome.fault);
  }
}
