/**
 * The position of the page's own player between two ticks. The client library predicts the player
 * tick by tick, and frames come at the display's rate. Without interpolation, some frames would
 * show no new tick and others two.
 */

import { mix } from "../draw/algebra.js";

/** Units in one tick above which the player was teleported. */
const ELSEWHERE = 64;

/**
 * A pose whose rotation, if it has one, is negated where that brings it nearer to the rotation of
 * another pose. A quaternion and its negative are the same rotation.
 *
 * @param {number[]} pose
 * @param {number[]} other
 */
function aligned(pose, other) {
  const along = pose.reduce((sum, part, at) => (at < 3 ? sum : sum + part * other[at]), 0);
  return along < 0 ? pose.map((part, at) => (at < 3 ? part : -part)) : pose;
}

/** The way of the page's own player over the last two ticks. */
export class Path {
  constructor() {
    /** @type {?number[]} */
    this.from = null;
    /** @type {?number[]} */
    this.to = null;
    this.played = 0;
  }

  /**
   * Counts ticks that were played since the last picture.
   *
   * @param {number} ticks
   */
  note(ticks) {
    this.played += ticks;
  }

  /**
   * The pose in which to draw the player. The time until the next tick tells where between the last
   * two ticks it is.
   *
   * @param {number[]} position after the latest tick, for a tank followed by its rotation
   * @param {?number} until milliseconds until the next tick, if known
   * @param {number} tick milliseconds of a tick
   * @returns {number[]}
   */
  at(position, until, tick) {
    // A player who gets into or out of a tank begins a new way, because the poses differ in length.
    if (this.to?.length !== position.length) this.from = this.to = null;
    if (this.to) position = aligned(position, this.to);
    if (this.played > 0 && this.to) this.from = mix(this.to, position, 1 - 1 / this.played);
    [this.to, this.played] = [position, 0];
    const { from } = this;
    const way = from ? Math.hypot(...position.map((value, axis) => value - from[axis])) : Infinity;
    if (!from || until === null || way > ELSEWHERE) {
      this.from = position;
      return position;
    }
    return mix(from, position, Math.min(Math.max(1 - until / tick, 0), 1));
  }
}
