/**
 * The shots of the page's own player, as the arena game fires them (`server/game/src/arena/weapons.rs`).
 * They are shown in the frame after the click. The server's own effects come later, and only confirm
 * them.
 */

import { add, cross, dot, scale, subtract } from "../draw/algebra.js";
import { WEAPONS } from "./keys.js";

/** Units from the middle of a tank to its gunner. */
const TURRET = 12;

/**
 * @typedef {object} Weapon of `/info`
 * @property {"ray" | "rocket" | "grenade"} kind
 * @property {number} refire_seconds until the next shot
 * @property {?number} reach of a ray, in units
 */

/** The trigger, which predicts the shots that the server will take. */
export class Trigger {
  constructor() {
    /** The first tick in which the weapon is loaded. */
    this.loadedAt = 0;
  }

  /** Forgets the last shot, because the player is in another world, or was dead. */
  reset() {
    this.loadedAt = 0;
  }

  /**
   * Notes a shot that the server reports. A command that reached the server late fires in a later
   * tick than the page predicted, so the weapon is loaded later too.
   *
   * @param {Weapon} weapon
   * @param {number} tick
   * @param {number} tickRate
   */
  fired(weapon, tick, tickRate) {
    this.loadedAt = Math.max(this.loadedAt, tick + Math.ceil(weapon.refire_seconds * tickRate));
  }

  /**
   * Pulls the trigger.
   *
   * @param {number} buttons that are pressed
   * @param {number} from the first tick with these buttons
   * @param {number} to the last such tick
   * @param {Weapon[]} weapons in the order of their keys
   * @param {number} tickRate
   * @returns {?{weapon: Weapon, tick: number}} the shot; null if there is none
   */
  pull(buttons, from, to, weapons, tickRate) {
    const key = WEAPONS.findIndex((bit) => buttons & bit);
    if (key < 0) return null;
    const weapon = weapons[key];
    if (!weapon) return null;
    const reload = Math.ceil(weapon.refire_seconds * tickRate);
    // If the clock of the match was set back, the weapon is loaded.
    if (this.loadedAt - to > 4 * reload + tickRate) this.loadedAt = 0;
    const tick = Math.max(from, this.loadedAt);
    if (tick > to) return null;
    this.loadedAt = tick + reload;
    return { weapon, tick };
  }
}

/**
 * The place from which a player shoots.
 *
 * @param {import("../match/motion.js").Shown} own
 * @param {import("../match/scene.js").Players} players
 */
export function muzzleOf(own, players) {
  const above = own.model === null ? (own.crouching ? players.crouching : players.standing).eyes : TURRET;
  return add(own.position, [0, 0, above]);
}

/**
 * Turns a vector by the inverse of a rotation.
 *
 * @param {number[]} rotation
 * @param {number[]} v
 */
function unturned([x, y, z, w], v) {
  const axis = [-x, -y, -z];
  const t = scale(cross(axis, v), 2);
  return add(add(v, scale(t, w)), cross(axis, t));
}

/**
 * The share of a way after which it enters a box.
 *
 * @param {number[]} from
 * @param {number[]} way
 * @param {number[]} min
 * @param {number[]} max
 * @returns {number} 1 if the way does not enter the box, or begins in it
 */
function entry(from, way, min, max) {
  let [enters, leaves] = [-Infinity, Infinity];
  for (const axis of [0, 1, 2]) {
    if (way[axis] === 0) {
      if (from[axis] < min[axis] || from[axis] > max[axis]) return 1;
      continue;
    }
    const shares = [(min[axis] - from[axis]) / way[axis], (max[axis] - from[axis]) / way[axis]];
    enters = Math.max(enters, Math.min(...shares));
    leaves = Math.min(leaves, Math.max(...shares));
  }
  return enters > 0 && enters <= leaves ? enters : 1;
}

/**
 * The share of a way after which it meets the front of a polygon.
 *
 * @param {number[][]} polygon convex, counter-clockwise from its front
 * @param {number[]} from
 * @param {number[]} way
 * @returns {number} 1 if the way does not meet it
 */
function toPolygon(polygon, from, way) {
  const [first] = polygon;
  // The sum over all triangles is not zero even if three corners lie in a line.
  const fan = polygon.map((corner, i) => cross(subtract(corner, first), subtract(polygon[(i + 1) % polygon.length], first)));
  const normal = fan.reduce((sum, one) => add(sum, one));
  const towards = dot(way, normal);
  if (towards >= 0) return 1;
  const share = dot(subtract(first, from), normal) / towards;
  if (share <= 0 || share >= 1) return 1;
  const end = add(from, scale(way, share));
  const isInside = polygon.every((corner, i) => {
    const edge = subtract(polygon[(i + 1) % polygon.length], corner);
    return dot(cross(edge, subtract(end, corner)), normal) >= 0;
  });
  return isInside ? share : 1;
}

/**
 * The share of a way after which it enters a body.
 *
 * @param {import("../match/motion.js").Shown} body
 * @param {number[]} from
 * @param {number[]} way
 * @param {import("../match/scene.js").Scene} scene
 */
function toBody({ isPlayer, model, crouching, position, rotation }, from, way, { players, models }) {
  const away = subtract(from, position);
  if (isPlayer && model === null) {
    const { half } = crouching ? players.crouching : players.standing;
    return entry(away, way, scale(half, -1), half);
  }
  const shape = model === null ? undefined : models[model];
  if (!shape) return 1;
  const [own, along] = [unturned(rotation, away), unturned(rotation, way)];
  // The box around the model is tested first, because most rays miss it.
  if (entry(own, along, shape.min, shape.max) === 1) return 1;
  return Math.min(...shape.polygons.map((polygon) => toPolygon(polygon, own, along)));
}

/**
 * The end of a ray: where it meets the map or a body, as they are shown.
 *
 * @param {number[]} from
 * @param {number[]} ahead direction, of length 1
 * @param {number} reach in units
 * @param {import("../match/motion.js").Shown[]} others
 * @param {import("../match/scene.js").Scene} scene
 * @param {import("../camera/sight.js").Sight} sight
 */
export function endOf(from, ahead, reach, others, scene, sight) {
  const way = scale(ahead, reach);
  let share = sight.reach(from, add(from, way));
  for (const body of others) {
    // Bodies behind the player, or beside the ray, are left out early.
    const along = dot(subtract(body.position, from), ahead);
    if (along < -FAR || along > share * reach + FAR) continue;
    share = Math.min(share, toBody(body, from, way, scene));
  }
  return add(from, scale(way, share));
}

/** Units from the middle of a body that no part of it exceeds. */
const FAR = 512;
