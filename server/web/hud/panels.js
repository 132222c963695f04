/**
 * The panels that fold. A small screen has room for one of them: when the screen becomes small all
 * are folded, and opening one folds the others. When there is room again, the panels that were open
 * before are opened.
 */

const SMALL = matchMedia("(max-width: 760px), (max-height: 520px)");

/** Keeps panels from covering each other. */
export class Panels {
  constructor() {
    this.all = [...document.querySelectorAll("details.panel")];
    /** The panels that were open while there was room. */
    this.before = null;
    SMALL.addEventListener("change", () => this.fit());
    for (const panel of this.all) panel.addEventListener("toggle", () => this.opened(panel));
    this.fit();
  }

  /** Adapts the panels after the screen has become small or large. */
  fit() {
    if (SMALL.matches) {
      this.before ??= this.all.filter(({ open }) => open);
      for (const panel of this.all) panel.open = false;
    } else if (this.before) {
      for (const panel of this.before) panel.open = true;
      this.before = null;
    }
  }

  opened(panel) {
    if (!SMALL.matches || !panel.open) return;
    for (const other of this.all) if (other !== panel) other.open = false;
  }
}
