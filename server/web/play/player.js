/**
 * A player in the match: WebTransport on one side, the client library on the other, and
 * what it says of the match in between.
 */

import { Ended, connect, fetchInfo } from "../link/connection.js";
import { shownBetween } from "../replay/frames.js";
import { CLOSE, DATAGRAM, FINISH, PlayEngine, STREAM } from "./engine.js";

/** Milliseconds between two ticks of input while the page is hidden and draws nothing. */
const HIDDEN = 250;

/** Milliseconds after which a page that nobody sees gives its place in the match back. */
const AWAY = 60_000;

/** One player, from joining to leaving. */
export class Player {
  /**
   * @param {string} name
   * @param {object} listener hears of what comes
   * @param {(map: {map: string, map_hash: string}) => Promise<void>} listener.map the match is on this map
   * @param {() => void} listener.joined the player is in the match
   * @param {(ended: Ended) => void} listener.ended the player is not, or no longer, in the match
   */
  constructor(name, listener) {
    Object.assign(this, { name, listener });
    /** @type {?PlayEngine} */
    this.engine = null;
    this.web = null;
    this.isJoined = false;
    /** Whether the own player is in the world: alive, that is. */
    this.isThere = false;
    this.isOver = false;
    /** Where the own player was seen last. */
    this.own = null;
    /** What the keys say, until it is asked for. */
    this.input = { forward: 0, right: 0, yaw: 0, pitch: 0, buttons: 0 };
  }

  /** Joins and plays until that ends. */
  async run() {
    const timer = setInterval(() => this.playHidden(), HIDDEN);
    try {
      const [info, engine] = await Promise.all([fetchInfo(), PlayEngine.load()]);
      this.engine = engine;
      this.web = await connect(info, "play");
      const control = await this.web.createBidirectionalStream();
      this.control = control.writable.getWriter();
      this.datagrams = this.web.datagrams.writable.getWriter();
      if (this.isOver) return;
      engine.join(this.name);
      this.flush();
      await Promise.race([this.read(control.readable, false), this.read(this.web.datagrams.readable, true)]);
      throw new Ended("The server closed the connection.");
    } catch (error) {
      this.end(error instanceof Ended ? error : new Ended("The connection was lost.", String(error.message ?? error)));
    } finally {
      clearInterval(timer);
      this.close();
    }
  }

  async read(readable, isDatagram) {
    const reader = readable.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done || this.isOver) return;
      this.engine.receive(value, isDatagram);
      this.hear();
      this.flush();
    }
  }

  hear() {
    for (const event of this.engine.events()) {
      if (event.what === "joined") this.joined(event).catch((error) => this.end(new Ended("The map cannot be loaded.", error.message)));
      else if (event.what === "new-world") this.isThere = false;
      else this.end(new Ended(`You are not in the match: ${event.why}.`));
    }
  }

  async joined({ map, hash }) {
    await this.listener.map({ map, map_hash: hash });
    const answer = await fetch(`/maps/${hash}`);
    if (!answer.ok) throw new Error(`/maps/${hash}: status ${answer.status}`);
    this.engine.useMap(new Uint8Array(await answer.arrayBuffer()));
    this.isJoined = true;
    this.listener.joined();
  }

  /** Sends what is to be sent. */
  flush() {
    for (const { kind, bytes } of this.engine.sent()) {
      if (kind === STREAM) this.control.write(bytes).catch(() => {});
      if (kind === DATAGRAM) this.datagrams.write(bytes).catch(() => {});
      if (kind === FINISH) this.control.close().catch(() => {});
      if (kind === CLOSE) this.close();
    }
  }

  /** A page that is hidden draws nothing, and stays in the match for a while. */
  playHidden() {
    if (!document.hidden) this.hiddenSince = null;
    else if (performance.now() - (this.hiddenSince ??= performance.now()) < AWAY) this.play();
    else {
      this.engine?.leave();
      if (this.control) this.flush();
      this.end(new Ended("You left the match: this page was hidden for a minute."));
    }
  }

  /** Plays the ticks that are due. */
  play() {
    if (!this.engine || !this.control || this.isOver) return;
    this.engine.tick(this.input);
    this.hear();
    this.flush();
  }

  /**
   * What is to be drawn now.
   *
   * @returns {?{tick: number, shown: import("../match/motion.js").Shown[]}} null before anything is known
   */
  view() {
    if (!this.isJoined) return null;
    const { tick, isThere, numbers } = this.engine.view();
    this.isThere = isThere;
    if (tick < 0) return null;
    const shown = shownBetween(numbers, null, 0, 1);
    if (isThere) this.own = shown[0];
    return { tick, shown: shown.sort((a, b) => a.slot - b.slot) };
  }

  end(ended) {
    if (this.isOver) return;
    this.isOver = true;
    this.listener.ended(ended);
  }

  /** Leaves the match. */
  leave() {
    if (this.isOver) return;
    this.isOver = true;
    this.engine?.leave();
    if (this.control) this.flush();
  }

  close() {
    try {
      this.web?.close();
    } catch {
      // It was never open.
    }
  }
}
