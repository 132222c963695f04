/** The keys of a game's actions: as the game declares them, or as the player has chosen. */

import { moves } from "../play/keys.js";
import { find } from "./find.js";
import { remember, remembered } from "./remembered.js";

const MEMORY = "arena keys";

/** Keys that the page needs beside those that move the player. */
const KEPT = ["Escape", "Enter", "Tab", "Slash"];

/**
 * Whether an action may have this key.
 *
 * @param {string} code
 */
const isFree = (code) => !KEPT.includes(code) && !moves(code);

const BUTTONS = ["left button", "middle button", "right button"];

/**
 * The name of a key for people.
 *
 * @param {string} code
 */
export function keyName(code) {
  if (code.startsWith("Mouse")) return BUTTONS[Number(code.slice(5))] ?? `button ${code.slice(5)}`;
  return code.replace(/^(Key|Digit)/, "").replace(/([a-z])([A-Z])/g, "$1 $2");
}

/**
 * The actions with the keys that a player has chosen, or with the game's keys. No action has a key
 * that the page needs, so an action may have no key until the player chooses one.
 *
 * @param {import("../wire/fields.js").Action[]} actions
 * @param {Record<string, string>} chosen keys by the names of actions
 */
export function withKeys(actions, chosen) {
  const taken = actions.map(({ name }) => (isFree(chosen[name]) ? chosen[name] : undefined));
  return actions.map((action, at) => {
    const own = taken[at];
    // A key that was chosen for one action no longer does another.
    return { ...action, keys: own ? [own] : action.keys.filter((code) => isFree(code) && !taken.includes(code)) };
  });
}

/**
 * The keys of actions as a part of a sentence.
 *
 * @param {import("../wire/fields.js").Action[]} actions
 * @param {number} picks how many of the first actions are weapons
 */
export function keysText(actions, picks) {
  const key = (/** @type {import("../wire/fields.js").Action} */ { keys }) => keyName(keys[0] ?? "");
  const weapons = picks > 0 ? ["a click fires", `${actions.slice(0, picks).map(key).join(" ")} choose a weapon`] : [];
  const others = actions.slice(picks).filter(({ keys }) => keys.length > 0);
  const said = [...weapons, ...others.map((action) => `${key(action)}: ${action.label}`)];
  return said.map((one) => `${one}, `).join("");
}

/** The keys that the player has chosen, and the list of actions in the help. */
export class ActionKeys {
  constructor() {
    /** @type {Record<string, string>} keys by the names of actions */
    this.chosen = remembered(MEMORY);
    /** Counts the changes. */
    this.version = 0;
    /** @type {any[]} the keys, the actions and the version that were last given to a player */
    this.given = [];
    this.text = "";
    /** @type {?string} the action that gets the next key */
    this.asking = null;
    this.list = find("#actions", HTMLElement);
  }

  /**
   * Gives a player the actions of a game. Returns false if the player has them already.
   *
   * @param {import("../play/keys.js").Keys} keys of the player
   * @param {import("../wire/fields.js").Action[]} actions
   * @param {boolean} hasWeapons whether the first three are weapons
   */
  give(keys, actions, hasWeapons) {
    const state = [keys, actions, hasWeapons, this.version];
    if (state.every((one, at) => one === this.given[at])) return false;
    this.given = state;
    keys.use(withKeys(actions, this.chosen), hasWeapons);
    this.show(keys);
    return true;
  }

  /**
   * Lists the actions.
   *
   * @param {import("../play/keys.js").Keys} keys in use
   */
  show({ actions, picks }) {
    this.text = keysText(actions, picks);
    const fires = picks > 0 ? [pair([keyBox("left button"), ", wheel"], "fires, changes the weapon")] : [];
    this.list.replaceChildren(...fires, ...actions.map((action) => pair([this.button(action)], action.label)));
  }

  /**
   * A button with the key of an action. A click on it lets the player choose another key.
   *
   * @param {import("../wire/fields.js").Action} action
   */
  button({ name, label, keys }) {
    const button = Object.assign(document.createElement("button"), { type: "button", title: "Choose another key" });
    const named = keys.map(keyName).join(", ") || "no key";
    button.setAttribute("aria-label", `${label}: ${named}. Choose another key`);
    button.append(keyBox(named));
    button.addEventListener("click", () => {
      button.textContent = "press a key";
      this.asking = name;
      // The click on the button has ended, so the next press is the answer.
      addEventListener("mousedown", (event) => this.hears(event), { capture: true, once: true });
    });
    return button;
  }

  /**
   * Takes the next key, or button of the mouse, for the action that waits for another key. Returns
   * whether an action waited. The handler of a player's keys asks here first, because it hands no
   * key on.
   *
   * @param {KeyboardEvent | MouseEvent} event
   */
  hears(event) {
    const name = this.asking;
    if (name === null) return false;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.asking = null;
    this.choose(name, "code" in event ? event.code : `Mouse${event.button}`);
    return true;
  }

  /**
   * @param {string} name of an action
   * @param {string} code of its key from now on; a key that the page needs restores the game's own
   */
  choose(name, code) {
    if (isFree(code)) this.chosen[name] = code;
    else delete this.chosen[name];
    for (const other of Object.keys(this.chosen)) if (other !== name && this.chosen[other] === code) delete this.chosen[other];
    this.version++;
    remember(MEMORY, this.chosen);
  }
}

/** @param {string} text */
function keyBox(text) {
  return Object.assign(document.createElement("kbd"), { textContent: text });
}

/**
 * @param {(Node | string)[]} keys
 * @param {string} text
 */
function pair(keys, text) {
  const [line, term, meaning] = ["div", "dt", "dd"].map((tag) => document.createElement(tag));
  term.append(...keys);
  meaning.textContent = text;
  line.append(term, meaning);
  return line;
}
