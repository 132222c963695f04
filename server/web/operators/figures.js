/** The figures of the server: its charts, and the verdict on its ticks. Only operators load them. */

import { Charts } from "./charts.js";
import { MetricsFeed } from "./metrics.js";
import { VerdictView, verdict } from "./verdict.js";

/** The charts and the verdict. */
export class Figures {
  /** @param {import("../store/store.js").Store} store */
  constructor(store) {
    const [charts, view] = [new Charts(), new VerdictView()];
    this.verdict = view;
    this.metrics = new MetricsFeed((interval) => {
      charts.show(interval);
      const judged = verdict(interval);
      view.show(judged);
      if (store.line.state === "live") store.line.halted = judged.halted;
    });
  }
}
