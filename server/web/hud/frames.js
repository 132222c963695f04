/** The frame rate, and notes about a picture that is simplified to keep up. */

import { find } from "./find.js";

/**
 * @param {{rate: number, script: number}} paint frames a second, and milliseconds of script for
 *   each frame
 * @param {number} share of the pixels along each side that are drawn
 * @param {boolean} software whether there is no graphics processor
 */
export function showFrames({ rate, script }, share, software) {
  const figure = find("#frames", HTMLElement);
  figure.textContent = rate.toFixed(0);
  const pixels = share < 1 ? `; ${Math.round(share * 100)} % of the pixels along each side are drawn to keep up` : "";
  find("#figures div:has(> #frames)", HTMLElement).title = `The script takes ${script.toFixed(1)} ms of a frame${pixels}.`;
  const words = [];
  if (software) words.push("The browser draws without a graphics processor: only the map casts shadows. Switch hardware acceleration on in the browser's settings.");
  if (share < 1) words.push(`Drawn at ${Math.round(share * 100)} % sharpness to keep up.`);
  const note = find("#drawing", HTMLElement);
  if (note.textContent !== words.join(" ")) note.textContent = words.join(" ");
}
