/**
 * Where the own player is drawn between two ticks. The client library predicts it tick by
 * tick; pictures come at the display's rate, and some would have no tick and some two.
 */

import { mix } from "../draw/algebra.js";

/** Units in one tick that are no way but another place. */
const ELSEWHERE = 64;

/** A pose whose rotation, if it has one, has the sign of another's: both are the same rotation. */
function aligned(pose, other) {
  const along = pose.reduce((sum, part, at) => (at < 3 ? sum : sum + part * other[at]), 0);
  return along < 0 ? pose.map((part, at) => (at < 3 ? part : -part)) : pose;
}

/** The own player's way of the last two ticks. */
export class Path {
  constructor() {
    this.from = null;
    this.to = null;
    this.played = 0;
  }

  /** So many ticks were played since the last picture. */
  note(ticks) {
    this.played += ticks;
  }

  /**
   * Where to draw the player: as far between the last two ticks as the time is to the next.
   *
   * @param {number[]} position after the latest tick; of a tank with its rotation behind
   * @param {?number} until milliseconds to the next one, if that is known
   * @param {number} tick milliseconds of one
   * @returns {number[]}
   */
  at(position, until, tick) {
    // A player who gets into a tank begins another way.
    if (this.to?.length !== position.length) this.from = this.to = null;
    if (this.to) position = aligned(position, this.to);
    if (this.played > 0 && this.to) this.from = mix(this.to, position, 1 - 1 / this.played);
    [this.to, this.played] = [position, 0];
    const way = this.from ? Math.hypot(...position.map((value, axis) => value - this.from[axis])) : Infinity;
    if (until === null || way > ELSEWHERE) {
      this.from = position;
      return position;
    }
    return mix(this.from, position, Math.min(Math.max(1 - until / tick, 0), 1));
  }
}
