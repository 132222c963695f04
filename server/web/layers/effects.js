/** Shots, bursts and hurts: shown for a moment, from `/effects`. */

import { hueColour } from "../draw/colours.js";
import { put, stroke } from "../draw/renderer.js";
import { hueOf } from "../match/roster.js";

/** Milliseconds between two questions: less than the picture is behind. */
const ASK_EVERY = 100;

/** Seconds that each kind is seen. */
const SHOWN = { ray: 0.28, blast: 0.55, hurt: 0.25, replaced: 1.5 };

/** Units that a burst is drawn wide at most: its reach is mostly thin air. */
const WIDEST = 72;

const FIRE = [1, 0.72, 0.38];

/** What happens and is over. */
export class Effects {
  constructor() {
    this.reset();
  }

  /** Forgets what happened. */
  reset() {
    this.latest = null;
    this.waiting = [];
    this.running = [];
  }

  /** Asks for what happened since, for as long as `wanted()`. */
  async run(wanted, newestTick) {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY));
      const newest = newestTick();
      if (!wanted() || newest === null) continue;
      this.latest ??= newest;
      try {
        const answer = await fetch(`/effects/${this.latest}`, { cache: "no-store", signal: AbortSignal.timeout(2000) });
        const told = answer.ok ? await answer.json() : [];
        this.waiting.push(...told);
        this.latest = told[told.length - 1]?.tick ?? this.latest;
      } catch {
        // The connection's own trouble is told elsewhere.
      }
    }
  }

  /** Lets happen what happened until the tick shown. */
  advance(tick, now) {
    const due = this.waiting.filter((effect) => effect.tick <= tick);
    this.waiting = this.waiting.filter((effect) => effect.tick > tick);
    this.running = this.running.filter(({ what, at }) => now - at < SHOWN[what]);
    this.running.push(...due.map((effect) => ({ ...effect, begin: effect.at, at: now })));
  }

  /** Slots of those who have just been hurt, with how fresh that is, 0 to 1. */
  hurt(now) {
    const hurts = this.running.filter(({ what }) => what === "hurt" || what === "replaced");
    return new Map(hurts.map(({ what, player, entity, at }) => [player ?? entity, 1 - (now - at) / SHOWN[what]]));
  }

  /** Adds them to a frame. */
  draw(frame, now) {
    for (const effect of this.running) {
      const left = 1 - (now - effect.at) / SHOWN[effect.what];
      if (effect.what === "ray") this.ray(frame, effect, left);
      if (effect.what === "blast") this.blast(frame, effect, left);
    }
  }

  ray(frame, { player, from, to }, left) {
    const colour = hueColour(hueOf(player), 0.9, 0.75);
    stroke(frame.strokes, from, to, [...colour, 0.15 * left], [...colour, 0.95 * left], 2.2);
    stroke(frame.strokes, to, to, [1, 1, 0.85, left], [1, 1, 0.85, left], 4 + 7 * left);
  }

  blast(frame, { begin, radius }, left) {
    const reach = Math.min(radius, WIDEST);
    const grown = reach * (1 - left * left * 0.75);
    put(frame.ghosts, "ball", begin, [0, 0, 0, 1], [grown, grown, grown], [...FIRE, 0.4 * left], 1);
    const core = grown * 0.55;
    put(frame.ghosts, "ball", begin, [0, 0, 0, 1], [core, core, core], [1, 0.93, 0.75, 0.7 * left * left], 1);
  }
}
