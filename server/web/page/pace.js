/** The pace of the page: how often it draws, the cost, and how many pixels it draws to keep up. */

import { Detail } from "../draw/detail.js";

/** Milliseconds over which frames are counted. */
const COUNTED = 1000;

/** The pace of the page. */
export class Pace {
  constructor() {
    this.detail = new Detail();
    this.frames = { count: 0, since: performance.now(), script: 0, worst: 0 };
    /** The latest cost of drawing: frames a second, and milliseconds of script for each frame. */
    this.paint = { rate: 0, script: 0, worst: 0 };
  }

  /**
   * Counts a frame.
   *
   * @param {number} at milliseconds
   * @param {boolean} adapts whether fewer pixels may be drawn to keep up
   * @returns {boolean} whether another second was counted
   */
  count(at, adapts) {
    const { frames } = this;
    frames.count++;
    if (at - frames.since < COUNTED) return false;
    this.paint = {
      rate: (frames.count * 1000) / (at - frames.since),
      script: frames.script / frames.count,
      worst: frames.worst,
    };
    Object.assign(frames, { count: 0, since: at, script: 0, worst: 0 });
    if (adapts) this.detail.note(this.paint.rate);
    else this.detail.reset();
    return true;
  }

  /**
   * Notes how long a frame took.
   *
   * @param {number} script milliseconds
   */
  took(script) {
    this.frames.script += script;
    this.frames.worst = Math.max(this.frames.worst, script);
  }
}
