/** Three feeds: who killed whom, what was said, and events of the game. */

import { wayToDie } from "../store/log.js";

/** Seconds for which a line of each feed is shown. */
const SHOWN = { kills: 7, chat: 14, toasts: 4 };

/** Lines that each feed shows at a time. */
const LINES = { kills: 5, chat: 6, toasts: 3 };

/** Seconds after which no line is shown any more. */
export const LONGEST = SHOWN.chat;

/**
 * A line of a feed.
 *
 * @typedef {object} Said
 * @property {string} what kind of entry of the log it is
 * @property {string} text
 * @property {number} [slot] of the player whom the line is about
 * @property {boolean} [isOwn] whether the page's own player killed or died
 */

/**
 * The text of an entry of the log.
 *
 * @param {import("../store/log.js").Entry} entry
 */
function text({ what, name, by, means, line = "" }) {
  switch (what) {
    case "died":
      if (!by) return `${name} ${wayToDie(means) ?? "died"}`;
      return means ? `${by} ▸ ${name} (${means.replaceAll(/[_.-]/g, " ")})` : `${by} ▸ ${name}`;
    case "left":
      return `${name} left`;
    case "said":
      return `${name}: ${line}`;
    default:
      return line;
  }
}

/**
 * The latest lines of a feed, oldest first.
 *
 * @param {keyof typeof SHOWN} feed
 * @param {string[]} belongs the kinds of entries that belong to the feed
 */
function latest(feed, belongs) {
  /**
   * @param {import("../store/store.js").Store} store
   * @param {number} now seconds
   * @returns {Said[]}
   */
  return ({ log, own }, now) => {
    const lines = log.entries.filter(({ what, at }) => belongs.includes(what) && at > now - SHOWN[feed]);
    return lines.slice(-LINES[feed]).map((entry) => ({
      what: entry.what,
      text: text(entry),
      slot: entry.bySlot ?? entry.slot,
      isOwn: own?.slot != null && entry.what === "died" && [entry.slot, entry.bySlot].includes(own.slot),
    }));
  };
}

/** Who killed whom, and who left. */
export const kills = latest("kills", ["died", "left"]);

const said = latest("chat", ["said", "announced", "page"]);

/** The beginning of the line by which a server announces the result of a round. */
const RESULT = "The round is over";

/**
 * Lines of players, the server and the page itself. The middle of the page has the result of a
 * round and the reason why the page joins again, so the server's lines about these are left out.
 *
 * @param {import("../store/store.js").Store} store
 * @param {number} now seconds
 * @returns {Said[]}
 */
export function chat(store, now) {
  const isTold = store.line.state === "rejoining" ? "" : store.round.phase === "intermission" ? RESULT : null;
  return said(store, now).filter(({ what, text }) => what !== "announced" || isTold === null || !text.startsWith(isTold));
}

/** Events of the game. */
export const toasts = latest("toasts", ["game"]);
