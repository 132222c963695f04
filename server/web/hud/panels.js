/**
 * The panels that fold. Operators find all of them open, visitors only the panel of players. The
 * browser remembers which ones a visitor opens or folds. A small screen has room for one: when the
 * screen becomes small all are folded, and opening one folds the others. When there is room again,
 * the panels that were open before are opened. Somebody who plays sees the panel of players only
 * while a key is held.
 */

import { find } from "./find.js";
import { remember, remembered } from "./remembered.js";

const SMALL = matchMedia("(max-width: 760px), (max-height: 520px)");

const MEMORY = "arena panels";

/** The panel that visitors find open. */
const FOR_ALL = "score";

/** Keeps panels from covering each other. */
export class Panels {
  constructor() {
    this.all = ["#layers", "#score", "#charts"].map((panel) => find(panel, HTMLDetailsElement));
    this.score = find("#score", HTMLDetailsElement);
    /**
     * Whether each panel is open when there is room; null before the server's `/info` has come.
     *
     * @type {?Record<string, boolean>}
     */
    this.wanted = null;
    this.isPlaying = false;
    SMALL.addEventListener("change", () => this.fit());
    for (const panel of this.all) {
      panel.addEventListener("toggle", () => this.opened(panel));
      find("summary", HTMLElement, panel).addEventListener("click", () => this.chosen(panel));
    }
  }

  /**
   * Opens the panels that belong to this kind of visitor, unless they have chosen others.
   *
   * @param {boolean} forOperators
   */
  begin(forOperators) {
    if (this.wanted) return;
    const choices = remembered(MEMORY);
    this.wanted = Object.fromEntries(this.all.map(({ id }) => [id, choices[id] ?? (forOperators || id === FOR_ALL)]));
    this.fit();
  }

  /** Adapts the panels after the screen has become small or large, or the page plays or watches. */
  fit() {
    for (const panel of this.all) panel.open = !SMALL.matches && !(this.isPlaying && panel === this.score) && Boolean(this.wanted?.[panel.id]);
  }

  /**
   * Notes that the page plays, or that it does not any more.
   *
   * @param {boolean} isPlaying
   */
  play(isPlaying) {
    if (isPlaying === this.isPlaying) return;
    this.isPlaying = isPlaying;
    this.fit();
  }

  /**
   * Shows the players to a player while a key is held.
   *
   * @param {boolean} isHeld
   */
  hold(isHeld) {
    if (this.isPlaying) this.score.open = isHeld;
  }

  /**
   * Remembers whether the visitor opens or folds a panel. The panel has not changed yet.
   *
   * @param {HTMLDetailsElement} panel
   */
  chosen(panel) {
    if (SMALL.matches || this.isPlaying || !this.wanted) return;
    this.wanted[panel.id] = !panel.open;
    remember(MEMORY, { ...remembered(MEMORY), [panel.id]: !panel.open });
  }

  /** @param {HTMLDetailsElement} panel */
  opened(panel) {
    if (!SMALL.matches || !panel.open) return;
    for (const other of this.all) if (other !== panel) other.open = false;
  }
}
