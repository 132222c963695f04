/**
 * The materials of a map: a colour and a pattern for each texture, by its name alone. The same name
 * has the same look on every map, and nothing is fetched for it.
 */

import { hueColour } from "./colours.js";

/**
 * @typedef {object} Material
 * @property {number[]} colour red, green, blue
 * @property {number[]} cell width and height of a brick, plank, tile or panel in units, the share of
 *   the width by which every second row is shifted, and the darkness of the seams
 * @property {number[]} grain strength of the fine grain, differences between cells, and own light
 */

/** Patterns: the cell, and the grain. */
const BRICK = [[32, 16, 0.5, 0.3], [0.16, 0.13, 0]];
const BLOCK = [[64, 32, 0.5, 0.26], [0.18, 0.1, 0]];
const TILE = [[32, 32, 0, 0.26], [0.1, 0.09, 0]];
const SLAB = [[64, 64, 0, 0.24], [0.15, 0.08, 0]];
const PLANK = [[96, 12, 0.4, 0.34], [0.14, 0.16, 0]];
const PANEL = [[64, 64, 0, 0.34], [0.07, 0.05, 0]];
const ROUGH = [[48, 48, 0.3, 0], [0.3, 0.12, 0]];
const SMOOTH = [[128, 128, 0, 0.12], [0.1, 0.03, 0]];
const BRIGHT = [[32, 32, 0, 0.2], [0.05, 0, 0.75]];
const SKY_ITSELF = [[128, 128, 0, 0], [0, 0, 1]];

/** A word in names of textures that are the sky. */
const SKY_WORD = /sky/;

/**
 * Words in names of textures, of these maps and of other games, each with a hue, a saturation, a
 * lightness and a pattern. The first word that a name contains counts.
 */
const WORDS = [
  [SKY_WORD, 0.58, 0.42, 0.6, SKY_ITSELF],
  [/lava|magma/, 0.05, 0.9, 0.52, BRIGHT],
  [/slime|acid/, 0.25, 0.6, 0.4, BRIGHT],
  [/water|river/, 0.55, 0.45, 0.45, BRIGHT],
  [/tele/, 0.77, 0.5, 0.58, BRIGHT],
  [/light|lamp|glow/, 0.13, 0.75, 0.72, BRIGHT],
  [/grass|moss|leaf|leaves|vine/, 0.25, 0.34, 0.38, ROUGH],
  [/mud|dirt|ground|earth|soil/, 0.08, 0.3, 0.38, ROUGH],
  [/gravel|sand/, 0.11, 0.3, 0.55, ROUGH],
  [/boulder|cliff|rock|menhir|cave/, 0.07, 0.14, 0.45, ROUGH],
  [/plank|wood|wiz|crate|door/, 0.095, 0.42, 0.38, PLANK],
  [/brick|brk/, 0.015, 0.4, 0.46, BRICK],
  [/cop|bronze|rust|brass/, 0.06, 0.42, 0.42, PANEL],
  [/grate|metal|steel|iron|mmet/, 0.58, 0.14, 0.47, PANEL],
  [/tech|comp|panel|base|slip/, 0.46, 0.13, 0.43, PANEL],
  [/tunnel|beam/, 0.1, 0.14, 0.42, BLOCK],
  [/plaster|stucco|cloth/, 0.11, 0.26, 0.64, SMOOTH],
  [/tile|flr|floor|flat/, 0.12, 0.12, 0.5, TILE],
  [/slab|step|trim|arch/, 0.11, 0.2, 0.58, SLAB],
  [/stone|wall|city|cit/, 0.1, 0.16, 0.54, BLOCK],
  [/ceil/, 0.1, 0.12, 0.5, SMOOTH],
];

/** Words for colours in names of textures, each with a hue and a saturation. */
const COLOURS = [
  [/red/, 0.0, 0.42],
  [/yellow|gold/, 0.13, 0.45],
  [/green/, 0.35, 0.35],
  [/blue/, 0.6, 0.42],
  [/purple|violet/, 0.78, 0.35],
  [/orange/, 0.07, 0.5],
  [/gr[ae]y/, 0.6, 0.06],
];

/** A number from 0 to 1 that depends on a text alone (FNV-1a). */
export function hashOf(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  // The last bits of similar names differ most, so they are mixed into the others.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

/** How much textures of one material differ in hue and in lightness. */
const HUE_VARIES = 0.03;
const LIGHT_VARIES = 0.1;

/** The saturation and the lightness of a material with an unknown name. */
const UNKNOWN = { saturation: 0.2, lightness: 0.5 };

/**
 * The material of a texture.
 *
 * @param {string} name
 * @returns {Material}
 */
export function materialOf(name) {
  const lower = name.toLowerCase();
  const chance = hashOf(lower);
  const other = hashOf(`${lower}/`);
  const known = WORDS.find(([word]) => word.test(lower));
  const said = COLOURS.find(([word]) => word.test(lower));
  const [, wordHue, wordSaturation, wordLightness, pattern] = known ?? [null, chance, UNKNOWN.saturation, UNKNOWN.lightness, [SLAB, BLOCK, TILE][Math.floor(other * 3)]];
  const hue = (said ? said[1] : wordHue) + (chance - 0.5) * HUE_VARIES;
  const saturation = said ? said[2] : wordSaturation;
  const lightness = wordLightness + (other - 0.5) * LIGHT_VARIES;
  const [cell, grain] = pattern;
  return { colour: hueColour((hue + 1) % 1, saturation, lightness), cell, grain };
}

/**
 * Whether a texture is the sky.
 *
 * @param {string} [name] empty if it is not known
 */
export function isSky(name = "") {
  return SKY_WORD.test(name.toLowerCase());
}

/** Names for faces of a map whose textures are not known, by their direction. */
const BY_DIRECTION = { floor: "floor_slab", ceiling: "ceil_plaster", walls: ["wall_stone", "wall_grey", "wall_rock", "wall_brick"] };

/** Side of the areas that have walls of their own if textures are not known, in units. */
const AREA = 768;

/**
 * The name that stands for the texture of a face.
 *
 * @param {number[]} normal
 * @param {number[]} at a corner of the face
 */
export function nameByPlace(normal, at) {
  if (normal[2] > 0.7) return BY_DIRECTION.floor;
  if (normal[2] < -0.7) return BY_DIRECTION.ceiling;
  const area = at.map((value) => Math.floor(value / AREA)).join();
  return BY_DIRECTION.walls[Math.floor(hashOf(area) * BY_DIRECTION.walls.length)];
}
