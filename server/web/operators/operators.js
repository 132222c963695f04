/** What only operators see: the server's charts, the verdict on its ticks, and counts of the match. */

import { Charts } from "./charts.js";
import { find } from "../hud/find.js";
import { MetricsFeed } from "./metrics.js";
import { put } from "../hud/put.js";
import { VerdictView, verdict } from "./verdict.js";

/** Milliseconds between two requests for metrics. */
const METRICS_EVERY = 2000;

/** The panels of operators. */
export class Operators {
  /** @param {import("../store/store.js").Store} store */
  constructor(store) {
    this.store = store;
    this.charts = new Charts();
    this.verdict = new VerdictView();
    this.entities = find("#entities", HTMLElement);
    this.tick = find("#tick", HTMLElement);
    this.metrics = new MetricsFeed((interval) => {
      this.charts.show(interval);
      const judged = verdict(interval);
      this.verdict.show(judged);
      if (store.line.state === "live") store.line.halted = judged.halted;
    });
  }

  /**
   * Requests the metrics again and again, at the same moments as every other page whose clock is
   * right, so that the server computes them once for all.
   */
  run() {
    setTimeout(() => {
      if (!document.hidden && this.store.server?.for_operators && this.store.line.state === "live") this.metrics.ask();
      this.run();
    }, METRICS_EVERY - (Date.now() % METRICS_EVERY));
  }

  /** Hides the verdict, because no figures are known. */
  forget() {
    this.verdict.hide();
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
