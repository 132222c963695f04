/**
 * Keeps watching a match. Whenever a connection ends, the watcher says why, waits, and opens
 * another one. Each failure in a row makes the wait longer.
 */

import { Connection, Ended, fetchInfo } from "./connection.js";

/**
 * Milliseconds between attempts. The first are short, because most connections end when the server
 * restarts.
 */
const PAUSES = [300, 700, 1500, 3000, 5000];

/** Milliseconds for which a hidden page keeps its place among the spectators. */
const HIDDEN = 300_000;

/**
 * @typedef {object} Status
 * @property {"connecting" | "live" | "lost" | "unsupported"} state of the connection
 * @property {string} [message] what is wrong
 * @property {string} [advice] what can be done about it
 * @property {number} [retryAt] time of the next attempt, by `performance.now()`
 */

/**
 * The reason why this browser cannot show the match, or null if it can.
 *
 * @returns {?Status}
 */
export function unsupported() {
  if (!globalThis.isSecureContext) {
    return {
      state: "unsupported",
      message: "Browsers allow WebTransport only on pages of this machine, or over HTTPS.",
      advice: `Ask the server's operator for its page over HTTPS (--page). Or open http://127.0.0.1:${location.port}/ on the server's own machine. Or forward that port to your machine (ssh -L ${location.port}:127.0.0.1:${location.port} ${location.hostname}) and open http://127.0.0.1:${location.port}/?host=${location.hostname} there.`,
    };
  }
  if (typeof WebTransport === "undefined") {
    return {
      state: "unsupported",
      message: "This browser has no WebTransport.",
      advice: "Use Chrome, Edge or another Chromium of version 120 or later, or Firefox of version 133 or later. Safari has WebTransport from version 26.4 on, but has not been tested with this page.",
    };
  }
  return null;
}

/** Keeps a match in view. */
export class Watcher {
  /**
   * @param {import("./connection.js").Listener & { prepare: (info: object) => Promise<void>,
   *   status: (status: Status) => void, }} listener is called with everything that comes; `prepare`
   *   may fetch the files that `info` names
   */
  constructor(listener) {
    this.listener = listener;
    /** @type {?Connection} the current connection */
    this.connection = null;
    /** Number of connections so far, including the current one. */
    this.joins = 0;
    this.wake = () => {};
    this.stopped = false;
    this.runs = 0;
    /** Whether the watcher stopped because the page was hidden or left. */
    this.isResting = false;
    this.hidden = HIDDEN;
    document.addEventListener("visibilitychange", () => this.seen(!document.hidden));
    addEventListener("online", () => this.wake());
    // A browser may keep a page that was left, and show it again.
    addEventListener("pagehide", () => this.rest());
    addEventListener("pageshow", () => this.seen(!document.hidden));
  }

  /** Stops watching. */
  stop() {
    this.stopped = true;
    this.connection?.close();
  }

  /** Watches again after `stop`. */
  start() {
    if (!this.stopped) return;
    [this.stopped, this.isResting] = [false, false];
    this.run();
  }

  /** Stops until the page is visible again. */
  rest() {
    if (this.stopped) return;
    this.isResting = true;
    this.stop();
  }

  /**
   * Notes that the page has become visible or hidden. A hidden page gives its place to others after
   * a while.
   *
   * @param {boolean} isSeen
   */
  seen(isSeen) {
    clearTimeout(this.resting);
    if (!isSeen) {
      this.resting = setTimeout(() => this.rest(), this.hidden);
    } else if (this.isResting) {
      this.start();
    }
  }

  /** Tries again now, without waiting for the end of the pause. */
  retry() {
    this.wake();
  }

  /** Runs for as long as the page is open. */
  async run() {
    const cannot = unsupported();
    if (cannot) return this.listener.status(cannot);
    // A run that was stopped during a pause does not go on beside the next run.
    const run = ++this.runs;
    for (let failures = 0; !this.stopped && run === this.runs; ) {
      this.listener.status({ state: "connecting" });
      const joins = this.joins;
      const ended = await this.watchOnce(run);
      if (this.stopped || run !== this.runs) return;
      failures = this.joins > joins ? 0 : failures + 1;
      await this.pause(PAUSES[Math.min(failures, PAUSES.length - 1)], ended);
    }
  }

  /**
   * @param {number} run number of the run that this call belongs to; another run may have begun
   *   meanwhile
   * @returns {Promise<Ended>} why the connection ended
   */
  async watchOnce(run) {
    let connection = null;
    const joined = (/** @type {object} */ hello) => {
      this.joins++;
      this.listener.joined(hello);
      this.listener.status({ state: "live" });
    };
    try {
      const info = await fetchInfo();
      await this.listener.prepare(info);
      if (this.stopped || run !== this.runs) return new Ended("The page has stopped watching.");
      connection = this.connection = new Connection({ ...this.listener, joined });
      return await connection.watch(info);
    } catch (error) {
      if (error instanceof Ended) return error;
      // `stop` has closed the connection, and the error only follows from this.
      if (this.stopped) return new Ended("The page has stopped watching.");
      console.error(error);
      return new Ended("The page could not read what the server sent.", String(error));
    } finally {
      if (this.connection === connection) this.connection = null;
    }
  }

  /**
   * @param {number} milliseconds
   * @param {Ended} ended why the last connection ended
   */
  async pause(milliseconds, { message, advice }) {
    const retryAt = performance.now() + milliseconds;
    this.listener.status({ state: "lost", message, advice, retryAt });
    await new Promise((/** @type {(ended: void) => void} */ resolve) => {
      this.wake = resolve;
      setTimeout(resolve, milliseconds);
    });
  }
}
