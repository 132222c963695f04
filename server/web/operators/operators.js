/** The panels for operators: the server's charts, the verdict on its ticks, counts of the match. */

import { find } from "../hud/find.js";
import { put } from "../hud/put.js";

/** Milliseconds between two requests for metrics. */
const METRICS_EVERY = 2000;

/** The panels of operators. */
export class Operators {
  /** @param {import("../store/store.js").Store} store */
  constructor(store) {
    this.store = store;
    /** @type {?import("./figures.js").Figures} null until an operator's page has loaded them */
    this.figures = null;
    this.entities = find("#entities", HTMLElement);
    this.tick = find("#tick", HTMLElement);
  }

  /**
   * Requests the metrics again and again, at the same moments as every other page whose clock is
   * right, so that the server computes them once for all pages.
   */
  run() {
    setTimeout(() => {
      if (!document.hidden && this.store.server?.for_operators && this.store.line.state === "live") this.ask();
      this.run();
    }, METRICS_EVERY - (Date.now() % METRICS_EVERY));
  }

  /** Requests the metrics. The first request loads the code that shows them, which visitors never need. */
  async ask() {
    if (!this.figures) {
      const loaded = await import(new URL("figures.js", import.meta.url).href);
      // If the server has joined a script with its imports, its exports are in one object.
      const { Figures } = loaded.default ?? loaded;
      this.figures ??= new Figures(this.store);
    }
    this.figures?.metrics.ask();
  }

  /** Hides the verdict, because no figures are known. */
  forget() {
    this.figures?.verdict.hide();
  }

  /**
   * Shows how many entities there are, and the tick that is shown.
   *
   * @param {number} entities
   * @param {?number} tick
   */
  show(entities, tick) {
    put(this.entities, String(entities));
    put(this.tick, tick === null ? "–" : String(Math.floor(tick)));
  }
}
