/** The events of a game, with the game's declarations of their kinds. */

import { Reader } from "../wire/control.js";
import { contentOf } from "../wire/events.js";

/**
 * Adds to an event what the game's schema declares: name, values of its fields, toast and sound.
 *
 * @param {Record<string, any>} event
 * @param {import("../wire/fields.js").Schema} schema
 * @returns {boolean} false if the schema does not have the event
 */
export function described(event, schema) {
  const kind = schema.events[event.kind];
  if (!kind) return false;
  const { name, toast, sound, fields } = kind;
  const content = fields.length > 0 ? contentOf(kind, new Reader(Uint8Array.from(event.data))) : null;
  // If the game declares only the name of an event, the toast is the name.
  const isBare = fields.length === 0 && !sound;
  return Boolean(Object.assign(event, { name, content, sound, toast: toast || (isBare ? name.replaceAll("_", " ") : "") }));
}

/**
 * The text of an event's toast, with the values of its fields.
 *
 * @param {Record<string, any>} event
 * @param {(id: {slot: number}) => string} nameOf a player
 */
export function toastOf({ toast = "", content }, nameOf) {
  if (!content) return toast;
  return toast.replaceAll(/\{([^}]*)\}/g, (/** @type {string} */ all, /** @type {string} */ of) => {
    const value = content[of];
    if (value === undefined) return all;
    if (typeof value === "object") return nameOf(value);
    if (typeof value === "boolean") return value ? "yes" : "no";
    return String(typeof value === "number" ? Math.round(value * 100) / 100 : value);
  });
}
