/**
 * A recorded match that the page plays. The simulation runs the match again in a worker. This
 * module keeps the moment that is shown and the states around it.
 */

import { LONGEST } from "../tell/feeds.js";
import { Branch, BranchView } from "./branch.js";
import { players, shownBetween } from "./frames.js";
import { Why } from "./why.js";

/** Ticks that are requested ahead of the shown tick, at normal speed. */
const AHEAD = 12;

/** Ticks that are kept behind the shown tick, for a step back. */
const BEHIND = 8;

/**
 * A player at the moment that is shown.
 *
 * @typedef {object} Player
 * @property {number} slot
 * @property {number} generation
 * @property {number} health
 * @property {number} score
 * @property {string} [name]
 * @property {?number} deaths so far; null unless the recording has the whole match
 *
 * @typedef {{branch: ?import("./engine.js").Asked, refused?: string}} Branched
 *
 * @typedef {import("../store/store.js").MatchEvent & {ago: number}} News an event, and how many seconds
 *   ago it was
 *
 * @typedef {object} Said a message of the worker, which has one of these properties
 * @property {import("./engine.js").Frame} [frame]
 * @property {import("./engine.js").Progress} [progress]
 * @property {import("./why.js").Answer} [why]
 * @property {{slot: number, tick: number, found: import("./engine.js").LastMoved}} [lastMoved]
 * @property {Branched} [branched]
 * @property {object} [cut]
 * @property {string} [failed]
 */

/** One recorded match. */
export class Replay {
  /**
   * @param {import("./opening.js").Opened} opened
   * @param {(message: string) => void} failed called when the recording cannot be played on
   * @param {boolean} [atEnd] whether the replay is shown from its end at first
   */
  constructor({ worker, recording }, failed, atEnd = false) {
    this.failed = failed;
    this.recording = recording;
    /** @type {?import("./engine.js").Progress} */
    this.progress = null;
    /** All deaths: tick, slot, slot of the killer. */
    this.deaths = recording.deaths;
    /** The moment that is shown, in ticks. */
    this.at = atEnd ? recording.ticks : recording.first;
    /** The tick up to which events were reported. */
    this.told = this.at;
    /** Whether the replay has jumped since events were last reported. */
    this.elsewhere = true;
    this.playing = !atEnd;
    /** Speed of the replay as a multiple of the match's. */
    this.speed = 1;
    /** The question "Why?" about one body. */
    this.why = new Why(this);
    /** @type {?Branch} the branch that is shown, if any */
    this.branch = null;
    /** @type {?string} the reason why the requested branch cannot begin */
    this.refusal = null;
    this.branchView = new BranchView(this);
    /** @type {Player[]} the last known players */
    this.playersBefore = [];
    /** @type {Map<number, import("./engine.js").Frame>} by tick */
    this.frames = new Map();
    /** @type {Set<number>} the ticks whose frames have been requested */
    this.asked = new Set();
    /**
     * Ticks whose frames lack data that was requested after them. These frames are shown until
     * complete ones come.
     *
     * @type {Set<number>}
     */
    this.stale = new Set();
    /** Whether frames hold the work of the cascade. */
    this.hot = false;
    /** @type {?number} the height of the last requested cut through the onion */
    this.height = null;
    /** @type {?object} the cut that came last */
    this.cut = null;
    this.worker = worker;
    worker.onmessage = ({ data }) => this.hear(data);
    worker.onerror = (event) => failed(event.message || "The simulation has ended.");
  }

  /** The tick after which the recording begins. */
  get first() {
    return this.recording.first;
  }

  /** The last tick of the recording. */
  get end() {
    return this.recording.ticks;
  }

  /** @param {Said} message of the worker */
  hear({ frame, progress, failed, why, lastMoved, branched, cut }) {
    if (frame) {
      this.asked.delete(frame.tick);
      this.stale.delete(frame.tick);
      this.frames.set(frame.tick, frame);
    }
    if (progress) this.progress = progress;
    if (why) this.why.answer(why);
    if (lastMoved) this.why.found(lastMoved);
    if (cut) this.cut = cut;
    if (branched) this.branched(branched);
    if (failed) this.failed(failed);
  }

  /**
   * Asks for a branch that begins at the tick that is shown.
   *
   * @param {number} slot of the body that is changed
   * @param {number} change number of the change
   * @param {number} ticks how long it lasts, if it is a change of keys
   */
  startBranch(slot, change, ticks) {
    this.worker.postMessage({ branch: { slot, change, ticks, tick: Math.floor(this.at) } });
  }

  /** Ends the branch. */
  endBranch() {
    this.refusal = null;
    if (this.branch) this.worker.postMessage({ branch: null });
    else this.branchView.show();
  }

  /**
   * Handles the beginning or the end of a branch. Frames that came before do not show the change.
   *
   * @param {Branched} branched
   */
  branched({ branch, refused }) {
    this.branch = branch && new Branch(this, branch);
    this.refusal = refused ?? null;
    for (const frame of this.frames.values()) frame.other = null;
    this.stale.clear();
    if (branch) for (const tick of this.frames.keys()) if (tick >= branch.tick) this.stale.add(tick);
    this.asked.clear();
    this.want();
    this.branchView.show();
  }

  /**
   * Shows this tick from now on.
   *
   * @param {number} tick
   */
  seek(tick) {
    this.at = Math.min(Math.max(tick, this.first), this.end);
    // A seek backward or far ahead is a jump: events on the way are not reported.
    this.elsewhere ||= this.at < this.told || this.at > this.told + this.recording.tickRate;
    if (this.elsewhere) this.told = Math.floor(this.at);
    this.want();
  }

  /**
   * Pauses, and goes this number of ticks forward, or back if it is negative.
   *
   * @param {number} ticks
   */
  step(ticks) {
    this.playing = false;
    this.seek(Math.floor(this.at) + ticks);
  }

  /**
   * Advances the replay.
   *
   * @param {number} passed seconds
   * @returns {?number} the tick that is shown, with a fraction; null before its state has come
   */
  advance(passed) {
    if (this.playing) {
      const next = this.at + passed * this.speed * this.recording.tickRate;
      // The replay waits for states that have not been computed yet.
      const known = this.frames.has(Math.floor(this.at)) ? Math.min(next, this.latestFrom(Math.floor(this.at))) : this.at;
      this.at = Math.min(known, this.end);
      if (this.at >= this.end) this.playing = false;
    }
    this.want();
    this.why.at(Math.floor(this.at));
    return this.frame() ? this.at : null;
  }

  /**
   * The last tick up to which all frames from `tick` on are here.
   *
   * @param {number} tick
   */
  latestFrom(tick) {
    while (this.frames.has(tick + 1)) tick++;
    return tick;
  }

  /** Asks for the states around the moment that is shown, and drops other states. */
  want() {
    const now = Math.floor(this.at);
    const last = Math.min(now + Math.ceil(AHEAD * Math.max(1, this.speed)), this.end);
    // A picture may be many ticks later than the one before it. The events of these ticks are
    // needed first.
    const oldest = Math.min(now - BEHIND, this.told);
    for (const tick of this.frames.keys()) if (tick < oldest || tick > last + AHEAD) this.frames.delete(tick);
    const wanted = [];
    for (let tick = now; tick <= last; tick++) if (!this.frames.has(tick) || this.stale.has(tick)) wanted.push(tick);
    if (wanted.every((tick) => this.asked.has(tick))) return;
    this.asked = new Set(wanted);
    this.worker.postMessage({ wanted });
  }

  frame() {
    return this.frames.get(Math.floor(this.at));
  }

  /** @returns {import("../match/motion.js").Shown[]} everything as it is shown now */
  shown() {
    const frame = this.frame();
    if (!frame) return [];
    const tick = Math.floor(this.at);
    return shownBetween(frame.numbers, this.frames.get(tick + 1)?.numbers, this.at - tick, this.recording.tickRate);
  }

  /**
   * The name of a body. A player without a name is called by the slot, as in the table.
   *
   * @param {number} slot
   * @param {boolean} [isPlayer] whether the body is a player, if it is not among the players now
   */
  nameOf(slot, isPlayer) {
    const player = this.players().find((one) => one.slot === slot);
    if (player?.name) return player.name;
    return isPlayer ?? player ? `player ${slot + 1}` : `body ${slot}`;
  }

  /** The extra things to draw: the branch, and the body that is asked about. */
  marked() {
    return { other: this.branch?.shown(), asked: this.why.slot };
  }

  /**
   * The events since the last call, up to the tick that is shown.
   *
   * @returns {{elsewhere: boolean, events: object[], news: News[]}} `elsewhere` is true after a
   *   jump. Then `events` has the events since the jump, and `news` the news of the last seconds
   *   before the new place.
   */
  happened() {
    const { elsewhere, told: from } = this;
    [this.told, this.elsewhere] = [Math.floor(this.at), false];
    return { elsewhere, events: this.eventsSince(from), news: this.newsSince(elsewhere ? from - LONGEST * this.recording.tickRate : from) };
  }

  /**
   * The events of the ticks after `from`, up to the tick that is shown.
   *
   * @param {number} from
   */
  eventsSince(from) {
    const events = [];
    for (let tick = from + 1; tick <= Math.floor(this.at); tick++) events.push(...(this.frames.get(tick)?.events ?? []));
    return events;
  }

  /**
   * Deaths and chat after tick `from`, up to the tick that is shown. `ago` is how many seconds ago
   * each was.
   *
   * @param {number} from
   */
  newsSince(from) {
    const { chat } = this.recording;
    const isNew = (/** @type {[number, ...any[]] | number[]} */ [tick]) => tick > from && tick <= this.at;
    const ago = (/** @type {number} */ tick) => (this.at - tick) / this.recording.tickRate;
    const who = (/** @type {number} */ slot) => this.playersBefore.find((player) => player.slot === slot) ?? { slot: -1 };
    const died = this.deaths.filter(isNew).map(([tick, slot, by, means]) => ({ event: "died", player: who(slot), by: who(by), means, ago: ago(tick) }));
    const said = chat.filter(isNew).map(([tick, slot, line]) => ({ ...(slot === null ? { event: "announced", line } : { event: "said", player: who(slot), line }), ago: ago(tick) }));
    // Oldest first, which is the order on the screen.
    return [...died, ...said].sort((one, other) => other.ago - one.ago);
  }

  /**
   * The players now, with their deaths so far if the recording has the whole match. While the state
   * is being computed, these are the last known players.
   */
  players() {
    const frame = this.frame();
    if (!frame) return this.playersBefore;
    const named = new Map();
    for (const [since, slot, name] of this.recording.names) if (since <= this.at) named.set(slot, { since, name });
    const deaths = new Map();
    // A slot may be reused: deaths before its last name are another player's.
    const counts = (/** @type {number} */ tick, /** @type {number} */ slot) => tick <= this.at && tick >= (named.get(slot)?.since ?? 0);
    for (const [tick, slot] of this.deaths) if (counts(tick, slot)) deaths.set(slot, (deaths.get(slot) ?? 0) + 1);
    const isWhole = this.recording.first === 0;
    const known = (/** @type {{slot: number}} */ { slot }) => ({ deaths: isWhole ? (deaths.get(slot) ?? 0) : null, name: named.get(slot)?.name });
    this.playersBefore = players(frame.numbers).map((player) => ({ ...player, ...known(player) }));
    return this.playersBefore;
  }

  /**
   * The phase of the round now, its end and the next map; null if the phase is not known.
   *
   * @returns {?import("./engine.js").Round}
   */
  round() {
    return this.recording.rounds?.findLast(([tick]) => tick <= this.at) ?? null;
  }

  /** The contact points of props in the tick that is shown. */
  contacts() {
    return this.frame()?.contacts ?? null;
  }

  /**
   * The data of layers for the tick that is shown.
   *
   * @param {boolean} hot whether the work of the cascade is wanted
   * @param {?number} height of the cut through the onion, if one is wanted
   * @returns {{cascade: ?object, cut: ?object}} the data that are here already
   */
  layers(hot, height) {
    if (hot !== this.hot || (height !== null && height !== this.height)) {
      const isNew = height !== null && height !== this.height;
      this.worker.postMessage({ layers: { hot, height: isNew ? height : null } });
      if (hot && !this.hot) {
        for (const tick of this.frames.keys()) this.stale.add(tick);
        this.asked.clear();
      }
      [this.hot, this.height] = [hot, height ?? this.height];
      this.want();
    }
    return { cascade: (hot && this.frame()?.cascade) || null, cut: height === null ? null : this.cut };
  }

  /** Ends the worker. */
  close() {
    this.worker.terminate();
    this.why.close();
    this.branchView.panel.hidden = true;
  }
}
