/** The settings of a player: name, mouse, view and sound. The browser remembers them. */

const MEMORY = "arena settings";

/**
 * The default settings: the radians that the view turns per hundred pixels of the mouse, the
 * vertical field of view in degrees, the volume from 0 to 1, the shape of the crosshair, and
 * whether steps move the view.
 */
const FIRST = { mouse: 0.22, field: 74, volume: 0.6, crosshair: "dot", bob: false };

function remembered() {
  try {
    return JSON.parse(localStorage.getItem(MEMORY)) ?? {};
  } catch {
    return {};
  }
}

/** The value of a control. */
function said(control, otherwise) {
  if (control.type === "range") return Number(control.value);
  if (control.type === "checkbox") return control.checked;
  return control.value.trim() || otherwise;
}

/** The settings, in the panel of the keys. */
export class Settings {
  constructor() {
    const name = `guest ${Math.floor(Math.random() * 900 + 100)}`;
    this.values = { name, ...FIRST, ...remembered() };
    this.form = document.querySelector("#settings");
    for (const control of this.form.elements) {
      if (control.type === "checkbox") control.checked = this.values[control.name];
      else control.value = this.values[control.name];
      control.addEventListener("input", () => this.set(control.name, said(control, name)));
    }
    this.form.addEventListener("submit", (event) => event.preventDefault());
  }

  /** Sets one setting. */
  set(name, value) {
    this.values[name] = value;
    try {
      localStorage.setItem(MEMORY, JSON.stringify(this.values));
    } catch {
      // The browser refuses to store data, so the settings are not remembered.
    }
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
