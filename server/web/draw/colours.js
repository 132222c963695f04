/** The palette of everything but the map (palette.js): only players have saturated colours. */

/** The colour around a map that is seen from outside. */
export const SKY = [0.075, 0.092, 0.125];

/** The colour of the sky and of far things, for an eye inside the map. */
export const DAY = [0.5, 0.6, 0.7];

/** The direction towards the sun. */
export const SUN = [0.42, 0.3, 0.86];

/** The colours of props, by the number of the model (PROTOCOL.md, "Quantised entities"). */
const MODELS = [
  [0.8, 0.6, 0.36], // crate
  [0.84, 0.67, 0.45], // small_crate
  [0.36, 0.57, 0.58], // barrel
  [0.74, 0.57, 0.4], // plank
  [0.66, 0.5, 0.55], // l_block
  [0.57, 0.54, 0.66], // u_block
  [1.0, 0.52, 0.28], // rocket
  [0.55, 0.72, 0.36], // grenade
  [0.55, 0.6, 0.66], // hovertank
  [0.72, 0.66, 0.36], // cargo_box
  [0.42, 0.68, 0.6], // repair_pad
  [0.78, 0.7, 0.5], // star
];

/** The numbers of the models of missiles. */
export const PROJECTILES = new Set([6, 7]);

export function modelColour(model) {
  return MODELS[model] ?? [0.7, 0.7, 0.7];
}

/** The colour of a branch of a replay. */
export const OTHER = [0.95, 0.42, 0.92];

/** The colour of a hue from 0 to 1, light enough to be read on dark ground. */
export function hueColour(hue, saturation = 0.72, lightness = 0.62) {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  return [0, 8, 4].map((n) => {
    const k = (n + hue * 12) % 12;
    return lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  });
}

/** The golden ratio: steps of it around the circle keep hues apart, however many there are. */
const GOLDEN = 0.61803398875;

/** The hues of teams: red, blue, green, yellow. Further teams begin again. */
const TEAM_HUES = [0, 0.6, 0.36, 0.14];

/**
 * The teams of players in a game that has teams, by slot.
 *
 * @type {Map<number, number>}
 */
const TEAMS = new Map();

/**
 * Gives players the colours of their teams. Players who are not in the list keep their colours.
 *
 * @param {[number, number][]} teams slot and number of the team
 */
export function joinTeams(teams) {
  for (const [slot, team] of teams) TEAMS.set(slot, team);
}

/**
 * Whether a slot's player has a team.
 *
 * @param {number} slot
 */
export const hasTeam = (slot) => TEAMS.has(slot);

/** Gives all players colours of their own. */
export function forgetTeams() {
  TEAMS.clear();
}

/**
 * The hue of a slot's player.
 *
 * @param {number} slot
 */
export function hueOf(slot) {
  const team = TEAMS.get(slot);
  return team === undefined ? (slot * GOLDEN + 0.02) % 1 : TEAM_HUES[team % TEAM_HUES.length];
}

/** The relative luminance of a colour (WCAG 2.2). */
export function luminance(colour) {
  const [r, g, b] = colour.map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/**
 * Minimum luminance of a player's colour. A darker colour, such as pure blue, is hard to see on the
 * dark panels.
 */
const BRIGHT = 0.24;

/** @type {Map<number, number[]>} the colours of players by their hues */
const COLOURS = new Map();

/**
 * The colour of a slot's player: the same array for the same hue.
 *
 * @param {number} slot
 */
export function slotColour(slot) {
  return bright(hueOf(slot));
}

/**
 * The colour of a team.
 *
 * @param {number} team
 */
export function teamColour(team) {
  return bright(TEAM_HUES[team % TEAM_HUES.length]);
}

/**
 * The colour of a hue on dark panels.
 *
 * @param {number} hue
 */
function bright(hue) {
  const known = COLOURS.get(hue);
  if (known) return known;
  let [lightness, colour] = [0.62, hueColour(hue)];
  while (luminance(colour) < BRIGHT) colour = hueColour(hue, 0.72, (lightness += 0.02));
  COLOURS.set(hue, colour);
  return colour;
}

/** A colour in the form of a style sheet. */
export function css(colour, opacity = 1) {
  const [r, g, b] = colour.map((value) => Math.round(value * 255));
  return `rgb(${r} ${g} ${b} / ${opacity})`;
}
