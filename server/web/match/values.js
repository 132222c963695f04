/**
 * The values that a game replicates.
 *
 * @typedef {object} Value
 * @property {string} name by which the game declares it
 * @property {number} value
 * @property {number} least the least value that it can have
 * @property {number} most the greatest value that it can have
 *
 * @typedef {{match: Value[], own: Value[]}} Values those of the match, and those of one player
 */

import { fieldsOf, named, NO_SCHEMA } from "../wire/fields.js";

/**
 * The values of a game that has none.
 *
 * @type {Values}
 */
export const NO_VALUES = { match: [], own: [] };

/**
 * The values of these fields with their ranges.
 *
 * @param {import("../wire/fields.js").Field[]} fields
 * @param {number[]} offsets
 * @returns {Value[]}
 */
function ranged(fields, offsets) {
  return named(fields, offsets).map((one, i) => ({ ...one, least: fields[i].least, most: fields[i].most }));
}

/**
 * The values that a spectator is sent.
 *
 * @param {any} history what the server has sent, a `History`; null before it has accepted the page
 * @param {?number} slot of the player whose values are wanted
 * @returns {Values}
 */
export function valuesOf(history, slot) {
  if (!history) return NO_VALUES;
  const schema = history.terms.schema ?? NO_SCHEMA;
  const entity = slot === null ? null : history.entity(slot);
  const fields = entity ? fieldsOf(schema, entity.kind, entity.model, entity.driven) : [];
  return { match: ranged(schema.ofMatch, history.offsets.match[0]?.offsets ?? []), own: ranged(fields, entity?.offsets ?? []) };
}
