/** The legend of colours, and the height at which the onion is cut. */

import { css } from "../draw/colours.js";

/** The lower part of the panel of layers. */
export class Legend {
  /** @param {(height: number) => void} cutAt called when the viewer chooses another height */
  constructor(cutAt) {
    this.list = document.querySelector("#legend");
    this.line = document.querySelector("#height");
    this.slider = this.line.querySelector("input");
    this.figure = this.line.querySelector("output");
    this.slider.addEventListener("input", () => cutAt(Number(this.slider.value)));
  }

  /**
   * @param {{colour?: number[], label: string}[]} entries
   * @param {boolean} cuts whether the onion is shown
   * @param {?number} height of the cut, in units
   * @param {?{min: number[], max: number[]}} bounds of the map
   */
  show(entries, cuts, height, bounds) {
    const state = JSON.stringify([entries, cuts, height]);
    if (this.state === state) return;
    this.state = state;
    this.list.replaceChildren(
      ...entries.map(({ colour, label }) => {
        const line = document.createElement("li");
        if (colour) {
          const mark = document.createElement("i");
          mark.style.background = css(colour);
          line.append(mark);
        }
        line.append(label);
        return line;
      }),
    );
    this.line.hidden = !cuts || height === null || !bounds;
    if (this.line.hidden) return;
    Object.assign(this.slider, { min: Math.ceil(bounds.min[2] / 4) * 4, max: bounds.max[2], step: 4, value: height });
    this.figure.textContent = `${height}`;
  }
}
