/** The line to the server: a word at the top, and a panel in the middle if there is trouble. */

/** The words at the top. */
const WORDS = {
  connecting: "Connecting",
  live: "Live",
  lost: "Reconnecting",
  rejoining: "Rejoining",
  unsupported: "Not possible",
  replay: "Replay",
};

/**
 * @typedef {object} Trouble
 * @property {string} message what is wrong
 * @property {string} advice what can be done about it
 * @property {string} wait when the page tries again
 * @property {boolean} canRetry whether the visitor can ask for another attempt now
 */

/**
 * @param {number | undefined} at milliseconds
 * @param {number} now milliseconds
 */
const secondsUntil = (at, now) => Math.max(0, Math.ceil(((at ?? now) - now) / 1000));

/**
 * @param {import("../store/store.js").Store} store
 * @returns {{state: string, word: string}}
 */
export function chip({ line, mode }) {
  if (line.halted != null) return { state: "bad", word: "Standing still" };
  if (mode === "replay" && line.state === "connecting") return { state: line.state, word: "Opening the recording" };
  return { state: line.state, word: WORDS[line.state] };
}

/**
 * @param {import("../store/store.js").Store} store
 * @param {number} now milliseconds
 * @returns {?Trouble}
 */
export function trouble({ line }, now) {
  const { state, message = "", advice = "" } = line;
  if (line.halted != null) {
    return {
      message: `The match stands still: the server has finished no tick for ${line.halted.toFixed(0)} s.`,
      advice: "Its tick thread may hang. The server's log says more; restart the server if it does not recover.",
      wait: "",
      canRetry: false,
    };
  }
  if (state === "rejoining") return { message: `${message}; joining again for ${secondsUntil(line.until, now)} s`, advice, wait: "", canRetry: false };
  if (state === "unsupported") return { message, advice, wait: "", canRetry: false };
  if (state === "lost") return { message, advice, wait: `Trying again in ${secondsUntil(line.retryAt, now)} s`, canRetry: true };
  // During another attempt the trouble stays on the screen.
  return state === "connecting" && message ? { message, advice, wait: "Trying now…", canRetry: true } : null;
}
