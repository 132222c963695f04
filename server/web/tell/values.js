/** The values of a game as texts: those of the match at the top, those of a player at the bottom. */

/** The end of a name that tells of a time in seconds. */
const SECONDS = /^(.*?)_?seconds$/;

/**
 * A value as its name and range declare it: a time, yes or no, or a number.
 *
 * @param {import("../match/values.js").Value} value
 */
function written({ name, value, least, most }) {
  const time = SECONDS.exec(name);
  if (time && value >= 0) {
    return { name: time[1] || "time", text: `${Math.floor(value / 60)}:${String(value % 60).padStart(2, "0")}` };
  }
  if (least === 0 && most === 1) return { name, text: value === 1 ? "yes" : "no" };
  return { name, text: String(value) };
}

/** @param {import("../match/values.js").Value} value */
const forPeople = (value) => {
  const { name, text } = written(value);
  return { name: name.replaceAll(/[_.-]/g, " "), text };
};

/**
 * @param {import("../store/store.js").Store} store
 * @returns {{match: {name: string, text: string}[], own: {name: string, text: string}[], of: string}}
 *   `of` is the name of the player whose values they are, for a spectator
 */
export function values({ values, own, roster, followed }) {
  const of = own ? "" : (roster.players.get(followed ?? -1)?.name ?? "");
  return { match: values.match.map(forPeople), own: values.own.map(forPeople), of };
}
