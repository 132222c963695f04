/** The legend of colours, and the height at which the onion is cut. */

import { css } from "../draw/colours.js";
import { find } from "./find.js";

/** The lower part of the panel of layers. */
export class Legend {
  /** @param {(height: number) => void} cutAt called when the viewer chooses another height */
  constructor(cutAt) {
    this.list = find("#legend", HTMLElement);
    this.line = find("#height", HTMLElement);
    this.slider = find("input", HTMLInputElement, this.line);
    this.figure = find("output", HTMLOutputElement, this.line);
    /** The state that is shown, as a text. */
    this.state = "";
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
    if (!cuts || height === null || !bounds) return;
    const range = [Math.ceil(bounds.min[2] / 4) * 4, bounds.max[2], 4, height];
    [this.slider.min, this.slider.max, this.slider.step, this.slider.value] = range.map(String);
    this.figure.textContent = `${height}`;
  }
}
