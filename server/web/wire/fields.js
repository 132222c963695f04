/**
 * PROTOCOL.md, "Schema" and "Changes of values": the fields and events of a game.
 *
 * @typedef {object} Field
 * @property {string} name
 * @property {number} least the least value of the field
 * @property {number} most the greatest value of the field
 * @property {string} hint how to show the value: `none`, `counter`, `timer`, `bar` or `team`
 *
 * @typedef {object} EventKind
 * @property {string} name
 * @property {{name: string, type: number}[]} fields of the content, in order
 * @property {string} toast a text to show; empty if there is none
 * @property {string} sound the name of a sound to play; empty if there is none
 *
 * @typedef {object} Action that a player can do beside moving
 * @property {string} name
 * @property {string} label for people
 * @property {string[]} keys that do it by default, as browsers name them
 * @property {?number} gamepad the button that does it by default
 * @property {boolean} touch whether touch screens show a button
 *
 * @typedef {object} Schema
 * @property {Field[]} ofMatch
 * @property {Field[]} ofOwnPlayer
 * @property {Field[]} ofPlayers
 * @property {{name: string, fields: Field[]}[]} models
 * @property {EventKind[]} events the kinds of the game's events
 * @property {Action[]} actions
 */

import { TYPES } from "./events.js";
import { Malformed } from "./range_decoder.js";

/** @typedef {import("./range_decoder.js").RangeDecoder} RangeDecoder */

/** @typedef {import("./control.js").Reader} Reader */

/**
 * The schema of a game without fields and events.
 *
 * @type {Schema}
 */
export const NO_SCHEMA = { ofMatch: [], ofOwnPlayer: [], ofPlayers: [], models: [], events: [], actions: [] };

const MOST_FIELDS = 16;
const MOST_KEYS = 4;
const HINTS = ["none", "counter", "timer", "bar", "team"];
const NAME = /^[A-Za-z0-9_.-]{1,32}$/;
/** Models that are drawn in the map have names such as `*3`. */
const MODEL_NAME = /^\*?[A-Za-z0-9_.-]{1,32}$/;

/**
 * @template T
 * @param {Reader} reader
 * @param {number} most
 * @param {() => T} read
 */
function list(reader, most, read) {
  const count = reader.unsigned();
  if (count > most) throw new Malformed("a list in a schema that is too long");
  return Array.from({ length: count }, read);
}

/**
 * @param {Reader} reader
 * @param {RegExp} [allowed]
 */
function name(reader, allowed = NAME) {
  const text = reader.text();
  if (!allowed.test(text)) throw new Malformed("an invalid name in a schema");
  return text;
}

/** @param {Reader} reader */
function fields(reader) {
  const read = list(reader, MOST_FIELDS, () => ({
    name: name(reader),
    least: reader.signed(),
    most: reader.signed(),
    hint: HINTS[reader.unsigned()],
  }));
  for (const { least, most, hint } of read) {
    if (!hint) throw new Malformed("an unknown hint");
    if (most <= least || most - least > 65535) throw new Malformed("a field whose range is not allowed");
  }
  return apart(read);
}

/**
 * The list, whose names must differ.
 *
 * @template {{name: string}} T
 * @param {T[]} of
 */
function apart(of) {
  if (new Set(of.map((one) => one.name)).size < of.length) throw new Malformed("two things with the same name");
  return of;
}

/**
 * @param {Reader} reader
 * @returns {EventKind}
 */
function eventKind(reader) {
  const kind = {
    name: name(reader),
    fields: apart(list(reader, MOST_FIELDS, () => ({ name: name(reader), type: reader.unsigned() }))),
    toast: reader.text(),
    sound: reader.text(),
  };
  if (kind.fields.some(({ type }) => type >= TYPES)) throw new Malformed("a field of an unknown type");
  return kind;
}

/**
 * @param {Reader} reader
 * @returns {Action}
 */
function action(reader) {
  const text = { name: name(reader), label: reader.text(), keys: list(reader, MOST_KEYS, () => reader.text()) };
  const gamepad = reader.byte() === 0 ? null : reader.byte();
  if (text.label === "" || (gamepad ?? 0) > 16) throw new Malformed("an action without a label, or with an unknown button");
  return { ...text, gamepad, touch: reader.byte() !== 0 };
}

/**
 * @param {Reader} reader of the server's hello
 * @returns {Schema}
 * @throws {Malformed}
 */
export function readSchema(reader) {
  return {
    ofMatch: fields(reader),
    ofOwnPlayer: fields(reader),
    ofPlayers: fields(reader),
    models: list(reader, 128, () => ({ name: name(reader, MODEL_NAME), fields: fields(reader) })),
    events: apart(list(reader, 64, () => eventKind(reader))),
    actions: apart(list(reader, 16, () => action(reader))),
  };
}

/**
 * The fields of an entity of this kind (0: a player on foot) and model; `driven` if a player drives
 * it.
 *
 * @param {Schema} schema
 * @param {number} kind
 * @param {number} [model]
 * @param {boolean} [driven]
 */
export function fieldsOf(schema, kind, model, driven) {
  return kind === 0 || driven ? schema.ofPlayers : (schema.models[model ?? -1]?.fields ?? []);
}

/**
 * The number of bits of a field's offset.
 *
 * @param {Field} field
 */
function width({ least, most }) {
  return 32 - Math.clz32(most - least);
}

/**
 * @param {number} offset
 * @param {Field} field
 */
function checked(offset, { least, most }) {
  if (offset < 0 || offset > most - least) throw new Malformed("a value out of range");
  return offset;
}

/**
 * Reads the offsets of all these fields.
 *
 * @param {RangeDecoder} coder
 * @param {Field[]} of
 */
export function readOffsets(coder, of) {
  return of.map((field) => checked(coder.raw(width(field)), field));
}

/**
 * Reads the offsets of these fields, coded as changes from the old offsets.
 *
 * @param {RangeDecoder} coder
 * @param {Field[]} of
 * @param {number[]} old
 */
export function readChangedOffsets(coder, of, old) {
  return of.map((field, i) => {
    if (!coder.bit(806 + i)) return old[i];
    return checked(coder.bit(822) ? coder.raw(width(field)) : old[i] + coder.signed(823, 5), field);
  });
}

/**
 * The values of fields, for people.
 *
 * @param {Field[]} of
 * @param {number[]} offsets
 * @returns {{name: string, value: number}[]}
 */
export function named(of, offsets) {
  return of.map(({ name: called, least }, i) => ({ name: called, value: least + (offsets[i] ?? 0) }));
}
