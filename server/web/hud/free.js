/** The part of the screen that the panels leave free for the map. */

import { find } from "./find.js";

/** Smallest share of the screen that counts as free, whatever is open. */
const LEAST = 0.45;

/**
 * The edge of a panel that is open.
 *
 * @param {string} selector
 * @param {"left" | "right" | "top"} side
 * @param {number} otherwise the edge if it is folded or hidden
 */
function edge(selector, side, otherwise) {
  const panel = find(selector, HTMLDetailsElement);
  return panel.open && panel.checkVisibility() ? panel.getBoundingClientRect()[side] : otherwise;
}

/**
 * The upper edge of the panel at the bottom: the charts, or the timeline of a replay.
 *
 * @param {number} height of the screen
 */
function bottomEdge(height) {
  const timeline = find("#timeline", HTMLElement);
  return timeline.hidden ? edge("#charts", "top", height) : timeline.getBoundingClientRect().top;
}

/**
 * @param {HTMLElement} picture which fills the screen
 * @returns {import("../camera/camera.js").Free}
 */
export function freeOf(picture) {
  const { clientWidth: width, clientHeight: height } = picture;
  let [left, right] = [edge("#layers", "right", 0), edge("#score", "left", width)];
  if (right - left < width * LEAST) [left, right] = [0, width];
  let [top, bottom] = [find("header", HTMLElement).getBoundingClientRect().bottom, bottomEdge(height)];
  if (bottom - top < height * LEAST) [top, bottom] = [0, height];
  return {
    x: (left + right) / width - 1,
    y: 1 - (top + bottom) / height,
    width: (right - left) / width,
    height: (bottom - top) / height,
  };
}
