/** PROTOCOL.md, "Schema": the content of a game's event, read by the types that the game declares. */

import { Malformed } from "./range_decoder.js";

/** @typedef {import("./fields.js").EventKind} EventKind */

/** @typedef {import("./control.js").Reader} Reader */

/**
 * @param {Reader} reader
 * @param {number} width in bytes
 */
function float(reader, width) {
  const view = new DataView(Uint8Array.from(reader.raw(width)).buffer);
  return width === 4 ? view.getFloat32(0, true) : view.getFloat64(0, true);
}

/** The readers of the types of fields, by number. Integers above 2^53 lose digits. */
const READ = [
  (/** @type {Reader} */ r) => r.byte() !== 0,
  (/** @type {Reader} */ r) => r.byte(),
  (/** @type {Reader} */ r) => r.unsigned(),
  (/** @type {Reader} */ r) => (r.byte() << 24) >> 24,
  (/** @type {Reader} */ r) => r.signed(),
  (/** @type {Reader} */ r) => float(r, 4),
  (/** @type {Reader} */ r) => float(r, 8),
  (/** @type {Reader} */ r) => r.text(),
  (/** @type {Reader} */ r) => r.entity(),
];

/** The number of types. */
export const TYPES = READ.length;

/**
 * The values of an event's fields by name; null if the content does not have these fields.
 *
 * @param {EventKind} kind
 * @param {Reader} reader of the content
 * @returns {?Record<string, any>} the value of a player field has a slot and a generation
 */
export function contentOf(kind, reader) {
  try {
    const values = kind.fields.map(({ name, type }) => [name, READ[type](reader)]);
    reader.end();
    return Object.fromEntries(values);
  } catch (error) {
    if (error instanceof Malformed || error instanceof TypeError) return null;
    throw error;
  }
}
