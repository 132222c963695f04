/**
 * States of a replay in the form in which the page draws them: the numbers that the simulation
 * returns for each entity, and the states between two ticks.
 */

/** How many numbers describe an entity. */
export const NUMBERS = 16;

const [SLOT, GENERATION, FLAGS, MODEL, POSITION, ROTATION, VELOCITY, HEALTH, SCORE] = [0, 1, 2, 3, 4, 7, 11, 14, 15];
const [PLAYER, ASLEEP, CROUCHING, DEAD] = [1, 2, 4, 8];

/** Units a second above which an entity was teleported: nothing moves that fast by itself. */
const LEAP = 6000;

/** A state without entities. */
const NOTHING = new Float32Array();

/**
 * The index of the first number of each entity, by slot.
 *
 * @param {Float32Array} numbers
 * @returns {Map<number, number>}
 */
function index(numbers) {
  const found = new Map();
  for (let at = 0; at < numbers.length; at += NUMBERS) found.set(numbers[at + SLOT], at);
  return found;
}

/**
 * The players of a state.
 *
 * @param {Float32Array} numbers
 * @returns {{slot: number, generation: number, health: number, score: number}[]}
 */
export function players(numbers) {
  const found = [];
  for (let at = 0; at < numbers.length; at += NUMBERS) {
    if (!(numbers[at + FLAGS] & PLAYER)) continue;
    const [slot, generation] = [numbers[at + SLOT], numbers[at + GENERATION]];
    found.push({ slot, generation, health: numbers[at + HEALTH], score: numbers[at + SCORE] });
  }
  return found;
}

/**
 * Some numbers of an entity, between two states.
 *
 * @param {Float32Array} a
 * @param {Float32Array} b
 * @param {number} i index of the entity in `a`
 * @param {number} j index of the entity in `b`
 * @param {number} offset of the numbers from these indices
 * @param {number} count of the numbers
 * @param {number} part of the way from `a` to `b`, 0 to 1
 */
function between(a, b, i, j, offset, count, part) {
  return Array.from({ length: count }, (_, axis) => a[i + offset + axis] + (b[j + offset + axis] - a[i + offset + axis]) * part);
}

/**
 * The rotation of an entity between two states. The parameters mean the same as in `between`.
 *
 * @param {Float32Array} a
 * @param {Float32Array} b
 * @param {number} i
 * @param {number} j
 * @param {number} part
 */
function rotation(a, b, i, j, part) {
  let dot = 0;
  for (let axis = 0; axis < 4; axis++) dot += a[i + ROTATION + axis] * b[j + ROTATION + axis];
  const toward = dot < 0 ? -part : part;
  const mixed = Array.from({ length: 4 }, (_, axis) => a[i + ROTATION + axis] * (1 - part) + b[j + ROTATION + axis] * toward);
  const length = Math.hypot(...mixed) || 1;
  return mixed.map((value) => value / length);
}

/**
 * The later state and the index of an entity in it. Null if the entity is not in it, or was
 * teleported.
 *
 * @param {Float32Array} a
 * @param {number} i index of the entity in `a`
 * @param {?Float32Array | undefined} b
 * @param {number | undefined} j index in `b` of the entity with this slot
 * @param {number} tickRate
 * @returns {?[Float32Array, number]}
 */
function moved(a, i, b, j, tickRate) {
  if (!b || j === undefined || b[j + GENERATION] !== a[i + GENERATION] || b[j + FLAGS] & DEAD) return null;
  const way = Math.hypot(...[0, 1, 2].map((axis) => b[j + POSITION + axis] - a[i + POSITION + axis]));
  return way * tickRate < LEAP ? [b, j] : null;
}

/**
 * All entities at a moment between two states.
 *
 * @param {Float32Array} a the state before
 * @param {?Float32Array | undefined} b the state after, if it is known
 * @param {number} part of the way from `a` to `b`, 0 to 1
 * @param {number} tickRate of the match
 * @returns {import("../match/motion.js").Shown[]} in order of slots
 */
export function shownBetween(a, b, part, tickRate) {
  const after = index(b ?? NOTHING);
  const shown = [];
  for (let i = 0; i < a.length; i += NUMBERS) {
    // Dead players are not in the world.
    if (a[i + FLAGS] & DEAD) continue;
    const [to, j] = moved(a, i, b, after.get(a[i + SLOT]), tickRate) ?? [a, i];
    const flags = a[i + FLAGS];
    shown.push({
      slot: a[i + SLOT],
      generation: a[i + GENERATION],
      isPlayer: Boolean(flags & PLAYER),
      asleep: Boolean(flags & ASLEEP),
      crouching: Boolean(flags & CROUCHING),
      model: a[i + MODEL] < 0 ? null : a[i + MODEL],
      position: between(a, to, i, j, POSITION, 3, part),
      rotation: rotation(a, to, i, j, part),
      velocity: [0, 1, 2].map((axis) => a[i + VELOCITY + axis]),
    });
  }
  return shown;
}
