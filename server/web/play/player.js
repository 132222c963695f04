/**
 * A player in the match: WebTransport on one side, the client library on the other, and the events
 * in between. If the connection is lost, the page joins again as the same player, for as long as a
 * server keeps the body of a lost player.
 */

import { Ended, connect, fetchInfo } from "../link/connection.js";
import { forgetPassword, password } from "../link/password.js";
import { chosenMatch, ofMatch } from "../link/match.js";
import { shownBetween } from "../replay/frames.js";
import { NO_SCHEMA } from "../wire/fields.js";
import { CLOSE, DATAGRAM, FINISH, PlayEngine, STREAM } from "./engine.js";
import { Line } from "./line.js";
import { Path } from "./path.js";

/**
 * Milliseconds between two checks whether a tick is due. A page that draws slowly, or is hidden and
 * draws nothing, still sends its commands in time.
 */
const LOOK = 8;

/** Milliseconds after which a hidden page leaves the match. */
const AWAY = 60_000;

/**
 * Milliseconds for which the page tries to replace a lost connection, and milliseconds between two
 * attempts.
 */
const REJOIN = 60_000;
const AGAIN = 700;

/** Attempts to join. One may fail if the network or the machine is busy for some seconds. */
const ATTEMPTS = 3;

/** @typedef {{path: string, bytes: Uint8Array}} Fetched a file */

/** @typedef {{map: string, hash: string, game: ?string}} Joined what the client library says on joining */

/**
 * The bytes of a connect token that is written in hexadecimal.
 *
 * @param {string} text
 */
export function tokenBytes(text) {
  if (!/^([0-9a-f]{2})*$/i.test(text)) throw Object.assign(new Ended("The connect token is not valid.", "?token= takes hexadecimal digits, as `server token` prints them."), { isFinal: true });
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** The file of a game without data of its own. */
const NO_GAME = { path: "", bytes: new Uint8Array() };

/**
 * Fetches the file at a path, unless it is the one that was fetched last.
 *
 * @param {?Fetched} last
 * @param {string} path
 * @returns {Promise<Fetched>}
 */
async function fetchOnce(last, path) {
  if (last?.path === path) return last;
  const answer = await fetch(ofMatch(path));
  if (!answer.ok) throw new Error(`${path}: status ${answer.status}`);
  return { path, bytes: new Uint8Array(await answer.arrayBuffer()) };
}

/**
 * @typedef {object} Listener
 * @property {(map: {map: string, map_hash: string}) => Promise<void>} map called with the map of the
 *   match, to fetch its scene
 * @property {(info: import("../link/connection.js").Info) => void} told called with the server's `/info`
 * @property {() => void} joined called when the player is in the match
 * @property {(lost: {message: string, until: number}) => void} lost called when the connection was lost
 *   and another one is tried, with the reason of the loss and the time at which the attempts end
 * @property {(ended: Ended) => void} ended called when the player could not join, or is out of the match
 */

/** One player, from joining to leaving. */
export class Player {
  /**
   * @param {string} name
   * @param {import("./keys.js").Keys} keys of the player
   * @param {Listener} listener is called with everything that comes
   * @param {string} [token] a connect token, in hexadecimal
   */
  constructor(name, keys, listener, token = "") {
    this.name = name;
    this.keys = keys;
    this.listener = listener;
    this.token = token;
    /** @type {?PlayEngine} */
    this.engine = null;
    /** @type {?WebTransport} */
    this.web = null;
    /** @type {?WritableStreamDefaultWriter} of the control stream, while there is one */
    this.control = null;
    /** @type {?WritableStreamDefaultWriter} */
    this.datagrams = null;
    this.line = new Line();
    this.path = new Path();
    this.isJoined = false;
    /** Whether the page's own player is in the world, that is, alive. */
    this.isThere = false;
    /**
     * Whether the page's own player has just joined or respawned, and has not been turned to a wide
     * view yet.
     */
    this.isNew = true;
    this.isOver = false;
    /** The buttons that ticks have taken since the last picture, and the first of these ticks. */
    this.taken = { buttons: 0, from: 0 };
    /** The game's declarations of values, events and actions. */
    this.schema = NO_SCHEMA;
    /** @type {?import("./shots.js").Weapon[]} the weapons of the arena game; null in any other */
    this.weapons = null;
    /** The time of the last check whether a tick is due. */
    this.lookedAt = performance.now();
    /** @type {?import("../match/motion.js").Shown} the last state of the page's own player */
    this.own = null;
    /** @type {?Fetched} */
    this.map = null;
    /** @type {?Fetched} */
    this.game = null;
    /** @type {?Joined} the join whose files are wanted */
    this.wanted = null;
    /** @type {?Ended} the end that the client library has reported */
    this.cause = null;
    /** @type {?number} the time since which the page is hidden */
    this.hiddenSince = null;
  }

  /** Joins, and plays until the player is out of the match. */
  async run() {
    const timer = setInterval(() => this.playOn(), LOOK);
    let [lostAt, lostBy] = [0, ""];
    let failures = 0;
    for (let wasIn = false; !this.isOver; ) {
      const ended = await this.runOnce(wasIn);
      if (this.isOver) break;
      if (this.isJoined) [wasIn, lostAt, lostBy] = [true, performance.now(), ended.short ?? ended.message];
      this.isJoined = false;
      const isHopeless = wasIn ? performance.now() - lostAt > REJOIN : ++failures >= ATTEMPTS;
      if (ended.isFinal || isHopeless) this.end(ended);
      else if (wasIn) this.listener.lost({ message: lostBy.replace(/\.$/, ""), until: lostAt + REJOIN });
      if (!this.isOver) await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
    clearInterval(timer);
    this.close();
  }

  /**
   * Plays on one connection until it ends.
   *
   * @param {boolean} wasIn whether an earlier connection was lost
   * @returns {Promise<Ended>} why the connection ended
   */
  async runOnce(wasIn) {
    this.cause = null;
    // A map that a lost connection asked for does not concern the next connection.
    this.wanted = null;
    try {
      const [info, engine] = await Promise.all([fetchInfo(), this.engine ?? PlayEngine.load()]);
      this.engine = engine;
      this.listen(info);
      this.line = new Line(info.tick_rate, info.snapshot_rate);
      this.web = await connect(info, "play");
      const control = await this.web.createBidirectionalStream();
      this.control = control.writable.getWriter();
      this.datagrams = this.web.datagrams.writable.getWriter();
      if (this.isOver) return new Ended("You left the match.");
      if (wasIn) engine.rejoin();
      else join(engine, this.name, this.token ? tokenBytes(this.token) : password(info));
      this.flush();
      await Promise.race([this.read(engine, control.readable, false), this.read(engine, this.web.datagrams.readable, true)]);
      throw new Ended("The server closed the connection.");
    } catch (error) {
      if (this.cause) return this.cause;
      return error instanceof Ended ? error : new Ended("The connection was lost.", String(/** @type {Error} */ (error).message ?? error));
    } finally {
      [this.control, this.isThere] = [null, false];
      this.close();
    }
  }

  /**
   * @param {PlayEngine} engine
   * @param {ReadableStream<Uint8Array>} readable
   * @param {boolean} isDatagram
   */
  async read(engine, readable, isDatagram) {
    const reader = readable.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done || this.isOver || this.cause) return;
      engine.receive(value, isDatagram);
      if (isDatagram) this.arrive();
      this.hear();
      this.flush();
    }
  }

  /** Notes that a datagram has come. */
  arrive() {
    const now = performance.now();
    this.line.arrive(now, Math.max(0, now - this.lookedAt - LOOK));
  }

  hear() {
    for (const event of this.engine?.events() ?? []) {
      if (event.what === "joined") this.joined(event);
      else if (event.what === "new-world") {
        [this.isThere, this.isNew, this.wanted] = [false, true, null];
        // The game file beside the map may have other weapons.
        fetchInfo().then((info) => this.listen(info), () => {});
      } else {
        // After a wrong password, the next attempt asks for the password again.
        if (!this.isJoined) forgetPassword();
        const short = event.why.endsWith("the server is shutting down") ? "The server shut down" : null;
        this.cause = Object.assign(new Ended(`You are not in the match: ${event.why}.`), { isFinal: event.isFinal, short });
      }
    }
  }

  /** @param {Joined} event */
  async joined(event) {
    // The match may change to another map meanwhile, which another event announces.
    this.wanted = event;
    try {
      this.schema = this.engine?.schema() ?? NO_SCHEMA;
      await this.prepare(event);
    } catch (error) {
      if (this.wanted === event) this.end(new Ended("The map or the game's data cannot be loaded.", /** @type {Error} */ (error).message));
    }
  }

  /** @param {Joined} wanted */
  async prepare(wanted) {
    const { map, hash, game } = wanted;
    await this.listener.map({ map, map_hash: hash });
    const fetched = [fetchOnce(this.map, `/maps/${hash}`), game ? fetchOnce(this.game, `/games/${game}`) : NO_GAME];
    const [mapFile, gameFile] = await Promise.all(fetched);
    if (this.wanted !== wanted || this.isOver) return;
    [this.map, this.game] = [mapFile, gameFile];
    this.engine?.useMap(mapFile.bytes, gameFile.bytes);
    this.isJoined = true;
    this.listener.joined();
  }

  /**
   * Takes the server's `/info`.
   *
   * @param {import("../link/connection.js").Info} info
   */
  listen(info) {
    this.weapons = info.weapons ?? null;
    this.listener.told(info);
  }

  /** Sends all waiting messages. */
  flush() {
    for (const { kind, bytes } of this.engine?.sent() ?? []) {
      if (kind === STREAM) this.control?.write(bytes).catch(() => {});
      if (kind === DATAGRAM) this.datagrams?.write(bytes).catch(() => {});
      if (kind === FINISH) this.control?.close().catch(() => {});
      if (kind === CLOSE) this.close();
    }
  }

  /** Plays the due ticks, unless the page has been hidden for too long. */
  playOn() {
    const now = performance.now();
    this.line.wasBusy(now, now - this.lookedAt - LOOK);
    this.lookedAt = now;
    if (!document.hidden) this.hiddenSince = null;
    else this.hiddenSince ??= performance.now();
    if (this.hiddenSince && performance.now() - this.hiddenSince > AWAY) this.giveUp("You left the match: this page was hidden for a minute.");
    else this.play();
  }

  /**
   * Leaves the match and says why.
   *
   * @param {string} message
   */
  giveUp(message) {
    this.engine?.leave();
    if (this.control) this.flush();
    this.end(new Ended(message));
  }

  /** Plays the ticks that are due. */
  play() {
    if (!this.engine || !this.control || this.isOver) return;
    const input = this.keys.input();
    const played = this.engine.tick(input);
    if (played > 0) {
      const isFirst = this.taken.buttons === 0;
      this.taken = { buttons: this.taken.buttons | input.buttons, from: isFirst ? this.engine.sentTick - played + 1 : this.taken.from };
      this.keys.sent();
    }
    this.path.note(played);
    this.hear();
    this.flush();
    // Closing ends the readers of the connection. `cause` already says why it ended.
    if (this.cause) this.close();
  }

  /**
   * The state to draw now.
   *
   * @returns {?{tick: number, shown: import("../match/motion.js").Shown[]}} null before anything is
   *   known
   */
  view() {
    if (!this.engine || !this.isJoined) return null;
    const { tick, isThere, numbers } = this.engine.view();
    this.isThere = isThere;
    if (tick < 0) return null;
    const shown = shownBetween(numbers, null, 0, 1);
    if (isThere) {
      this.own = shown[0];
      this.smooth(this.own, this.engine.untilTick);
    }
    return { tick, shown: shown.sort((a, b) => a.slot - b.slot) };
  }

  /** The effects that the session has brought since the last call. */
  effects() {
    return this.engine?.effects() ?? [];
  }

  /**
   * The buttons that were pressed since the last call, or are to be sent with the next tick, and the
   * first and the last tick that has them.
   */
  pressed() {
    const { taken, engine } = this;
    this.taken = { buttons: 0, from: 0 };
    const last = engine?.sentTick ?? -1;
    if (taken.buttons !== 0) return { buttons: taken.buttons, from: taken.from, to: last };
    return { buttons: this.keys.input().buttons, from: last + 1, to: last + 1 };
  }

  /**
   * Interpolates the position of the page's own player, and the rotation of a tank, between two
   * ticks.
   *
   * @param {import("../match/motion.js").Shown} own
   * @param {?number} untilTick milliseconds
   */
  smooth(own, untilTick) {
    const turns = own.model === null ? [] : own.rotation;
    const pose = this.path.at([...own.position, ...turns], untilTick, 1000 / this.line.tickRate);
    own.position = pose.slice(0, 3);
    if (turns.length > 0) own.rotation = pose.slice(3).map((part) => part / Math.hypot(...pose.slice(3)));
  }

  /** @param {Ended} ended */
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
      // The session was never open, so there is nothing to close.
    }
  }
}

/**
 * Asks to join. A name that no server would take ends the attempts.
 *
 * @param {PlayEngine} engine
 * @param {string} name
 * @param {Uint8Array} token
 */
function join(engine, name, token) {
  try {
    engine.join(name, chosenMatch(), token);
  } catch (error) {
    throw Object.assign(new Ended(`You cannot join: ${/** @type {Error} */ (error).message}.`), { isFinal: true });
  }
}
