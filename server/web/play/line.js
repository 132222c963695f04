/**
 * The quality of a player's connection: round trip, loss, jitter, the age of the picture and the
 * corrections of the prediction, and a warning if it is bad.
 */

/** Milliseconds between two samples, and how many samples are kept: half a minute. */
const EVERY = 250;
const KEPT = 120;

/**
 * Number of samples that a warning is based on, which are those of three seconds, and how many of
 * them are of the latest second.
 */
const JUDGED = 12;
const LATEST = 4;

/**
 * A page that was busy receives the waiting snapshots in a burst. A snapshot belongs to the burst
 * if it is received less than this many milliseconds after the end of the busy time, or after the
 * snapshot before it in the burst. If half the time between two snapshots is less, that counts
 * instead.
 */
const BURST = 8;

/** Milliseconds without a snapshot after which the connection counts as silent. */
const SILENT = 1000;

/** Limits above which a connection is bad, in milliseconds, shares, and corrections a second. */
const BAD = { rtt: 180, jitter: 25, loss: 0.05, corrections: 6 };

/** Weight of a new gap between snapshots in the mean that is the jitter (RFC 3550, 6.4.1). */
const SMOOTHED = 1 / 16;

/**
 * @typedef {object} Sample
 * @property {number} rtt milliseconds
 * @property {number} loss share of the due snapshots that did not come, 0 to 1
 * @property {number} jitter milliseconds
 * @property {number} age milliseconds by which the picture of others is behind the newest tick
 * @property {number} corrections visible corrections a second
 */

/** The connection of one player. */
export class Line {
  /**
   * @param {number} [tickRate] ticks a second
   * @param {number} [rate] snapshots a second that are due
   */
  constructor(tickRate = 60, rate = tickRate) {
    Object.assign(this, { tickRate, rate });
    this.burst = Math.min(BURST, 500 / rate);
    /** @type {Sample[]} oldest first */
    this.samples = [];
    this.jitter = 0;
    this.arrived = null;
    /** The last time that the page was busy: its end, and its length in milliseconds. */
    this.busy = { until: -Infinity, length: 0 };
    this.last = null;
    this.sampledAt = -Infinity;
  }

  /** Notes that the page was busy for `length` milliseconds until now, and received nothing. */
  wasBusy(now, length) {
    const { until, length: before } = this.busy;
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

  /** Whether the next sample is due. */
  isDue(now) {
    return now - this.sampledAt >= EVERY;
  }

  /**
   * Takes a sample.
   *
   * @param {number} now milliseconds
   * @param {object} stats of the client library
   */
  sample(now, stats) {
    const { last } = this;
    const passed = (now - this.sampledAt) / 1000;
    this.sampledAt = now;
    this.last = stats;
    // All counters start again in another world, so no sample is taken.
    if (!last || stats.tick < last.tick || stats.visible < last.visible || !(passed < 5)) return;
    const came = stats.snapshots - last.snapshots;
    const due = ((stats.tick - last.tick) * this.rate) / this.tickRate;
    this.samples.push({
      rtt: stats.rtt,
      loss: due > 0 ? Math.max(0, 1 - came / due) : 0,
      jitter: this.jitter,
      age: (stats.delay * 1000) / this.tickRate + Math.max(0, now - (this.arrived ?? now)),
      corrections: (stats.visible - last.visible) / passed,
    });
    if (this.samples.length > KEPT) this.samples.shift();
  }

  /** The mean of the latest samples, by default those of a second; null if there are none. */
  mean(name, count = LATEST) {
    const values = this.samples.slice(-count).map((sample) => sample[name]);
    return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
  }

  /**
   * The lesser of the means of three seconds and of the latest second, so that a warning ends with
   * its cause.
   */
  lasting(name) {
    return Math.min(this.mean(name, JUDGED), this.mean(name));
  }

  /** The warning about a bad connection; empty for a good one. */
  word(now) {
    if (this.arrived !== null && now - this.arrived > SILENT) return "No word from the server: the connection is down, or the server is.";
    if (this.samples.length < JUDGED) return "";
    const [loss, jitter, corrections] = ["loss", "jitter", "corrections"].map((name) => this.lasting(name));
    if (loss > BAD.loss) return `Bad line: ${Math.round(loss * 100)} % of the snapshots are lost.`;
    if (jitter > BAD.jitter) return `Bad line: snapshots come ${Math.round(jitter)} ms too early or too late.`;
    if (this.lasting("rtt") > BAD.rtt) return `Far away: ${Math.round(this.lasting("rtt"))} ms round trip.`;
    if (corrections > BAD.corrections) return "The server corrects your position again and again.";
    return "";
  }
}
