/**
 * The moment of the match that is shown. It is a little in the past, so that there is always a
 * snapshot on either side of it to interpolate between.
 */

/**
 * Seconds by which the picture is behind the newest snapshot. The server may leave a moving body
 * out of snapshots for 100 ms (PROTOCOL.md, "What is carried"), and sends a snapshot every 50 ms by
 * default.
 */
const BEHIND = 0.16;

/** Error in seconds above which the shown moment jumps instead of being eased. */
const JUMP = 0.5;

/** Rate of the correction: a frame of `passed` seconds corrects `EASE * passed` of the error. */
const EASE = 2;

/** Seconds for which the clock takes the arrival of a snapshot into account. */
const MEMORY = 3;

/** The clock of the match that is shown. */
export class MatchClock {
  constructor() {
    this.tickRate = 60;
    /** @type {?number} the moment that is shown, in seconds of the match; null before the first */
    this.shown = null;
    /** @type {{at: number, ahead: number}[]} the snapshots that have arrived lately */
    this.arrivals = [];
  }

  /** Forgets everything, for another server. */
  reset() {
    this.shown = null;
    this.arrivals = [];
  }

  /**
   * Notes that a snapshot of `tick` has arrived.
   *
   * @param {number} tick
   * @param {number} now seconds
   */
  arrived(tick, now) {
    const ahead = tick / this.tickRate - now;
    this.arrivals = this.arrivals.filter(({ at }) => at > now - MEMORY);
    this.arrivals.push({ at: now, ahead });
  }

  /**
   * Advances the clock and returns the tick to show, with a fraction; null if nothing is known yet.
   *
   * @param {number} now seconds
   * @param {number} passed seconds since the last call
   * @returns {?number}
   */
  advance(now, passed) {
    if (this.arrivals.length > 0) {
      // The fastest recent arrival counts: the other snapshots were delayed on the way.
      const ahead = Math.max(...this.arrivals.map((arrival) => arrival.ahead));
      const wanted = now + ahead - BEHIND;
      if (this.shown === null || Math.abs(wanted - this.shown) > JUMP) {
        this.shown = wanted;
      } else {
        this.shown += passed;
        this.shown += (wanted - this.shown) * Math.min(1, EASE * passed);
      }
    }
    return this.shown === null ? null : this.shown * this.tickRate;
  }
}
