/** The values that a game replicates: those of the match, and of the player that is followed. */

import { fieldsOf, named, NO_SCHEMA } from "../wire/fields.js";

/** The name of a kind of entity. */
function kindOf(schema, { kind, model, driven }) {
  if (kind === 0) return "player";
  const name = schema.models[model]?.name ?? `model ${model}`;
  return driven ? `player in ${name}` : name;
}

/**
 * The values by name.
 *
 * @param {?import("../wire/history.js").History} history
 * @param {?number} slot of the player that is followed
 * @returns {{name: string, value: string}[]}
 */
export function gameFacts(history, slot) {
  if (!history) return [];
  const schema = history.terms.schema ?? NO_SCHEMA;
  const match = named(schema.ofMatch, history.offsets.match[0]?.offsets ?? []);
  const entity = slot === null ? null : history.entity(slot);
  const fields = entity ? fieldsOf(schema, entity.kind, entity.model, entity.driven) : [];
  const kind = entity && fields.length > 0 ? kindOf(schema, entity) : "";
  const own = named(fields, entity?.offsets ?? []);
  return [
    ...match.map(({ name, value }) => ({ name, value: String(value) })),
    ...own.map(({ name, value }) => ({ name: `${kind}: ${name}`, value: String(value) })),
  ];
}

/** The list of these values, below the players. */
export class GameView {
  constructor() {
    this.list = document.querySelector("#game");
    this.text = "";
  }

  /** Shows the facts, if they have changed. */
  show(facts) {
    const text = JSON.stringify(facts);
    if (text === this.text) return;
    this.text = text;
    this.list.hidden = facts.length === 0;
    const terms = facts.flatMap(({ name, value }) => {
      const [term, definition] = [document.createElement("dt"), document.createElement("dd")];
      [term.textContent, definition.textContent] = [name.replaceAll("_", " "), value];
      return [term, definition];
    });
    this.list.replaceChildren(...terms);
  }
}
