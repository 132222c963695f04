/** Opens recordings: a file that is dropped or chosen, or one of the server's. */

import { chosenMatch, ofMatch, onServer } from "../link/match.js";
import { openRecording, sizeOf } from "../replay/opening.js";
import { Dialogue } from "./dialogue.js";

/**
 * A recording in the server's list.
 *
 * @typedef {object} Listed
 * @property {string} name
 * @property {number} bytes
 * @property {?number} changed when the recording ended, in seconds since 1970
 * @property {?string} map null if this server's build cannot read the recording
 * @property {?number} seconds of its length; null if it is cut short, or still being written
 */

/** @param {number} seconds */
function length(seconds) {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds) % 60).padStart(2, "0")}`;
}

/**
 * The facts about a recording that are shown beside its name.
 *
 * @param {Listed} listed
 * @param {string} [locale] for tests
 */
export function facts({ bytes, changed, map, seconds }, locale) {
  const day = { dateStyle: "medium", timeStyle: "short" };
  const date = changed && new Date(changed * 1000).toLocaleString(locale, /** @type {Intl.DateTimeFormatOptions} */ (day));
  const lasts = seconds === null ? "no end yet" : length(seconds);
  return [map ?? "of another version", date, map && lasts, sizeOf(bytes)].filter(Boolean).join(" · ");
}

/**
 * Sends a request to the server. If the server is gone, browsers name no cause, so the page does.
 *
 * @param {string} address
 * @param {RequestInit} [how]
 */
export async function asked(address, how) {
  try {
    return await fetch(address, how);
  } catch {
    throw new Error("The server does not answer: it has stopped, or the line is broken. Reload the page once it runs.");
  }
}

/** The list of recordings. */
export class Recordings {
  /**
   * @param {object} page
   * @param {() => boolean} page.isPlaying whether a recording would end the player's match
   * @param {(opened: import("../replay/opening.js").Opened) => void} page.open called with a
   *   recording that can be played, once a player has agreed
   */
  constructor(page) {
    this.page = page;
    this.dialogue = new Dialogue();
    this.popover = /** @type {HTMLElement} */ (document.querySelector("#recordings"));
    this.list = /** @type {HTMLElement} */ (this.popover.querySelector("ul"));
    /** Number of files that were chosen. Of several, only the last is opened. */
    this.chosen = 0;
    const input = /** @type {HTMLInputElement} */ (this.popover.querySelector("input"));
    input.addEventListener("change", () => {
      const [file] = input.files ?? [];
      if (file) this.take(file, file.name);
      // Otherwise the input would not report a second choice of the same file.
      input.value = "";
    });
    this.popover.addEventListener("toggle", (event) => /** @type {ToggleEvent} */ (event).newState === "open" && this.ask());
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      const [file] = event.dataTransfer?.files ?? [];
      if (file) this.take(file, file.name);
    });
  }

  /**
   * Opens a recording of the server by its name.
   *
   * @param {string} name
   */
  async fetch(name) {
    const answer = await asked(onServer(`/replays/${encodeURIComponent(name)}`));
    if (!answer.ok) throw new Error(`The server has no recording ${name} in the folder of its --replay-dir.`);
    this.page.open(await openRecording(await answer.blob(), name));
  }

  /** Fetches the last half minute of the match, which the server keeps in memory. */
  async lastSeconds() {
    const answer = await asked(ofMatch("/rewind"), { cache: "no-store" });
    if (!answer.ok) throw new Error((await answer.text()).trim());
    return openRecording(await answer.blob(), "the last half minute");
  }

  /**
   * Opens a file, if it can be played and the player agrees.
   *
   * @param {Blob} file
   * @param {string} name
   */
  async take(file, name) {
    const turn = ++this.chosen;
    if (this.popover.matches(":popover-open")) this.popover.hidePopover();
    let opened;
    try {
      opened = await openRecording(file, name);
    } catch (error) {
      if (turn === this.chosen) this.dialogue.tell(`${name} cannot be opened`, /** @type {Error} */ (error).message);
      return;
    }
    if (turn === this.chosen && (await this.mayLeave(name)) && turn === this.chosen) this.page.open(opened);
    else opened.worker.terminate();
  }

  /** @param {string} name of the file for which the player would leave the match */
  async mayLeave(name) {
    if (!this.page.isPlaying()) return true;
    return this.dialogue.ask(`Leave the match and open ${name}?`, "Your player leaves the match. You can join again.", { yes: "Leave and open", no: "Stay" });
  }

  /** Asks the server for its recordings, and lists them. */
  async ask() {
    /** @type {Listed[]} */
    let found = [];
    try {
      const answer = await fetch(onServer("/replays"), { cache: "no-store" });
      if (answer.ok) found = await answer.json();
    } catch {
      // The failure is ignored: if the server is gone, a file can still be opened.
    }
    this.list.replaceChildren(...found.map(row));
  }
}

/** @param {Listed} listed */
function row(listed) {
  const [line, link, told] = [document.createElement("li"), document.createElement("a"), document.createElement("small")];
  const match = chosenMatch();
  link.href = `?replay=${encodeURIComponent(listed.name)}${match && `&match=${encodeURIComponent(match)}`}`;
  link.textContent = listed.name;
  told.textContent = facts(listed);
  line.append(link, told);
  return line;
}
