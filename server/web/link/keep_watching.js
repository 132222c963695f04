/**
 * Watches for good: whenever a conversation ends it says so plainly, waits a
 * little longer each time, and begins another.
 */

import { Connection, Ended, fetchInfo } from "./connection.js";

/** Milliseconds between attempts: short at first, since most ends are restarts. */
const PAUSES = [300, 700, 1500, 3000, 5000];

/** Milliseconds for which a hidden page keeps its place among the spectators. */
const HIDDEN = 300_000;

/**
 * @typedef {object} Status
 * @property {"connecting" | "live" | "lost" | "unsupported"} state how it stands
 * @property {string} [message] what is wrong
 * @property {string} [advice] what can be done about it
 * @property {number} [retryAt] when it is tried again, by `performance.now()`
 */

/**
 * Why this browser cannot show the match, or null if it can.
 *
 * @returns {?Status}
 */
export function unsupported() {
  if (!globalThis.isSecureContext) {
    return {
      state: "unsupported",
      message: "Browsers allow WebTransport only on pages of this machine, or over HTTPS.",
      advice: `Ask whoever runs the server for its page over HTTPS (--page). Or open http://127.0.0.1:${location.port}/ on the server's own machine; or forward that port to yours, ssh -L ${location.port}:127.0.0.1:${location.port} ${location.hostname}, and open http://127.0.0.1:${location.port}/?host=${location.hostname} there.`,
    };
  }
  if (typeof WebTransport === "undefined") {
    return {
      state: "unsupported",
      message: "This browser has no WebTransport.",
      advice: "Use Chrome, Edge or another Chromium of version 120 or later, or Firefox of version 133 or later. Safari has WebTransport from version 26.4 on; nobody has tried it with this page.",
    };
  }
  return null;
}

/** Keeps a match in view. */
export class Watcher {
  /**
   * @param {import("./connection.js").Listener & {
   *   prepare: (info: object) => Promise<void>,
   *   status: (status: Status) => void,
   * }} listener hears of what comes; `prepare` may fetch what `info` tells of
   */
  constructor(listener) {
    this.listener = listener;
    /** @type {?Connection} the conversation under way */
    this.connection = null;
    /** How many conversations there were, this one included. */
    this.joins = 0;
    this.wake = () => {};
    this.stopped = false;
    this.runs = 0;
    /** Whether it stopped because nobody sees the page, or it was left. */
    this.isResting = false;
    this.hidden = HIDDEN;
    document.addEventListener("visibilitychange", () => this.seen(!document.hidden));
    addEventListener("online", () => this.wake());
    // A browser may keep a page that was left, and show it again.
    addEventListener("pagehide", () => this.rest());
    addEventListener("pageshow", () => this.seen(!document.hidden));
  }

  /** Watches no longer. */
  stop() {
    this.stopped = true;
    this.connection?.close();
  }

  /** Watches again, after it was stopped. */
  start() {
    if (!this.stopped) return;
    [this.stopped, this.isResting] = [false, false];
    this.run();
  }

  /** Stops until the page is seen again. */
  rest() {
    if (this.stopped) return;
    this.isResting = true;
    this.stop();
  }

  /** The page is seen from now on, or not: a hidden one gives its place to others. */
  seen(isSeen) {
    clearTimeout(this.resting);
    if (!isSeen) {
      this.resting = setTimeout(() => this.rest(), this.hidden);
    } else if (this.isResting) {
      this.start();
    }
  }

  /** Tries again now instead of when the pause is over. */
  retry() {
    this.wake();
  }

  /** Runs for as long as the page is open. */
  async run() {
    const cannot = unsupported();
    if (cannot) return this.listener.status(cannot);
    // A run that was stopped in a pause does not go on beside the next one.
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

  /** @param {number} run which of the runs this belongs to: another may have begun meanwhile */
  async watchOnce(run) {
    let connection = null;
    const joined = (hello) => {
      this.joins++;
      this.listener.joined(hello);
      this.listener.status({ state: "live" });
    };
    try {
      const info = await fetchInfo();
      await this.listener.prepare(info);
      if (this.stopped || run !== this.runs) return new Ended("The page watches no longer.");
      connection = this.connection = new Connection({ ...this.listener, joined });
      return await connection.watch(info);
    } catch (error) {
      if (error instanceof Ended) return error;
      // A conversation that was stopped breaks off whatever it waits for.
      if (this.stopped) return new Ended("The page watches no longer.");
      console.error(error);
      return new Ended("What the server said could not be read.", String(error));
    } finally {
      if (this.connection === connection) this.connection = null;
    }
  }

  async pause(milliseconds, { message, advice }) {
    const retryAt = performance.now() + milliseconds;
    this.listener.status({ state: "lost", message, advice, retryAt });
    await new Promise((resolve) => {
      this.wake = resolve;
      setTimeout(resolve, milliseconds);
    });
  }
}
