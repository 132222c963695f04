/**
 * A branch of a replay: another future with the same commands except for one change. The simulation
 * runs the branch beside the recorded match. This module computes how far the two have moved apart.
 */

import { PROJECTILES } from "../draw/colours.js";
import { shownBetween } from "./frames.js";

/**
 * The changes, with the numbers by which the simulation knows them.
 *
 * @type {{number: number, label: string, said: (name: string, time: string) => string, player?: boolean}[]}
 */
export const CHANGES = [
  { number: 1, label: "Remove this body", said: (name) => `without ${name}` },
  { number: 2, label: "Let them stand still", said: (name, time) => `${name} stands still ${time}`, player: true },
  { number: 3, label: "Let them hold fire", said: (name, time) => `${name} holds fire ${time}`, player: true },
  { number: 4, label: "Let them jump", said: (name, time) => `${name} jumps ${time}`, player: true },
];

/** @typedef {import("../match/motion.js").Shown} Shown */

/** Units from which a body counts as displaced. A smaller distance cannot be seen. */
const ELSEWHERE = 0.5;

/**
 * Whether an entity is a missile. A missile of the branch may have a slot that another missile has
 * in the recording, so only positions of missiles are compared.
 */
const flies = (/** @type {Shown} */ { isPlayer, model }) => !isPlayer && model !== null && PROJECTILES.has(model);

const between = (/** @type {Shown} */ one, /** @type {Shown} */ other) => Math.hypot(...one.position.map((value, axis) => value - other.position[axis]));

/**
 * The differences between two states.
 *
 * @param {Shown[]} record
 * @param {Shown[]} other
 * @returns {{pairs: {one: Shown, other: Shown, away: number}[], gone: Shown[], added: Shown[],
 *   flying: Shown[]}} bodies that are displaced, bodies only in the recording, bodies only in the
 *   branch, and missiles of the branch where the recording has none
 */
export function apart(record, other) {
  const key = (/** @type {Shown} */ { slot, generation }) => slot * 65536 + generation;
  const left = new Map(other.filter((entity) => !flies(entity)).map((entity) => [key(entity), entity]));
  /** @type {{one: Shown, other: Shown, away: number}[]} */
  const pairs = [];
  /** @type {Shown[]} */
  const gone = [];
  for (const one of record) {
    if (flies(one)) continue;
    const twin = left.get(key(one));
    left.delete(key(one));
    if (!twin) {
      gone.push(one);
      continue;
    }
    const away = between(one, twin);
    if (away > ELSEWHERE) pairs.push({ one, other: twin, away });
  }
  const missiles = record.filter(flies);
  const flying = other.filter((entity) => flies(entity) && !missiles.some((one) => between(one, entity) <= ELSEWHERE));
  return { pairs, gone, added: [...left.values()], flying };
}

/** One branch. */
export class Branch {
  /**
   * @param {import("./replay.js").Replay} replay
   * @param {import("./engine.js").Asked} asked
   */
  constructor(replay, asked) {
    this.replay = replay;
    this.asked = asked;
    /** The tick at which the branch begins. */
    this.from = asked.tick;
    /** The name of the body that is changed. */
    this.name = replay.nameOf(asked.slot);
  }

  /** Everything in the branch now; empty before it begins. */
  shown() {
    const { replay } = this;
    const tick = Math.floor(replay.at);
    const now = replay.frames.get(tick)?.other;
    if (!now || tick < this.from) return [];
    return shownBetween(now, replay.frames.get(tick + 1)?.other, replay.at - tick, replay.recording.tickRate);
  }

  /** The change, in a line. */
  get title() {
    const { change, ticks, tick } = this.asked;
    const said = CHANGES.find(({ number }) => number === change)?.said;
    const time = `for ${ticks} ticks`;
    return `Branched at tick ${tick}: ${said?.(this.name, time) ?? "nothing is changed"}`;
  }

  /** How far the branch and the recording have moved apart, line by line. */
  lines() {
    const tick = Math.floor(this.replay.at);
    if (tick < this.from) return [this.title, `The branch begins at tick ${this.from}.`];
    if (!this.replay.frames.get(tick)?.other) return [this.title, "The branch is being computed."];
    const { pairs, gone, added } = apart(this.replay.shown(), this.shown());
    const lines = [this.title];
    if (pairs.length === 0) lines.push("No body is displaced.");
    else {
      const farthest = pairs.reduce((a, b) => (b.away > a.away ? b : a));
      const what = this.replay.nameOf(farthest.one.slot);
      const away = `${farthest.away.toFixed(1)} units`;
      if (pairs.length === 1) lines.push(`Only ${what} is displaced: by ${away}.`);
      else lines.push(`${pairs.length} bodies are displaced, ${what} the most: by ${away}.`);
    }
    const listed = (/** @type {Shown[]} */ bodies) => bodies.map(({ slot, isPlayer }) => this.replay.nameOf(slot, isPlayer)).join(", ");
    if (gone.length > 0) lines.push(`Only in the recording: ${listed(gone)}.`);
    if (added.length > 0) lines.push(`Only in the branch: ${listed(added)}.`);
    return lines;
  }
}

/** The panel of the branch. */
export class BranchView {
  /** @param {import("./replay.js").Replay} replay */
  constructor(replay) {
    this.replay = replay;
    this.panel = /** @type {HTMLElement} */ (document.querySelector("#branch"));
    this.list = /** @type {HTMLElement} */ (this.panel.querySelector("ul"));
    /** The text that is shown. */
    this.text = "";
    const back = /** @type {HTMLElement} */ (this.panel.querySelector("button"));
    back.onclick = () => replay.endBranch();
  }

  /** Shows how far the branch has moved from the recorded match. */
  show() {
    const { panel, replay } = this;
    panel.hidden = !replay.branch && !replay.refusal;
    if (panel.hidden) return;
    const lines = replay.branch ? replay.branch.lines() : [`The branch cannot begin: ${replay.refusal}.`];
    const text = lines.join("\n");
    if (this.text === text) return;
    this.text = text;
    this.list.replaceChildren(
      ...lines.map((line) => {
        const item = document.createElement("li");
        item.textContent = line;
        return item;
      }),
    );
  }
}
