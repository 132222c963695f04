/** Reads the server's own metrics, so that the page shows the same figures as Prometheus. */

import { chosenMatch, onServer } from "../link/match.js";

/** The name of a server's first match. */
const FIRST_MATCH = "main";

/**
 * Parses values in Prometheus' text format, by series. The label with the name of the match is
 * removed from the series of this page's match.
 *
 * @param {string} text
 * @param {string} [match] name of the match of this page
 * @returns {Map<string, number>}
 */
export function parseMetrics(text, match = FIRST_MATCH) {
  const values = new Map();
  const [alone, among] = [`{match="${match}"}`, `{match="${match}",`];
  for (const line of text.split("\n")) {
    const cut = line.lastIndexOf(" ");
    if (cut > 0 && !line.startsWith("#")) values.set(line.slice(0, cut).replace(alone, "").replace(among, "{"), Number(line.slice(cut + 1)));
  }
  return values;
}

/** The difference between two states of the metrics. */
export class Interval {
  /**
   * @param {Map<string, number>} before
   * @param {Map<string, number>} after
   * @param {number} seconds that passed
   */
  constructor(before, after, seconds) {
    this.before = before;
    this.after = after;
    this.seconds = seconds;
  }

  /**
   * The current value of a series.
   *
   * @param {string} series
   */
  value(series) {
    return this.after.get(series) ?? NaN;
  }

  /**
   * The growth of a counter.
   *
   * @param {string} series
   */
  growth(series) {
    return (this.after.get(series) ?? NaN) - (this.before.get(series) ?? NaN);
  }

  /**
   * The growth of a counter per second.
   *
   * @param {string} series
   */
  rate(series) {
    return this.growth(series) / this.seconds;
  }

  /**
   * The mean of a histogram's new values; NaN if there are none.
   *
   * @param {string} name
   * @param {string} [labels]
   */
  mean(name, labels = "") {
    return this.growth(`${name}_sum${labels}`) / this.growth(`${name}_count${labels}`);
  }
}

/**
 * Seconds over which rates are computed. Some counters grow only once a second, so their rates over
 * a shorter time would fluctuate.
 */
const OVER = 4.5;

/** Fetches the metrics again and again. */
export class MetricsFeed {
  /** @param {(interval: Interval) => void} told called with each new interval */
  constructor(told) {
    this.told = told;
    /** @type {{at: number, values: Map<string, number>}[]} the latest metrics, and the times at which they held */
    this.looks = [];
  }

  /** Fetches the metrics once. A failed fetch is skipped. */
  async ask() {
    try {
      const answer = await fetch(onServer("/figures"), { cache: "no-store", signal: AbortSignal.timeout(2000) });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      const age = Number(answer.headers.get("x-age-seconds")) * 1000;
      const at = performance.now() - age;
      const values = parseMetrics(await answer.text(), chosenMatch() || FIRST_MATCH);
      // If a counter went back, the server has restarted, and earlier values do not count.
      const count = (/** @type {Map<string, number>} */ of) => of.get("game_ticks_total") ?? NaN;
      if (this.looks.some((look) => count(look.values) > count(values))) this.looks = [];
      this.looks = [...this.looks.filter((look) => at - look.at < OVER * 1000), { at, values }];
      const before = this.looks[0];
      if (before.at < at) this.told(new Interval(before.values, values, (at - before.at) / 1000));
    } catch {
      this.looks = [];
    }
  }
}
