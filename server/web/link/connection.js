/**
 * One spectator's connection to the server: WebTransport, the hello, snapshots in and
 * acknowledgements out, until it ends. `keep_watching.js` begins the next one.
 */

import { idleCommand } from "../wire/commands.js";
import { described } from "../match/described.js";
import { NO_SCHEMA } from "../wire/fields.js";
import { forgetPassword, password } from "./password.js";
import { Framer, hello, leave, mismatch, serverMessage } from "../wire/control.js";
import { EffectReader, hasEffects } from "../wire/effects.js";
import { History } from "../wire/history.js";
import { Malformed } from "../wire/range_decoder.js";
import { chosenMatch, ofMatch } from "./match.js";
import { unreachable } from "./unreachable.js";

/** Milliseconds to wait for an answer. */
const PATIENCE = 5000;

/** Datagrams that the browser keeps for a page that stands still: as many as come in a second. */
const KEPT = 128;

/** The reason why a connection ended, in words for people. */
export class Ended extends Error {
  /**
   * @param {string} message what is wrong
   * @param {string} [advice] what can be done about it
   */
  constructor(message, advice = "") {
    super(message);
    this.advice = advice;
    /** Whether another attempt would end the same way. */
    this.isFinal = false;
    /** @type {?string} the reason in fewer words, if there are any */
    this.short = null;
  }
}

/** @typedef {Record<string, any>} Info the JSON of `/info` */

/**
 * @typedef {object} Listener
 * @property {(hello: object) => void} joined called with the server's hello, once the server has
 *   accepted the page
 * @property {(world: object) => void} newWorld called when the match goes on in another world;
 *   `joined` follows
 * @property {(event: object) => void} event called with each event of the match
 * @property {(snapshot: object, history: History) => void} snapshot called with each decoded
 *   snapshot
 * @property {(effects: import("../wire/effects.js").Effect[]) => void} effects called with the effects
 *   that a datagram brought, each once
 */

/**
 * Fetches the server's description of itself.
 *
 * @returns {Promise<Info>}
 * @throws {Ended} if the server does not answer, or has no such match
 */
export async function fetchInfo() {
  let missing = "";
  try {
    const answer = await fetch(ofMatch("/info"), { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
    if (answer.ok) return await answer.json();
    if (answer.status === 404) missing = await answer.text();
  } catch {
    // The failure is thrown below as an `Ended`.
  }
  if (missing) throw new Ended(`The server has ${missing}`, "Set ?match= in the address of the page to a match of this server.");
  throw new Ended("The server does not answer.", "It may be restarting, or have stopped.");
}

/**
 * The address of the game's UDP port. `?host=` and `?port=` come first, for pages that came through
 * a tunnel. Then comes the server's own host, then the host of the page.
 *
 * @param {Info} info the server's `/info`
 * @param {{search: string, hostname: string}} [page] address of the page
 * @returns {{address: string, port: number}} in the form that WebTransport takes
 */
export function gameAddress(info, page = location) {
  const asked = new URLSearchParams(page.search);
  // `localhost` may mean IPv4 or IPv6, and the server may listen on only one of them.
  const loopback = info.families?.includes("ipv4") === false ? "::1" : "127.0.0.1";
  const own = page.hostname === "localhost" ? loopback : page.hostname;
  const host = asked.get("host") || info.host || own;
  const named = Number(asked.get("port"));
  const port = Number.isInteger(named) && named > 0 && named < 65536 ? named : info.port;
  const literal = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return { address: `https://${literal}:${port}/`, port };
}

/** @param {string} hexadecimal */
function fingerprint(hexadecimal) {
  return Uint8Array.from(hexadecimal.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/**
 * Waits for a promise, and throws the error if it is not settled in time.
 *
 * @param {Promise<any>} promise
 * @param {number} milliseconds
 * @param {unknown} error
 */
async function within(promise, milliseconds, error) {
  let timer = 0;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(error), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Opens a session of WebTransport with the server.
 *
 * @param {Info} info the server's `/info`
 * @param {string} [path] of the request: `play` for players, nothing for spectators
 * @returns {Promise<WebTransport>} the session, once it is open
 * @throws {Ended} if the session cannot be opened
 */
export async function connect(info, path = "") {
  const game = gameAddress(info);
  const failed = (/** @type {unknown} */ error) => {
    if (info.certificate_fault) {
      const fault = `${info.certificate_fault[0].toUpperCase()}${info.certificate_fault.slice(1)}`;
      return new Ended("The server's certificate is not valid now.", `${fault}. Browsers refuse it.`);
    }
    const { message, advice } = unreachable(info, game, /** @type {?Error} */ (error), PATIENCE);
    return new Ended(message, advice);
  };
  let web;
  try {
    // Only a self-signed certificate is pinned. The browser trusts a certificate of an authority
    // without a hash, and that certificate may be valid for longer than browsers allow for a pinned
    // one.
    const value = fingerprint(info.certificate_sha256);
    const pinned = { serverCertificateHashes: [{ algorithm: "sha-256", value }] };
    web = new WebTransport(game.address + path, info.self_signed ? pinned : {});
  } catch (error) {
    throw new Ended("This browser refused to connect.", String(error));
  }
  // Other code waits for this promise and reports its failure. Without a handler here, the failure
  // would be an uncaught error of the page.
  web.closed.catch(() => {});
  const late = Symbol("late");
  try {
    await within(web.ready, PATIENCE, late);
  } catch (error) {
    web.close();
    throw failed(error === late ? null : error);
  }
  // Browsers keep only a few datagrams for a page that stands still for a moment, and drop the others.
  web.datagrams.incomingHighWaterMark = KEPT;
  return web;
}

/** One connection. */
export class Connection {
  /** @param {Listener} listener is called with everything that comes */
  constructor(listener) {
    this.listener = listener;
    /** Bytes of received datagrams. */
    this.bytes = 0;
    /** Snapshots that were decoded. */
    this.snapshots = 0;
    /** @type {?History} what the server has sent, once it has accepted the page */
    this.history = null;
    /** @type {?EffectReader} of the present world */
    this.effects = null;
    /** @type {?WebTransport} */
    this.web = null;
    /** @type {?WritableStreamDefaultWriter} of the control stream */
    this.control = null;
    /** @type {?WritableStreamDefaultWriter} */
    this.datagrams = null;
    /** @type {?Record<string, any>} the server's hello */
    this.terms = null;
    this.isClosed = false;
  }

  /**
   * Joins and watches until the connection ends.
   *
   * @param {Info} info the server's `/info`
   * @returns {Promise<never>}
   * @throws {Ended} always, in the end
   */
  async watch(info) {
    if (info.max_spectators === 0) {
      throw new Ended("This server takes no spectators.", "You can still play. The server's option --max-spectators allows some.");
    }
    const web = (this.web = await connect(info));
    try {
      // The page may have closed the connection during the handshake.
      if (this.isClosed) throw new Ended("The page has stopped watching.");
      const control = await web.createBidirectionalStream();
      this.control = control.writable.getWriter();
      this.datagrams = web.datagrams.writable.getWriter();
      await this.control.write(hello("browser", chosenMatch(), password(info), true));
      return await Promise.race([this.hearControl(control.readable), this.hearDatagrams(web), this.closed(web)]);
    } finally {
      this.close();
    }
  }

  /** Closes the connection from this side. */
  close() {
    this.isClosed = true;
    this.control?.write(leave()).catch(() => {});
    try {
      this.web?.close();
    } catch {
      // The session was never open, so there is nothing to close.
    }
  }

  /**
   * @param {WebTransport} web
   * @returns {Promise<never>}
   */
  async closed(web) {
    try {
      await web.closed;
    } catch {
      throw new Ended("The connection was lost.", "The server may have stopped, or the network failed.");
    }
    throw new Ended("The server closed the connection.");
  }

  /**
   * @param {ReadableStream<Uint8Array>} readable
   * @returns {Promise<never>}
   */
  async hearControl(readable) {
    const framer = new Framer();
    const reader = readable.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) throw new Ended("The server closed the connection.");
      for (const frame of framer.push(value)) this.hear(serverMessage(frame));
    }
  }

  /** @param {Record<string, any>} message */
  hear(message) {
    switch (message.message) {
      case "hello":
        this.terms = message;
        this.history = new History(/** @type {any} */ (message));
        this.effects = new EffectReader(/** @type {any} */ (message));
        this.listener.joined(message);
        break;
      case "new-world":
        // Drops the history: snapshots that still arrive are of the old world.
        this.history = null;
        this.listener.newWorld(message);
        this.control?.write(hello("browser", "", undefined, true)).catch(() => {});
        break;
      case "refused":
        throw refusal(message);
      case "closing":
        throw closing(message);
      default:
        if (message.event === "game") {
          if (!described(message, this.terms?.schema ?? NO_SCHEMA)) throw new Malformed("an event of an unknown kind");
        }
        this.listener.event(message);
    }
  }

  /**
   * @param {WebTransport} web
   * @returns {Promise<never>}
   */
  async hearDatagrams(web) {
    const reader = web.datagrams.readable.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return this.closed(web);
      // Datagrams before the hello cannot be decoded yet.
      if (this.history) this.take(value, this.history);
    }
  }

  /**
   * @param {Uint8Array} datagram
   * @param {History} history
   */
  take(datagram, history) {
    const mismatches = history.mismatches.length;
    this.bytes += datagram.length;
    if (hasEffects(datagram)) {
      const effects = this.effects?.receive(datagram, history.latest) ?? [];
      if (effects.length > 0) this.listener.effects(effects);
      return;
    }
    const snapshot = history.receive(datagram);
    if (!snapshot) return;
    this.snapshots++;
    for (const tick of history.mismatches.slice(mismatches)) {
      this.control?.write(mismatch(tick)).catch(() => {});
    }
    this.datagrams?.write(idleCommand(history.latest, history.acknowledgement())).catch(() => {});
    this.listener.snapshot(snapshot, history);
  }
}

/** @param {Record<string, any>} message */
function closing({ reason, why }) {
  switch (reason) {
    case "shutting-down":
      return new Ended("The server is shutting down.");
    case "timed-out":
      return new Ended("The server closed the connection.", "It had heard nothing from this page for too long.");
    case "removed":
      return new Ended(`The server's operator removed this page: ${why}`);
    default:
      return new Ended("The server closed the connection.");
  }
}

/** @param {Record<string, any>} message */
function refusal({ reason, server, limit, matches }) {
  switch (reason) {
    case "wrong-version":
      return new Ended(
        `The server speaks version ${server} of the protocol, and this page another one.`,
        "Reload the page: the server may have been updated.",
      );
    case "full":
      return new Ended(
        `All ${limit} places for spectators are taken.`,
        "The server's option --max-spectators allows more.",
      );
    case "banned":
      return new Ended("This address is banned from the server.");
    case "token-required":
    case "bad-token":
      forgetPassword();
      return new Ended("The password is missing or wrong.", "Reload the page to enter it again.");
    case "not-allowed":
      return new Ended(
        "The server has a list of who may join, and you are not on it.",
        "The server's operator can add you to it (option --allow).",
      );
    case "address-limit":
      return new Ended(
        "This address already has as many spectators as one address may have, has connected too often, or has sent too many wrong passwords.",
        "The server's options --address-spectators and --address-exempt allow more.",
      );
    case "no-such-match":
      return new Ended(
        "The server has no match with this name.",
        `Set ?match= in the address of the page to one of: ${matches.join(", ")}.`,
      );
    default:
      return new Ended(`The server refused: ${reason}.`);
  }
}
