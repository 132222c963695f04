/**
 * The answer to "Why?". A click on a body of a replay asks the simulation about this body. The
 * answer has what the body touches (with the plane, the impulse and the stage of the cascade that
 * decides the pair), the obstacle at which the guard stopped it, why it is awake or asleep, and
 * when it last moved. While the replay is paused, each tick that is shown gets a new answer.
 */

import { CHANGES } from "./branch.js";

/**
 * @typedef {import("./engine.js").Reasons} Reasons
 * @typedef {import("./engine.js").LastMoved} LastMoved
 *
 * @typedef {object} Answer
 * @property {number} tick
 * @property {number} slot
 * @property {?Reasons} found null if there is no such body at that tick
 * @property {?LastMoved} [last] when the body last moved, once that is known
 */

/** Text of a vector, without negative zeros. */
const vector = (/** @type {number[]} */ numbers) => numbers.map((number) => (Math.round(number * 100) / 100 + 0).toFixed(2)).join(" ");

/**
 * Reasons why a body never falls asleep by resting.
 *
 * @type {Record<string, string>}
 */
const AWAKE = { never_player: "players do not sleep", never_missile: "missiles do not sleep", without_velocity: "its game moves it" };

/**
 * The name of a body or of a solid of the world. A body that is gone has neither.
 *
 * @param {{other: ?number, solid: ?number}} touched
 * @param {(slot: number) => string} name
 */
function named({ other, solid }, name) {
  if (other !== null) return name(other);
  return solid === null ? "something that has gone" : `the world's solid ${solid}`;
}

/**
 * The text about the last motion of a body, as far as the motion is known.
 *
 * @param {number} tick
 * @param {boolean} moves
 * @param {?LastMoved} found
 * @param {number} rate ticks per second
 */
function lastMoved(tick, moves, found, rate) {
  if (moves) return "it moves in this tick";
  if (!found) return "looking back for the tick in which it last moved…";
  const { moved, since } = found;
  if (moved === null) return `it has not moved since tick ${since}, with which the recording begins`;
  return `last moved at tick ${moved}, ${((tick - moved) / rate).toFixed(1)} s before`;
}

/** The downward part of a normal from which a body rests on what it touches. */
const STEEP = 0.7;

/**
 * The answer in a sentence, before its reasons.
 *
 * @param {Reasons} found
 * @param {(slot: number) => string} name
 */
function inShort({ moves, stopped, touching }, name) {
  // Normals point from the body to what it touches.
  const under = touching.filter(({ normal }) => normal[2] < -STEEP).map((touched) => named(touched, name));
  const place = under.length > 0 ? ` on ${[...new Set(under)].join(" and ")}` : touching.length > 0 ? "" : " in the air";
  const end = stopped ? `, and is stopped by ${named(stopped, name)}` : "";
  return `It ${moves ? "moves" : "is still"}${place}${end}.`;
}

/**
 * The text of an answer, line by line.
 *
 * @param {Answer} answer
 * @param {number} rate ticks per second
 * @param {(slot: number) => string} [name]
 */
export function lines({ tick, slot, found, last = null }, rate, name = (other) => `body ${other}`) {
  const own = name(slot).replace(/^body/, "Body");
  if (!found) return [`${own} is not in the world at tick ${tick}.`];
  const { asleep, because, sleeps, island, speed, rests, needed, held, moves, stopped, touching } = found;
  const [still, jitters, heldFor] = rests;
  const said = [`${own} at tick ${tick}`, inShort(found, name)];
  if (asleep) {
    said.push(island.length > 0 ? `asleep, with ${island.map(name).join(", ")}: they wake together` : "asleep, by itself");
  } else if (sleeps in AWAKE) {
    said.push(`awake: ${AWAKE[sleeps]}`, `its surface moves at ${speed.toFixed(1)} units/s`);
  } else {
    said.push(`awake: ${because.replaceAll("_", " ")}`, `its surface moves at ${speed.toFixed(1)} units/s: still for ${still} of ${needed} ticks, in its place for ${jitters}${held ? `, held for ${heldFor}` : ""}`);
  }
  said.push(lastMoved(tick, moves, last, rate));
  if (stopped) said.push(`stopped by ${named(stopped, name)} at ${Math.round(stopped.share * 100)} % of its motion: plane ${vector(stopped.normal)}`);
  if (touching.length === 0) said.push("it touches nothing");
  for (const touched of touching) {
    const { normal, gap, impulse, stage } = touched;
    said.push(`${named(touched, name)}: plane ${vector(normal)}, gap ${gap.toFixed(3)}, impulse ${impulse.toFixed(1)} kg·u/s, decided by ${stage}`);
  }
  return said;
}

/** The question about one body, and its panel. */
export class Why {
  /** @param {import("./replay.js").Replay} replay */
  constructor(replay) {
    this.replay = replay;
    /** @type {?number} the slot of the body that is asked about */
    this.slot = null;
    /** @type {?number} the tick that was asked about last */
    this.asked = null;
    /** @type {?Answer} the latest answer about that body, perhaps of an earlier tick */
    this.told = null;
    this.panel = /** @type {HTMLElement} */ (document.querySelector("#why"));
    this.list = /** @type {HTMLElement} */ (this.panel.querySelector("ul"));
    const close = /** @type {HTMLElement} */ (this.panel.querySelector("button"));
    close.onclick = () => this.ask(null);
    this.form = /** @type {HTMLFormElement} */ (this.panel.querySelector("form"));
    this.form.onsubmit = (event) => event.preventDefault();
    this.ticks = /** @type {HTMLInputElement} */ (this.form.querySelector("[name=ticks]"));
    const changes = /** @type {HTMLElement} */ (this.form.querySelector("div"));
    changes.replaceChildren(
      ...CHANGES.map(({ number, label, player }) => {
        const button = document.createElement("button");
        Object.assign(button, { type: "button", textContent: label });
        button.dataset.change = String(number);
        button.classList.toggle("player", Boolean(player));
        button.onclick = () => this.branch(number);
        return button;
      }),
    );
  }

  /**
   * Asks about a body; null ends the question.
   *
   * @param {?number} slot
   */
  ask(slot) {
    [this.slot, this.asked, this.told] = [slot, null, null];
    this.panel.hidden = slot === null;
    // Until the answer comes, the panel is empty, so that it shows nothing of another body.
    this.form.hidden = true;
    this.list.replaceChildren();
    if (slot === null) this.replay.worker.postMessage({ why: null });
    else this.at(Math.floor(this.replay.at), true);
  }

  /**
   * Asks for a branch in which this body is changed, and plays it.
   *
   * @param {number} change
   */
  branch(change) {
    if (this.slot === null) return;
    const ticks = Math.max(1, Math.floor(Number(this.ticks.value)) || 1);
    this.replay.startBranch(this.slot, change, ticks);
    this.replay.playing = true;
  }

  /**
   * Asks again, because another tick is shown.
   *
   * @param {number} tick
   * @param {boolean} [now] even while the replay plays
   */
  at(tick, now = false) {
    this.panel.classList.toggle("old", this.told !== null && this.told.tick !== tick);
    if (this.slot === null || this.asked === tick || (this.replay.playing && !now)) return;
    this.asked = tick;
    this.replay.worker.postMessage({ why: { slot: this.slot, tick } });
  }

  /**
   * Shows an answer. The tick of the last motion may come later.
   *
   * @param {Answer} told
   */
  answer(told) {
    if (told.slot !== this.slot) return;
    this.told = told;
    this.show(told);
  }

  /**
   * Shows when the body last moved.
   *
   * @param {{slot: number, tick: number, found: LastMoved}} searched
   */
  found({ slot, tick, found }) {
    if (slot !== this.slot || tick !== this.told?.tick) return;
    this.told.last = found;
    this.show(this.told);
  }

  /** @param {Answer} told */
  show(told) {
    const isPlayer = this.replay.players().some(({ slot }) => slot === told.slot);
    this.form.hidden = !told.found;
    this.form.classList.toggle("player", isPlayer);
    this.list.replaceChildren(
      ...lines(told, this.replay.recording.tickRate, (slot) => this.replay.nameOf(slot)).map((line) => {
        const item = document.createElement("li");
        item.textContent = line;
        return item;
      }),
    );
  }

  /** Closes the panel, because the replay has ended. */
  close() {
    this.panel.hidden = true;
  }
}
