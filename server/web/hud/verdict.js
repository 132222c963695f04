/** In one word whether the match keeps its time, and what that takes of the machine. */

/** Share of ticks that may be late and are caught up: as the alert has it. */
const HARMLESS = 0.05;

/** Share of ticks left out from which on the match is slower than the clock to the eye. */
const SEEN = 0.01;

/**
 * What the server's own figures come to.
 *
 * @param {import("./metrics.js").Interval} interval
 * @returns {{state: "good" | "warn" | "bad", word: string, detail: string}}
 */
export function verdict(interval) {
  const wanted = interval.value("game_tick_rate_hertz");
  const rate = interval.rate("game_ticks_total");
  const late = interval.growth("game_tick_overruns_total") / interval.growth("game_ticks_total");
  const dropped = interval.growth("game_ticks_dropped_total");
  const share = interval.mean("game_tick_duration_seconds") * wanted * 100;
  const cores = interval.rate("game_process_cpu_seconds");
  const memory = interval.value("game_process_resident_memory_bytes") / 1e6;
  const detail = [
    `${rate.toFixed(0)} of ${wanted} ticks a second`,
    `a tick takes ${share.toFixed(0)} % of its time`,
    late > 0 ? `${(late * 100).toFixed(1)} % late` : "none late",
    dropped > 0 ? `${dropped} left out` : null,
    `${cores.toFixed(1)} cores`,
    `${memory.toFixed(0)} MB`,
  ];
  const isSlow = dropped > SEEN * interval.growth("game_ticks_total");
  const [state, word] = isSlow ? ["bad", "Slow"] : late > HARMLESS || dropped > 0 ? ["warn", "Late"] : ["good", "On time"];
  return { state, word, detail: detail.filter(Boolean).join(" · ") };
}

/** Shows it at the top, and in the server's own panel. */
export class VerdictView {
  constructor() {
    this.chip = document.querySelector("#verdict");
    this.line = document.querySelector("#charts summary span");
  }

  /** @param {import("./metrics.js").Interval} interval */
  show(interval) {
    const { state, word, detail } = verdict(interval);
    this.chip.hidden = false;
    this.chip.dataset.state = state;
    this.chip.textContent = word;
    this.chip.title = detail;
    this.line.textContent = detail;
  }

  /** Nothing is known any longer. */
  hide() {
    this.chip.hidden = true;
    this.line.textContent = "";
  }
}
