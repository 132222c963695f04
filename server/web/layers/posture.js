/**
 * The posture of a player on foot: legs and arms swing with the distance walked, and a crouching
 * player bends.
 */

/** Units of two steps. */
const STRIDE = 92;

/** Units a second at which the legs swing fully, and how far they swing then, in radians. */
const RUN = 320;
const SWING = 0.8;

/** Upward or downward units a second above which a player is in the air. */
const IN_AIR = 60;

/** Lengths of the parts of a player of the default size, in units. */
const LEG = 24;
const TORSO = 18;

/** Units between two pictures above which a player was teleported. */
const ELSEWHERE = 100;

/**
 * @typedef {object} Posed
 * @property {number} hip units over the feet
 * @property {number} lean of the torso, in radians forward
 * @property {number[]} legs angles of both legs, in radians forward
 * @property {number} leg share of the length of a leg
 * @property {number} swing of the arms, in radians
 * @property {number[]} neck forward and up from the hip, in units
 */

/**
 * The posture of a player.
 *
 * @param {number} distance units that the player has walked
 * @param {number[]} velocity
 * @param {boolean} crouching
 * @param {Posed} [into] is filled, so that pictures make no objects
 * @returns {Posed}
 */
export function posture(distance, [x, y, up], crouching, into = { legs: [0, 0], neck: [0, 0] }) {
  const share = Math.min(Math.hypot(x, y) / RUN, 1);
  const flies = Math.abs(up) > IN_AIR;
  const swing = flies ? 0.45 : SWING * share * Math.sin((distance / STRIDE) * 2 * Math.PI);
  into.swing = swing;
  into.leg = crouching ? 0.6 : 1;
  into.legs[0] = swing + (crouching ? 0.65 : 0);
  into.legs[1] = -swing + (crouching ? 0.35 : 0);
  into.lean = crouching ? 0.5 : 0.1 * share;
  into.hip = crouching ? 12.5 : LEG - 1.5 * Math.abs(swing);
  into.neck[0] = TORSO * Math.sin(into.lean);
  into.neck[1] = TORSO * Math.cos(into.lean) * (crouching ? 0.8 : 1);
  return into;
}

/** The distances that players have walked. */
export class WalkedDistances {
  constructor() {
    /** @type {Map<number, {generation: number, distance: number, place: number[]}>} by slot */
    this.walked = new Map();
  }

  /** The distance that a player has walked up to `position`. */
  of({ slot, generation, position }) {
    let known = this.walked.get(slot);
    if (known?.generation !== generation) {
      known = { generation, distance: 0, place: [...position] };
      this.walked.set(slot, known);
    }
    const step = Math.hypot(position[0] - known.place[0], position[1] - known.place[1]);
    if (step < ELSEWHERE) known.distance += step;
    for (let i = 0; i < 3; i++) known.place[i] = position[i];
    return known.distance;
  }
}
