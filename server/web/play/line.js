/**
 * The quality of a player's connection: round trip, loss, jitter, the age of the picture and the
 * corrections of the prediction, and a warning if it is bad. The warning names the cause: the line, the
 * server, or this computer.
 */

/** Milliseconds between two samples, and how many samples are kept: half a minute. */
const EVERY = 250;
const KEPT = 120;

/**
 * Number of the samples of three seconds, on which a warning is based, and number of the samples of
 * the latest second.
 */
const JUDGED = 12;
const LATEST = 4;

/**
 * A page that was busy receives the waiting snapshots in a burst. A snapshot belongs to the burst
 * if it is received less than this many milliseconds after the end of the busy time, or after the
 * snapshot before it in the burst. Half the time between two snapshots is the limit if it is less.
 */
const BURST = 8;

/** Milliseconds without a snapshot after which the connection counts as silent. */
const SILENT = 1000;

/**
 * Limits above which a connection is bad, in milliseconds, shares, and corrections a second. `fewer` is
 * the share of the announced snapshots that the server does not send.
 */
const BAD = { rtt: 180, jitter: 25, loss: 0.05, corrections: 6, fewer: 0.5 };

/**
 * Shares of the time in which the page stands still. Above `explains`, the standstill explains lost
 * and late snapshots, because browsers drop datagrams that a page does not take in. Above `bad`, it
 * is bad by itself.
 */
const BUSY = { explains: 0.2, bad: 0.5 };

/** Weight of a new deviation in the jitter, which is a running mean (RFC 3550, 6.4.1). */
const SMOOTHED = 1 / 16;

/**
 * @typedef {object} Sample
 * @property {number} rtt milliseconds
 * @property {number} loss share of the snapshots sent that did not come, 0 to 1
 * @property {number} fewer share of the announced snapshots that the server did not send, 0 to 1
 * @property {number} busy share of the time in which the page stood still, 0 to 1
 * @property {number} jitter milliseconds
 * @property {number} age milliseconds by which the picture of others is behind the newest tick
 * @property {number} corrections visible corrections a second
 */

/**
 * Figures of the client library.
 *
 * @typedef {object} Stats
 * @property {number} tick
 * @property {number} snapshots received
 * @property {number} sent snapshots that the server has sent, counted by their sequence numbers
 * @property {number} rtt milliseconds
 * @property {number} delay ticks by which other players are shown late
 * @property {number} visible corrections large enough to be seen
 */

/** The connection of one player. */
export class Line {
  /**
   * @param {number} [tickRate] ticks a second
   * @param {number} [rate] snapshots a second that the server announces
   */
  constructor(tickRate = 60, rate = tickRate) {
    this.tickRate = tickRate;
    this.rate = rate;
    this.burst = Math.min(BURST, 500 / rate);
    /** @type {Sample[]} oldest first */
    this.samples = [];
    this.jitter = 0;
    /** @type {?number} */
    this.arrived = null;
    /** The last time that the page was busy: its end, and its length in milliseconds. */
    this.busy = { until: -Infinity, length: 0 };
    /** Milliseconds since the last sample in which the page stood still. */
    this.stood = 0;
    /** @type {?Stats} */
    this.last = null;
    this.sampledAt = -Infinity;
  }

  /**
   * Notes that the page was busy for `length` milliseconds until now, and received nothing.
   *
   * @param {number} now milliseconds
   * @param {number} length
   */
  wasBusy(now, length) {
    const { until, length: before } = this.busy;
    this.stood += Math.max(0, length);
    // A short wait does not end the burst after a long one.
    if (length > 0 && (length > before || now - until >= this.burst)) this.busy = { until: now, length };
  }

  /**
   * Notes that a snapshot was received.
   *
   * @param {number} now milliseconds
   * @param {number} [busy] milliseconds that the page has been busy until now
   */
  arrive(now, busy = 0) {
    if (now - this.busy.until < this.burst) {
      // A snapshot of the burst: it came while the page was busy.
      this.busy.until = now;
      busy = Math.max(busy, this.busy.length);
    }
    if (this.arrived !== null) {
      // A snapshot that waited for the page was not late on the network.
      const off = Math.max(0, Math.abs(now - this.arrived - 1000 / this.rate) - busy);
      this.jitter += (Math.min(off, SILENT) - this.jitter) * SMOOTHED;
    }
    this.arrived = now;
  }

  /**
   * Whether the next sample is due.
   *
   * @param {number} now milliseconds
   */
  isDue(now) {
    return now - this.sampledAt >= EVERY;
  }

  /**
   * Takes a sample.
   *
   * @param {number} now milliseconds
   * @param {Stats} stats of the client library
   */
  sample(now, stats) {
    const { last, stood } = this;
    const passed = (now - this.sampledAt) / 1000;
    this.sampledAt = now;
    this.last = stats;
    this.stood = 0;
    // All counters start again in another world, so no sample is taken.
    if (!last || stats.tick < last.tick || stats.visible < last.visible || !(passed < 5)) return;
    const [came, sent] = [stats.snapshots - last.snapshots, stats.sent - last.sent];
    this.samples.push({
      rtt: stats.rtt,
      loss: sent > 0 ? Math.max(0, 1 - came / sent) : 0,
      fewer: Math.max(0, 1 - sent / (this.rate * passed)),
      busy: Math.min(1, stood / (passed * 1000)),
      jitter: this.jitter,
      age: (stats.delay * 1000) / this.tickRate + Math.max(0, now - (this.arrived ?? now)),
      corrections: (stats.visible - last.visible) / passed,
    });
    if (this.samples.length > KEPT) this.samples.shift();
  }

  /**
   * The mean of the latest samples, by default of a second; null if there are none.
   *
   * @param {keyof Sample} name
   */
  mean(name, count = LATEST) {
    const values = this.samples.slice(-count).map((sample) => sample[name]);
    return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
  }

  /**
   * The lesser of the means of three seconds and of the latest second, so that a warning ends with
   * its cause.
   *
   * @param {keyof Sample} name
   */
  lasting(name) {
    return Math.min(this.mean(name, JUDGED) ?? 0, this.mean(name) ?? 0);
  }

  /**
   * The warning about a bad connection; empty for a good one.
   *
   * @param {number} now milliseconds
   */
  word(now) {
    if (this.arrived !== null && now - this.arrived > SILENT) return "No word from the server: the connection or the server is down.";
    if (this.samples.length < JUDGED) return "";
    const [loss, jitter, corrections, busy, fewer] = /** @type {const} */ (["loss", "jitter", "corrections", "busy", "fewer"]).map((name) => this.lasting(name));
    const suffers = loss > BAD.loss || jitter > BAD.jitter || fewer > BAD.fewer;
    if (busy > BUSY.bad || (busy > BUSY.explains && suffers)) {
      return `This computer is too busy: the page stands still for ${Math.round(busy * 100)} % of the time. Close other programs.`;
    }
    if (loss > BAD.loss) return `Bad line: ${Math.round(loss * 100)} % of the snapshots are lost.`;
    if (fewer > BAD.fewer) {
      return `The server sends ${Math.round((1 - fewer) * this.rate)} of ${this.rate} snapshots a second: it is too busy, or lacks bandwidth for you.`;
    }
    if (jitter > BAD.jitter) return `Bad line: snapshots come ${Math.round(jitter)} ms too early or too late.`;
    if (this.lasting("rtt") > BAD.rtt) return `Far away: ${Math.round(this.lasting("rtt"))} ms round trip.`;
    if (corrections > BAD.corrections) return "The server corrects your position again and again.";
    return "";
  }
}
