/** Live charts of the last minutes. */

import { find } from "../hud/find.js";

const KEPT = 90;
const WORST_SHOWN = 1.15;

/** One chart: the latest figure, a curve, and perhaps a limit. */
class Chart {
  /**
   * @param {{label: string, unit: string, digits: number, colour: string}} kind
   * @param {HTMLElement} home
   */
  constructor({ label, unit, digits, colour }, home) {
    this.unit = unit;
    this.digits = digits;
    this.colour = colour;
    /** @type {?number} */
    this.limit = null;
    /** @type {(?number)[]} oldest first; null where a value is not known */
    this.values = [];
    this.box = document.createElement("figure");
    const caption = document.createElement("figcaption");
    const title = document.createElement("span");
    title.textContent = label;
    this.figure = document.createElement("output");
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    caption.append(title, this.figure);
    this.box.append(caption, this.canvas);
    home.append(this.box);
  }

  /**
   * @param {number} value
   * @param {?number} [limit] above which a value is bad
   */
  push(value, limit = null) {
    this.limit = limit;
    this.values.push(Number.isFinite(value) ? value : null);
    if (this.values.length > KEPT) this.values.shift();
    this.figure.textContent = Number.isFinite(value) ? `${value.toFixed(this.digits)} ${this.unit}` : "–";
    this.box.classList.toggle("over", limit !== null && value > limit);
    this.draw();
  }

  draw() {
    const { canvas, values, limit } = this;
    const ratio = Math.min(devicePixelRatio, 2);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (width === 0) return;
    [canvas.width, canvas.height] = [width * ratio, height * ratio];
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.scale(ratio, ratio);
    const known = values.filter((value) => value !== null);
    const most = Math.max(...known, 1e-9) * WORST_SHOWN;
    const top = limit !== null && limit < most * 2 ? Math.max(most, limit * 1.1) : most;
    const x = (/** @type {number} */ i) => width - (values.length - 1 - i) * (width / (KEPT - 1));
    const y = (/** @type {number} */ value) => height - 1 - (value / top) * (height - 3);
    if (limit !== null && limit <= top) {
      context.strokeStyle = "rgb(255 143 122 / 0.7)";
      context.setLineDash([3, 3]);
      context.beginPath();
      context.moveTo(0, y(limit));
      context.lineTo(width, y(limit));
      context.stroke();
      context.setLineDash([]);
    }
    const line = new Path2D();
    const first = values.findIndex((value) => value !== null);
    if (first < 0) return;
    values.forEach((value, i) => {
      if (value === null) return;
      if (i === first) line.moveTo(x(i), y(value));
      else line.lineTo(x(i), y(value));
    });
    const area = new Path2D(line);
    area.lineTo(x(values.findLastIndex((value) => value !== null)), height);
    area.lineTo(x(first), height);
    const shade = context.createLinearGradient(0, 0, 0, height);
    shade.addColorStop(0, `rgb(${this.colour} / 0.35)`);
    shade.addColorStop(1, `rgb(${this.colour} / 0.02)`);
    context.fillStyle = shade;
    context.fill(area);
    context.strokeStyle = `rgb(${this.colour})`;
    context.lineWidth = 1.6;
    context.lineJoin = "round";
    context.stroke(line);
  }
}

/** All charts. */
export class Charts {
  constructor() {
    const home = find("#charts > div", HTMLElement);
    this.tick = new Chart({ label: "Tick", unit: "ms", digits: 2, colour: "122 184 255" }, home);
    this.players = new Chart({ label: "Players", unit: "", digits: 0, colour: "95 211 141" }, home);
    this.sent = new Chart({ label: "Sent", unit: "kB/s", digits: 0, colour: "242 193 78" }, home);
    this.rtt = new Chart({ label: "Round trip", unit: "ms", digits: 1, colour: "214 150 255" }, home);
    this.detail = find("#charts > p", HTMLElement);
    addEventListener("resize", () => [this.tick, this.players, this.sent, this.rtt].forEach((chart) => chart.draw()));
  }

  /** @param {import("./metrics.js").Interval} interval */
  show(interval) {
    const deadline = 1000 / interval.value("game_tick_rate_hertz");
    this.tick.push(interval.mean("game_tick_duration_seconds") * 1000, deadline);
    this.players.push(interval.value("game_players"));
    this.sent.push(interval.rate('game_udp_bytes_total{direction="sent"}') / 1000);
    this.rtt.push(interval.mean("game_rtt_seconds") * 1000);
    const phases = ["input", "sim", "publish", "wake", "quantise", "interest", "encode", "send"].map((phase) => {
      const mean = interval.mean("game_tick_phase_seconds", `{phase="${phase}"}`) * 1000;
      return Number.isFinite(mean) ? `${phase} ${mean.toFixed(2)}` : null;
    });
    const p99 = interval.value('game_tick_duration_last_minute_seconds{quantile="0.99"}') * 1000;
    const slowest = Number.isFinite(p99) ? `p99 of the last minute ${p99.toFixed(2)} ms` : null;
    this.detail.textContent = [slowest, ...phases].filter(Boolean).join(" · ");
  }
}
