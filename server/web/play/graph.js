/** The network graph of a player: the last half minute of the connection. */

import { find } from "../hud/find.js";

/**
 * @typedef {object} Curve
 * @property {keyof import("./line.js").Sample} name
 * @property {string} label
 * @property {string} colour
 * @property {number} full
 * @property {(value: number) => string} text
 */

/** Each curve: its label, its colour, the value that fills its strip, and the text of a value. */
const CURVES = /** @type {Curve[]} */ ([
  { name: "rtt", label: "RTT", colour: "#7ab8ff", full: 200, text: (value) => `${value.toFixed(0)} ms` },
  { name: "loss", label: "Loss", colour: "#ff8f7a", full: 0.2, text: (value) => `${(value * 100).toFixed(1)} %` },
  { name: "jitter", label: "Jitter", colour: "#f2c14e", full: 40, text: (value) => `${value.toFixed(1)} ms` },
  { name: "age", label: "Age", colour: "#5fd38d", full: 200, text: (value) => `${value.toFixed(0)} ms` },
  { name: "corrections", label: "Corrections", colour: "#d9a6ff", full: 10, text: (value) => `${value.toFixed(1)} a second` },
]);

/** Samples that fit into the graph. */
const WIDE = 120;

/** The graph, which is hidden at first. */
export class Graph {
  /** @param {HTMLElement} panel of the player */
  constructor(panel) {
    this.figure = find(".graph", HTMLElement, panel);
    this.canvas = find("canvas", HTMLCanvasElement, this.figure);
    find("figcaption", HTMLElement, this.figure).replaceChildren(
      ...CURVES.map(({ label, colour }) => {
        const line = document.createElement("span");
        line.append(Object.assign(document.createElement("i"), { style: `background: ${colour}` }), label, document.createElement("b"));
        return line;
      }),
    );
    this.values = [...this.figure.querySelectorAll("b")];
  }

  /** Shows or hides the graph. */
  toggle() {
    this.figure.hidden = !this.figure.hidden;
  }

  /** @param {import("./line.js").Line} line */
  draw(line) {
    const { samples } = line;
    if (this.figure.hidden) return;
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    const { width, height } = this.canvas;
    context.clearRect(0, 0, width, height);
    const strip = height / CURVES.length;
    CURVES.forEach(({ name, colour, full, text }, row) => {
      const bottom = (row + 1) * strip;
      context.strokeStyle = "rgb(150 175 220 / 0.16)";
      context.strokeRect(0, bottom - 0.5, width, 0);
      context.strokeStyle = colour;
      context.lineWidth = 1.5;
      context.beginPath();
      samples.forEach((sample, i) => {
        const share = Math.min((sample[name] ?? 0) / full, 1);
        context.lineTo(((WIDE - samples.length + i) / WIDE) * width, bottom - 1 - share * (strip - 4));
      });
      context.stroke();
      const mean = line.mean(name);
      this.values[row].textContent = mean === null ? "–" : text(mean);
    });
  }
}
