/**
 * Shots, explosions and hits, each shown for a moment. They come from the session or a recording;
 * the page itself predicts the shots of its own player.
 */

import { hueColour, hueOf } from "../draw/colours.js";
import { put, stroke } from "../draw/frame.js";

/** Effects that may wait until they are shown. If the page draws nothing, the oldest are dropped. */
const WAITING = 2048;

/** Seconds for which each kind of effect is shown. */
const SHOWN = { ray: 0.28, fired: 0.1, blast: 0.55, hurt: 0.25, replaced: 1.5 };

/** Largest radius of an explosion in the picture, in units: its real radius would hide too much. */
const WIDEST = 72;

const FIRE = [1, 0.72, 0.38];
const CORE = [1, 0.93, 0.75];
const SPARK = [1, 1, 0.85];
const UPRIGHT = [0, 0, 0, 1];
const FLASH = [6, 6, 6];

/** Maximum number of ticks between a predicted shot and the server's effect for the same shot. */
const SAME = 15;

/**
 * @typedef {object} Fired a shot of the page's own player; the server reports only rays
 * @property {"ray" | "fired"} what a ray, or a weapon that throws something
 * @property {number} player the shooter's slot
 * @property {"ray" | "rocket" | "grenade"} weapon
 * @property {number[]} from the shooter's eye
 * @property {?number[]} to the end of a ray; null for other weapons
 * @property {number} tick
 */

/** The effects of one page. */
export class Effects {
  constructor() {
    this.hurts = new Map();
    /** @type {(effect: any) => void} called with each effect when it is shown */
    this.seen = () => {};
    /** @type {(tick: number) => void} called with the tick of each own ray that the server tells */
    this.fired = () => {};
    this.reset();
  }

  /** Forgets all effects. */
  reset() {
    this.waiting = [];
    this.running = [];
    /** @type {?number} slot of the page's own player */
    this.own = null;
    /** Ticks of own rays that are shown, and that the server has not confirmed yet. */
    this.predicted = [];
    /** Effects of the page's own player that the next frame shows. */
    this.begun = [];
    /** Effects that `news` has returned. */
    this.known = new WeakSet();
  }

  /**
   * Shows a shot of the page's own player before the server confirms it.
   *
   * @param {Fired} shot
   * @param {number} now seconds
   */
  predict(shot, now) {
    if (shot.what === "ray") {
      // A page that draws slowly may have sent the command and received the ray before this frame.
      const at = this.begun.findIndex(({ what, tick }) => what === "ray" && Math.abs(tick - shot.tick) <= SAME);
      if (at >= 0) this.begun.splice(at, 1);
      else this.predicted.push(shot.tick);
    }
    this.begin(shot, now);
  }

  /**
   * Takes effects of the match. The effects of the page's own player are shown with the next frame.
   * All others wait until their ticks are shown.
   *
   * @param {object[]} told
   */
  take(told) {
    for (const effect of told) {
      const { what, player, by, tick } = effect;
      const isOwn = this.own !== null && (what === "ray" ? player : what === "hurt" ? by : null) === this.own;
      if (what === "ray" && isOwn) this.fired(tick);
      if (what === "ray" && isOwn && this.confirm(tick)) continue;
      (isOwn ? this.begun : this.waiting).push(effect);
    }
    // A datagram may have been overtaken.
    this.waiting.sort((a, b) => a.tick - b.tick);
    this.waiting.splice(0, this.waiting.length - WAITING);
  }

  /** Whether a ray of the page's own player is shown already. */
  confirm(tick) {
    this.predicted = this.predicted.filter((one) => one >= tick - SAME);
    const at = this.predicted.findIndex((one) => Math.abs(one - tick) <= SAME);
    if (at >= 0) this.predicted.splice(at, 1);
    return at >= 0;
  }

  begin(effect, now) {
    const begun = { ...effect, begin: effect.at, at: now };
    this.running.push(begun);
    this.seen(begun);
  }

  /** Starts the effects that are due, up to the tick that is shown. */
  advance(tick, now) {
    if (this.running.length > 0) this.running = this.running.filter(({ what, at }) => now - at < SHOWN[what]);
    for (const effect of this.begun.splice(0)) this.begin(effect, now);
    while (this.waiting[0]?.tick <= tick) this.begin(this.waiting.shift(), now);
  }

  /** Slots of entities that have just been hurt, with a value that fades from 1 to 0. */
  hurt(now) {
    this.hurts.clear();
    for (const { what, player, entity, at } of this.running) {
      if (what === "hurt" || what === "replaced") this.hurts.set(player ?? entity, 1 - (now - at) / SHOWN[what]);
    }
    return this.hurts;
  }

  /** The effects that have begun since the last call. */
  news() {
    const news = this.running.filter((effect) => !this.known.has(effect));
    for (const effect of news) this.known.add(effect);
    return news;
  }

  /**
   * Adds the effects to a frame.
   *
   * @param {?{slot: number, at: number[]}} muzzle of the weapon before the camera, from which the
   *   rays of the weapon's player are drawn
   */
  draw(frame, now, muzzle) {
    for (const effect of this.running) {
      const left = 1 - (now - effect.at) / SHOWN[effect.what];
      if (effect.what === "ray") this.ray(frame, effect, left, muzzle);
      if (effect.what === "blast") this.blast(frame, effect, left);
    }
  }

  ray(frame, { player, from, to }, left, muzzle) {
    const colour = hueColour(hueOf(player), 0.9, 0.75);
    const begin = muzzle?.slot === player ? muzzle.at : from;
    stroke(frame.strokes, begin, to, colour, 0.15 * left, 0.95 * left, 2.2);
    stroke(frame.strokes, begin, to, SPARK, 0.5 * left * left, 0.6 * left * left, 1);
    stroke(frame.strokes, to, to, SPARK, left, left, 4 + 7 * left);
    // The flash of others' weapons.
    const flash = left * left * left;
    if (begin === from) put(frame.ghosts, "ball", begin, UPRIGHT, FLASH, CORE, 0.75 * flash);
  }

  blast(frame, { begin, radius }, left) {
    const reach = Math.min(radius, WIDEST);
    const grown = reach * (1 - left * left * 0.75);
    put(frame.ghosts, "ball", begin, UPRIGHT, [grown, grown, grown], FIRE, 0.4 * left);
    const core = grown * 0.55;
    put(frame.ghosts, "ball", begin, UPRIGHT, [core, core, core], CORE, 0.7 * left * left);
  }
}
