/** Switches of layers and the choice of view, each with its key. */

import { find } from "./find.js";
import { isTyping } from "./typing.js";

/** The layers, in the order of the panel. */
export const LAYERS = [
  { name: "names", key: "n", label: "Names, health", on: true },
  { name: "trails", key: "t", label: "Trails", on: true },
  { name: "hits", key: "i", label: "Shots and hits", on: true },
  { name: "shadows", key: "l", label: "Shadows", on: true },
  { name: "adapt", key: "v", label: "Adapt sharpness", on: true },
  { name: "boxes", key: "b", label: "Bounding boxes" },
  { name: "grid", key: "g", label: "Grid" },
  { name: "sleeping", key: "z", label: "Sleeping bodies" },
  { name: "contacts", key: "c", label: "Contact points" },
  { name: "heat", key: "h", label: "Cascade heat" },
  { name: "onion", key: "o", label: "Onion sizes" },
];

/** @typedef {"orbit" | "follow" | "top"} View */

/** @type {{mode: View, key: string, label: string}[]} */
export const VIEWS = [
  { mode: "orbit", key: "1", label: "Orbit" },
  { mode: "follow", key: "2", label: "Follow" },
  { mode: "top", key: "3", label: "Top" },
];

const MEMORY = "arena layers";

/** @returns {Record<string, boolean>} */
function remembered() {
  try {
    return JSON.parse(localStorage.getItem(MEMORY) ?? "{}");
  } catch {
    return {};
  }
}

/** The switches of layers and views. */
export class Switches {
  /**
   * @param {object} actions
   * @param {(mode: View) => void} actions.look called when a view is chosen
   * @param {(step: number) => void} actions.next called to follow the next or the previous player
   * @param {() => void} actions.changed called when a layer is switched
   */
  constructor(actions) {
    this.actions = actions;
    /** @type {Map<string, HTMLInputElement>} the boxes of layers, by name */
    this.boxes = new Map();
    /** @type {Map<string, HTMLButtonElement>} the buttons of views, by mode */
    this.views = new Map();
    const before = remembered();
    const home = find("#layers > div", HTMLElement);
    for (const { name, key, label, on } of LAYERS) {
      const line = document.createElement("label");
      const box = document.createElement("input");
      const mark = document.createElement("kbd");
      box.type = "checkbox";
      box.name = name;
      box.checked = before[name] ?? Boolean(on);
      mark.textContent = key.toUpperCase();
      line.append(box, label, mark);
      home.append(line);
      box.addEventListener("change", () => this.note());
      this.boxes.set(name, box);
    }
    const views = find("#views", HTMLElement);
    for (const { mode, key, label } of VIEWS) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = label;
      button.title = `Key ${key}`;
      button.addEventListener("click", () => actions.look(mode));
      views.append(button);
      this.views.set(mode, button);
    }
    addEventListener("keydown", (event) => this.key(event));
  }

  /**
   * Whether a layer is on.
   *
   * @param {string} name
   */
  isOn(name) {
    return this.boxes.get(name)?.checked === true;
  }

  /**
   * Switches a layer.
   *
   * @param {string} name
   * @param {boolean} on
   */
  set(name, on) {
    const box = this.boxes.get(name);
    if (box) box.checked = on;
    this.note();
  }

  /**
   * Shows which view is active.
   *
   * @param {string} mode
   */
  showView(mode) {
    for (const [name, button] of this.views) button.setAttribute("aria-pressed", String(name === mode));
  }

  note() {
    const state = Object.fromEntries([...this.boxes].map(([name, box]) => [name, box.checked]));
    try {
      localStorage.setItem(MEMORY, JSON.stringify(state));
    } catch {
      // The browser refuses to store data, so the layers are not remembered.
    }
    this.actions.changed();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const key = event.key.toLowerCase();
    const view = VIEWS.find((each) => each.key === key);
    const layer = LAYERS.find((each) => each.key === key);
    if (view) this.actions.look(view.mode);
    else if (layer) this.set(layer.name, !this.isOn(layer.name));
    else if (key === "f" || key === "]") this.actions.next(1);
    else if (key === "[") this.actions.next(-1);
    else if (key === "?") find("#help", HTMLElement).togglePopover?.();
  }
}
