/** The values of a game as texts: the match's at the top, a player's at the bottom. */

/** Matches the name of a value that is a time in seconds. */
const SECONDS = /^(.*?)_?seconds$/;

/**
 * A value for people.
 *
 * @typedef {object} Told
 * @property {string} name
 * @property {string} text
 * @property {number} [share] of a bar, from 0 to 1
 * @property {number} [team] whose colour it has
 */

/** @param {number} seconds */
const time = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

/**
 * A value as the game hints, or else as its name and range declare it: a time, yes or no, or a number.
 *
 * @param {import("../match/values.js").Value} value
 * @returns {Told}
 */
function written({ name, value, least, most, hint = "none" }) {
  const text = String(value);
  if (hint === "team") return { name, text: String(value - least + 1), team: value - least };
  if (hint === "bar") return { name: SECONDS.exec(name)?.[1] || name, text, share: (value - least) / (most - least) };
  if (hint === "timer") return { name, text: time(Math.max(value, 0)) };
  if (hint === "counter") return { name, text };
  const timed = SECONDS.exec(name);
  if (timed && value >= 0) return { name: timed[1] || "time", text: time(value) };
  if (least === 0 && most === 1) return { name, text: value === 1 ? "yes" : "no" };
  return { name, text };
}

/** @param {import("../match/values.js").Value} value */
const forPeople = (value) => {
  const told = written(value);
  return { ...told, name: told.name.replaceAll(/[_.-]/g, " ") };
};

/**
 * @param {import("../store/store.js").Store} store
 * @returns {{match: Told[], own: Told[], of: string}}
 *   `of` is the name of the player whose values they are, for a spectator
 */
export function values({ values, own, roster, followed }) {
  const of = own ? "" : (roster.players.get(followed ?? -1)?.name ?? "");
  return { match: values.match.map(forPeople), own: values.own.map(forPeople), of };
}
