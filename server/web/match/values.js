/**
 * The values that a game replicates.
 *
 * @typedef {object} Value
 * @property {string} name that the game declares
 * @property {number} value
 * @property {number} least the least possible value
 * @property {number} most the greatest possible value
 * @property {string} [hint] how to show the value
 *
 * @typedef {object} Values
 * @property {Value[]} match the values of the match
 * @property {Value[]} own the values of one player
 * @property {[number, number][]} teams slots of players and the numbers of their teams, for a game whose
 *   players have a field `team`
 */

import { fieldsOf, named, NO_SCHEMA } from "../wire/fields.js";

/**
 * The values of a game that has none.
 *
 * @type {Values}
 */
export const NO_VALUES = { match: [], own: [], teams: [] };

/** The name of the field that has a player's team in a game without hints. */
const TEAM = "team";

/**
 * The values of these fields with their ranges.
 *
 * @param {import("../wire/fields.js").Field[]} fields
 * @param {number[]} offsets
 * @returns {Value[]}
 */
function ranged(fields, offsets) {
  return named(fields, offsets).map((one, i) => ({ ...one, least: fields[i].least, most: fields[i].most, hint: fields[i].hint }));
}

/**
 * The values that a spectator is sent.
 *
 * @param {any} history what the server has sent, a `History`; null before it has accepted the page
 * @param {?number} slot of the player whose values are wanted
 * @param {Iterable<number>} players slots of all players
 * @returns {Values}
 */
export function valuesOf(history, slot, players) {
  if (!history) return NO_VALUES;
  const schema = history.terms.schema ?? NO_SCHEMA;
  const entity = slot === null ? null : history.entity(slot);
  const fields = entity ? fieldsOf(schema, entity.kind, entity.model, entity.driven) : [];
  return {
    match: ranged(schema.ofMatch, history.offsets.match[0]?.offsets ?? []),
    own: ranged(fields, entity?.offsets ?? []),
    teams: teamsOf(schema.ofPlayers, history, players),
  };
}

/**
 * The values that the client library gives, with the hints of the schema.
 *
 * @param {?Values} values
 * @param {import("../wire/fields.js").Schema} schema
 * @returns {?Values}
 */
export function hinted(values, schema) {
  if (!values) return values;
  /** @type {(of: Value[], fields: import("../wire/fields.js").Field[]) => Value[]} */
  const add = (of, fields) => of.map((one) => ({ ...one, hint: fields.find(({ name }) => name === one.name)?.hint }));
  return { ...values, match: add(values.match, schema.ofMatch), own: add(values.own, [...schema.ofOwnPlayer, ...schema.ofPlayers]) };
}

/**
 * The teams of the players whose values are known.
 *
 * @param {import("../wire/fields.js").Field[]} fields of players
 * @param {any} history as for `valuesOf`
 * @param {Iterable<number>} players slots
 */
function teamsOf(fields, history, players) {
  const at = fields.findIndex(({ name, hint }) => hint === "team" || name === TEAM);
  /** @type {[number, number][]} */
  const teams = [];
  if (at < 0) return teams;
  for (const slot of players) {
    const offset = history.entity(slot)?.offsets?.[at];
    if (offset !== undefined) teams.push([slot, offset]);
  }
  return teams;
}
