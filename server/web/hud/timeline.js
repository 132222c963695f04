/**
 * The controls of a replay: play, step, speed, a timeline with the deaths on it, and the badge with
 * the progress of the verification.
 */

import { css, OTHER, slotColour } from "../draw/colours.js";
import { ofMatch } from "../link/match.js";
import { before, markAt, neighbour, told } from "../replay/marks.js";
import { isTyping } from "./typing.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];

/** Seconds by which Page Up and Page Down move. */
const LEAP = 5;

/**
 * @param {number} ticks
 * @param {number} rate ticks per second
 */
function clock(ticks, rate) {
  const seconds = Math.floor(Math.max(0, ticks) / rate);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/**
 * The worst fault of a recording that its verification has found so far.
 *
 * @param {import("../replay/engine.js").Progress} progress
 * @returns {?{said: string, detail: string}} the fault; null if none is known
 */
export function fault({ verified = 0, difference, broken, finding }) {
  const equal = `${verified.toLocaleString("en")} digests are equal`;
  if (difference) return { said: difference, detail: `${equal} before it.` };
  if (broken) return { said: broken, detail: `${equal} up to there; the rest cannot be played.` };
  // After a finding of the audit the comparison of digests goes on, because the fault was in the
  // match itself.
  if (finding) return { said: `audit: ${finding}`, detail: `${equal} so far, so the fault was already in the match when it was recorded.` };
  return null;
}

/** The controls of one replay. */
export class Timeline {
  /**
   * @param {import("../replay/replay.js").Replay} replay
   * @param {(() => void) | null} goLive returns to the match; null if the link does that by its
   *   address
   */
  constructor(replay, goLive) {
    this.replay = replay;
    this.panel = /** @type {HTMLElement} */ (document.querySelector("#timeline"));
    this.slider = /** @type {HTMLInputElement} */ (this.panel.querySelector("input"));
    this.marks = /** @type {HTMLCanvasElement} */ (this.panel.querySelector("canvas"));
    this.time = /** @type {HTMLElement} */ (this.panel.querySelector("output"));
    this.play = this.button("play");
    this.speed = /** @type {HTMLSelectElement} */ (this.panel.querySelector("select"));
    this.badge = /** @type {HTMLElement} */ (document.querySelector("#verdict"));
    /** The state of the marks that were drawn last. */
    this.drawn = "";
    this.panel.hidden = false;
    this.speed.replaceChildren(...SPEEDS.map((speed) => new Option(`${speed}×`, String(speed), speed === 1, speed === 1)));
    this.speed.addEventListener("change", () => (replay.speed = Number(this.speed.value)));
    this.slider.addEventListener("input", () => replay.seek(Number(this.slider.value)));
    this.play.addEventListener("click", () => this.toggle());
    this.button("back").addEventListener("click", () => replay.step(-1));
    this.button("on").addEventListener("click", () => replay.step(1));
    this.button("before").addEventListener("click", () => this.leap(-1));
    this.button("after").addEventListener("click", () => this.leap(1));
    this.marks.addEventListener("click", (event) => this.click(event));
    this.marks.addEventListener("pointermove", (event) => this.point(event));
    const link = /** @type {HTMLAnchorElement} */ (this.panel.querySelector("a"));
    link.href = ofMatch("/");
    link.addEventListener("click", (event) => {
      if (!goLive) return;
      event.preventDefault();
      goLive();
    });
    this.closing = new AbortController();
    addEventListener("keydown", (event) => this.key(event), { signal: this.closing.signal });
  }

  /** @param {string} name */
  button(name) {
    return /** @type {HTMLButtonElement} */ (this.panel.querySelector(`[name=${name}]`));
  }

  /** Detaches the controls, so that another replay can use the panel. */
  close() {
    this.closing.abort();
    this.panel.hidden = true;
    this.badge.hidden = true;
    this.panel.replaceWith(this.panel.cloneNode(true));
  }

  toggle() {
    const { replay } = this;
    if (!replay.playing && replay.at >= replay.end) replay.seek(replay.first);
    replay.playing = !replay.playing;
  }

  /**
   * Goes to the next or the previous mark.
   *
   * @param {number} step 1 or -1
   */
  leap(step) {
    const { recording, deaths, at, playing } = this.replay;
    const place = neighbour(recording, deaths, at, step, playing);
    if (place !== null) this.replay.seek(place);
  }

  /**
   * Goes to the mark that is clicked, or to the tick at this place.
   *
   * @param {MouseEvent} event
   */
  click({ offsetX }) {
    const { recording } = this.replay;
    const mark = this.markAt(offsetX);
    const share = offsetX / Math.max(1, this.marks.clientWidth);
    this.replay.seek(mark ? before(recording, mark) : Math.round(recording.first + share * (recording.ticks - recording.first)));
  }

  /**
   * Names the mark under the mouse.
   *
   * @param {MouseEvent} event
   */
  point({ offsetX }) {
    const { recording } = this.replay;
    const mark = this.markAt(offsetX);
    this.marks.title = mark ? `${told(recording, mark)}, ${clock(mark[0] - recording.first, recording.tickRate)}` : "";
  }

  /** @param {number} x pixels from the left end of the timeline */
  markAt(x) {
    return markAt(this.replay.recording, this.replay.deaths, x, this.marks.clientWidth);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const { replay } = this;
    const leap = LEAP * replay.recording.tickRate;
    /** @type {Record<string, () => void>} */
    const acts = {
      " ": () => this.toggle(),
      ",": () => replay.step(-1),
      ".": () => replay.step(1),
      "<": () => this.leap(-1),
      ">": () => this.leap(1),
      PageUp: () => replay.seek(replay.at - leap),
      PageDown: () => replay.seek(replay.at + leap),
      Home: () => replay.seek(replay.first),
      End: () => replay.seek(replay.end),
    };
    const act = acts[event.key];
    // A focused button takes the space bar itself.
    if (!act || (event.key === " " && event.target instanceof HTMLButtonElement)) return;
    event.preventDefault();
    act();
  }

  /** Shows the state of the replay. */
  show() {
    const { replay } = this;
    const { recording, progress } = replay;
    [this.slider.min, this.slider.max] = [recording.first, recording.ticks].map(String);
    if (document.activeElement !== this.slider || replay.playing) this.slider.value = String(Math.floor(replay.at));
    const rate = recording.tickRate;
    this.time.textContent = `${clock(replay.at - recording.first, rate)} / ${clock(recording.ticks - recording.first, rate)} · tick ${Math.floor(replay.at)}`;
    this.play.textContent = replay.playing ? "❚❚" : "▶";
    this.play.setAttribute("aria-label", replay.playing ? "Pause" : "Play");
    if (progress) this.judge(recording, progress);
    this.mark(recording, progress);
  }

  /**
   * Shows how many digests are equal, and the first difference.
   *
   * @param {import("../replay/engine.js").Recording} recording
   * @param {import("../replay/engine.js").Progress} progress
   */
  judge({ first, ticks, incomplete, build }, progress) {
    const { badge } = this;
    badge.hidden = false;
    const wrong = fault(progress);
    if (wrong) {
      badge.dataset.state = "bad";
      badge.textContent = wrong.said;
      badge.title = `${wrong.detail} Recorded by ${build || "an unknown build"}.`;
    } else {
      const { tick, verified, audited } = progress;
      badge.dataset.state = tick < ticks || incomplete ? "warn" : "good";
      const rest = tick < ticks ? `, ${Math.floor((Math.max(0, tick - first) / (ticks - first)) * 100)}\u00a0%` : "";
      badge.textContent = `${verified.toLocaleString("en")} digests equal, ${audited.toLocaleString("en")} ticks audited${rest}${incomplete ? "; the file is cut short" : ""}`;
      badge.title = incomplete ?? "Each tick was played again in this browser by the server's own code, to the same bits.";
    }
  }

  /**
   * Draws the verified part, and the deaths.
   *
   * @param {import("../replay/engine.js").Recording} recording
   * @param {?import("../replay/engine.js").Progress} progress
   */
  mark({ first, ticks }, progress) {
    const { marks, replay } = this;
    const pen = /** @type {CanvasRenderingContext2D} */ (marks.getContext("2d"));
    const from = replay.branch?.from;
    const isBad = progress !== null && fault(progress) !== null;
    const state = `${marks.clientWidth} ${progress?.tick} ${isBad} ${replay.deaths.length} ${from}`;
    if (this.drawn === state) return;
    this.drawn = state;
    [marks.width, marks.height] = [Math.max(1, marks.clientWidth), Math.max(1, marks.clientHeight)];
    const at = (/** @type {number} */ tick) => ((tick - first) / Math.max(1, ticks - first)) * marks.width;
    pen.fillStyle = isBad ? "#ff8f7a" : "#5fd38d";
    pen.fillRect(0, marks.height - 2, Math.max(0, at(progress?.tick ?? first)), 2);
    for (const [tick, slot] of replay.deaths) {
      pen.fillStyle = css(slotColour(slot));
      pen.fillRect(at(tick) - 1, 0, 2, marks.height - 4);
    }
    if (from === undefined) return;
    // The branch: a mark at its beginning, and a line from there on.
    pen.fillStyle = css(OTHER);
    pen.fillRect(at(from) - 1, 0, 3, marks.height);
    pen.fillRect(at(from), 0, marks.width - at(from), 2);
  }
}
