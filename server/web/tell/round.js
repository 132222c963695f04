/** The round in words: the clock at the top, and the result in the middle. */

/** Players in the table of the result. */
const BEST = 3;

/**
 * Seconds as minutes and seconds.
 *
 * @param {number} seconds
 */
function minutes(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/**
 * Seconds until the phase ends by time; null if it does not.
 *
 * @param {import("../store/store.js").Store} store
 */
function left({ round, tick, tickRate }) {
  return round.ends > 0 && tick !== null ? (round.ends - tick) / tickRate : null;
}

/**
 * The clock. A match without rounds has none.
 *
 * @param {import("../store/store.js").Store} store
 * @returns {?string}
 */
export function clock(store) {
  const { round, roster } = store;
  const seconds = left(store);
  if (round.phase === null) return null;
  if (round.phase === "intermission") return "Round over";
  // Without players no phase ends. The phase begins again when a player joins.
  if (roster.players.size === 0) return "Waiting for players";
  const time = seconds === null ? null : minutes(seconds);
  return round.phase === "warm-up" ? `Warm-up ${time ?? ""}`.trim() : time;
}

/**
 * "1st", "2nd", "3rd", "4th" and so on.
 *
 * @param {number} place
 */
function ordinal(place) {
  const last = place % 100 > 10 && place % 100 < 14 ? 0 : place % 10;
  return `${place}${["th", "st", "nd", "rd"][last] ?? "th"}`;
}

/**
 * The place of a player. Players with the same score share a place.
 *
 * @param {import("../store/roster.js").Player} player
 * @param {import("../store/roster.js").Player[]} ranking
 */
function placeOf(player, ranking) {
  return 1 + ranking.filter(({ score }) => score > player.score).length;
}

/**
 * The sentence about the winner.
 *
 * @param {import("../store/roster.js").Player[]} ranking the best first
 */
function won(ranking) {
  const [best] = ranking;
  if (!best) return "The round is over";
  const names = ranking.filter(({ score }) => score === best.score).map(({ name }) => name);
  if (names.length === 1) return `${best.name} wins with ${best.score}`;
  if (names.length === ranking.length && best.score === 0) return "The round is over: nobody has scored";
  return names.length === 2 ? `${names.join(" and ")} draw with ${best.score}` : `${names.length} players draw with ${best.score}`;
}

/**
 * The result of a round that is over, until the next round begins.
 *
 * @param {import("../store/store.js").Store} store
 * @returns {?import("./centre.js").Card}
 */
export function result(store) {
  const { round, roster, own } = store;
  if (round.phase !== "intermission") return null;
  // A page that joins between two rounds learns the phase before it learns the players.
  const ranking = round.result?.length ? round.result : roster.ranking();
  const rows = ranking.slice(0, BEST).map((player) => ({ place: placeOf(player, ranking), name: player.name, score: player.score, slot: player.slot }));
  const lines = [];
  const self = own && ranking.find(({ slot }) => slot === own.slot);
  if (self) lines.push(`You are ${ordinal(placeOf(self, ranking))} of ${ranking.length} with ${self.score}.`);
  const seconds = left(store);
  const soon = seconds === null ? "soon" : `in ${Math.max(0, Math.ceil(seconds))} s`;
  const next = round.next ? `Next: ${round.next} ${soon}` : `Next round ${soon}`;
  lines.push(own ? `${next}. Nobody can move until then.` : next);
  return { kind: "result", title: won(ranking), rows, lines };
}
