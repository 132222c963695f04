/**
 * Why? A click on a body of a replay asks the simulation: what it touches and by which plane,
 * which stage of the cascade decides that, the impulses, why it is awake or asleep, and when it
 * last moved. While the replay is paused, the answer follows from tick to tick.
 */

const vector = (numbers) => numbers.map((number) => number.toFixed(2)).join(" ");

/** What an answer comes to, line by line. */
export function lines({ tick, slot, found }, rate) {
  if (!found) return [`Body ${slot} is not in the world at tick ${tick}.`];
  const { asleep, because, island, speed, rests, needed, held, lastMoved, touching } = found;
  const [still, jitters, heldFor] = rests;
  const said = [`Body ${slot} at tick ${tick}`];
  if (asleep) {
    said.push(island.length > 0 ? `asleep, with ${island.join(", ")}: they wake together` : "asleep, by itself");
  } else {
    said.push(`awake: ${because.replaceAll("_", " ")}`, `its surface moves at ${speed.toFixed(1)} units/s: still for ${still} of ${needed} ticks, in its place for ${jitters}${held ? `, held for ${heldFor}` : ""}`);
  }
  const ago = lastMoved === null ? null : (tick - lastMoved) / rate;
  said.push(ago === null ? "it has not moved for two minutes or more" : `last moved at tick ${lastMoved}, ${ago.toFixed(1)} s before`);
  if (touching.length === 0) said.push("it touches nothing");
  for (const { other, solid, normal, gap, impulse, stage } of touching) {
    const what = other === null ? `the world's solid ${solid}` : `body ${other}`;
    said.push(`${what}: plane ${vector(normal)}, gap ${gap.toFixed(3)}, impulse ${impulse.toFixed(1)} kg·u/s, decided by ${stage}`);
  }
  return said;
}

/** The question about one body, and its panel. */
export class Why {
  /** @param {import("./replay.js").Replay} replay */
  constructor(replay) {
    this.replay = replay;
    /** The slot that is asked about. */
    this.slot = null;
    this.panel = document.querySelector("#why");
    this.panel.querySelector("button").onclick = () => this.ask(null);
  }

  /** Asks about a body, or about none. */
  ask(slot) {
    [this.slot, this.asked] = [slot, null];
    this.panel.hidden = slot === null;
    if (slot !== null) this.at(Math.floor(this.replay.at), true);
  }

  /** Another tick is shown. */
  at(tick, now = false) {
    if (this.slot === null || this.asked === tick || (this.replay.playing && !now)) return;
    this.asked = tick;
    this.replay.worker.postMessage({ why: { slot: this.slot, tick } });
  }

  /** The answer has come. */
  answer(told) {
    if (told.slot !== this.slot) return;
    this.told = told;
    const list = this.panel.querySelector("ul");
    list.replaceChildren(
      ...lines(told, this.replay.recording.tickRate).map((line) => {
        const item = document.createElement("li");
        item.textContent = line;
        return item;
      }),
    );
  }

  /** The replay has ended. */
  close() {
    this.panel.hidden = true;
  }
}
