/**
 * The noises of a match: steps, jumps and landings of players on foot, launches of missiles, and
 * splashes. They are derived from the differences between two pictures.
 */

import { PROJECTILES } from "../draw/colours.js";
import { liquidAt } from "../match/liquids.js";

/** Units between two steps of a player, and units from the ears within which steps are heard. */
const STRIDE = 92;
const HEARD = 900;

/** Vertical units a second above which a player is off the ground. */
const OFF_GROUND = 60;

/**
 * Upward speed with which a jump begins, and velocity of a fall whose end is heard, in units a
 * second.
 */
const JUMPS = 150;
const LANDS = -180;

/** Units a second above which a body that goes into a liquid splashes. */
const SPLASHES = 120;

/** Units between two pictures above which a player was teleported. */
const ELSEWHERE = 100;

/** Milliseconds between the player's own launch and the appearance of its missile, at most. */
const APPEARS = 1500;

/** Units from the ears within which a missile that appears may be the player's own. */
const OWN = 512;

/** @typedef {import("../match/motion.js").Shown} Shown */

/** @typedef {{generation: number, position: number[], up: number, walked: number, liquid: ?string}} Known */

/**
 * Removes the times of a list up to the first that is not too long ago. Returns false if all are.
 *
 * @param {number[]} times
 */
function takeRecent(times) {
  for (let time; (time = times.shift()) !== undefined; ) if (performance.now() - time < APPEARS) return true;
  return false;
}

/** Makes the noises of everything that moves. */
export class Noises {
  /** @param {import("./sound.js").Sound} sound */
  constructor(sound) {
    this.sound = sound;
    /** @type {Map<number, Known>} the last state of each entity, by slot */
    this.before = new Map();
    /**
     * Times of the player's own launches, which were heard before their missiles appeared.
     *
     * @type {number[]}
     */
    this.own = [];
    /**
     * Times at which missiles that may be the player's own appeared before their launches.
     *
     * @type {number[]}
     */
    this.early = [];
    /** @type {import("../match/liquids.js").Liquid[]} the liquids of the map */
    this.liquids = [];
  }

  /**
   * Notes a launch by the page's own player.
   *
   * @returns {boolean} whether the launch was heard already, because its missile appeared first: a
   *   page that draws seldom may learn of both in one frame
   */
  launched() {
    const wasHeard = takeRecent(this.early);
    if (!wasHeard) this.own.push(performance.now());
    return wasHeard;
  }

  /**
   * Plays the launch of a missile that appears, unless the launch was heard already.
   *
   * @param {number[]} position
   * @param {number} away units from the ears
   */
  appeared(position, away) {
    if (takeRecent(this.own)) return;
    if (away < OWN) this.early.push(performance.now());
    this.sound.play("launch", position);
  }

  /**
   * Plays the noises since the last picture.
   *
   * @param {Shown[]} shown
   * @param {number[]} ear
   */
  hear(shown, ear) {
    const now = new Map();
    for (const entity of shown) {
      const { slot, generation, isPlayer, model, position } = entity;
      const before = this.before.get(slot);
      const known = before?.generation === generation ? before : null;
      const away = Math.hypot(position[0] - ear[0], position[1] - ear[1], position[2] - ear[2]);
      if (!isPlayer && PROJECTILES.has(model ?? -1) && !known && this.before.size > 0) this.appeared(position, away);
      const walked = isPlayer && model === null && away < HEARD ? this.walk(entity, known) : 0;
      const liquid = this.liquids.length > 0 ? liquidAt(this.liquids, position) : null;
      if (known && liquid && !known.liquid && Math.hypot(...entity.velocity) > SPLASHES) this.sound.play("splash", position);
      now.set(slot, { generation, position, up: entity.velocity[2], walked, liquid });
    }
    this.before = now;
  }

  /**
   * Units that a player has walked since the last step.
   *
   * @param {Shown} player
   * @param {?Known} before
   */
  walk({ position, velocity }, before) {
    if (!before) return 0;
    const [x, y] = [position[0] - before.position[0], position[1] - before.position[1]];
    const moved = Math.hypot(x, y);
    if (moved > ELSEWHERE) return 0;
    if (before.up < JUMPS && velocity[2] >= JUMPS) this.sound.play("jump", position);
    if (before.up <= LANDS && velocity[2] > -OFF_GROUND) this.sound.play("land", position);
    if (Math.abs(velocity[2]) > OFF_GROUND) return before.walked;
    if (before.walked + moved < STRIDE) return before.walked + moved;
    this.sound.play("step", position);
    return 0;
  }
}
