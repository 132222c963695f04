/** The settings of a player: name, mouse, view and sound. The browser remembers them. */

import { find } from "./find.js";
import { remember, remembered } from "./remembered.js";

const MEMORY = "arena settings";

/**
 * The default settings: the radians that the view turns per hundred pixels of the mouse, the
 * vertical field of view in degrees, the volume from 0 to 1, the shape of the crosshair, and
 * whether steps move the view.
 */
const FIRST = { mouse: 0.22, field: 74, volume: 0.6, crosshair: "dot", bob: false };

/** @typedef {HTMLInputElement | HTMLSelectElement} Control */

/**
 * The value of a control.
 *
 * @param {Control} control
 * @param {string} otherwise the name if the control is empty
 */
function said(control, otherwise) {
  if (control.type === "range") return Number(control.value);
  if (control instanceof HTMLInputElement && control.type === "checkbox") return control.checked;
  return control.value.trim() || otherwise;
}

/**
 * @param {Control} control
 * @param {any} value
 */
function write(control, value) {
  if (control instanceof HTMLInputElement && control.type === "checkbox") control.checked = value;
  else control.value = value;
}

/** The settings, in the panel of the keys and in further controls. */
export class Settings {
  constructor() {
    this.guest = `guest ${Math.floor(Math.random() * 900 + 100)}`;
    /** @type {Record<string, any>} */
    this.values = { name: this.guest, ...FIRST, ...remembered(MEMORY) };
    /** @type {Control[]} */
    this.controls = [];
    const form = find("#settings", HTMLFormElement);
    for (const control of form.querySelectorAll("input, select")) this.bind(/** @type {Control} */ (control));
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  /**
   * Lets a control show and set the setting of its name.
   *
   * @param {Control} control
   */
  bind(control) {
    this.controls.push(control);
    write(control, this.values[control.name]);
    control.addEventListener("input", () => this.set(control.name, said(control, this.guest), control));
  }

  /**
   * Sets one setting.
   *
   * @param {string} name
   * @param {any} value
   * @param {?Control} by the control that sets it, if one does
   */
  set(name, value, by = null) {
    this.values[name] = value;
    for (const control of this.controls) if (control.name === name && control !== by) write(control, value);
    remember(MEMORY, this.values);
  }

  /** The name to play under. */
  get name() {
    return this.values.name;
  }

  /** Radians that the view turns per pixel of the mouse. */
  get turn() {
    return this.values.mouse / 100;
  }

  /** The vertical field of view of a player, in radians. */
  get field() {
    return (this.values.field / 180) * Math.PI;
  }
}
