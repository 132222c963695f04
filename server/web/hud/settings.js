/** What a player has set: a name, the mouse, the field of view. Remembered by the browser. */

const MEMORY = "arena settings";

/** What is set at first: radians a hundred pixels of the mouse turn, and degrees upright. */
const FIRST = { mouse: 0.22, field: 74 };

function remembered() {
  try {
    return JSON.parse(localStorage.getItem(MEMORY)) ?? {};
  } catch {
    return {};
  }
}

/** The settings, in the panel of the keys. */
export class Settings {
  constructor() {
    const name = `guest ${Math.floor(Math.random() * 900 + 100)}`;
    this.values = { name, ...FIRST, ...remembered() };
    this.form = document.querySelector("#settings");
    for (const input of this.form.elements) {
      input.value = this.values[input.name];
      input.addEventListener("input", () => this.set(input.name, input.type === "range" ? Number(input.value) : input.value.trim() || name));
    }
    this.form.addEventListener("submit", (event) => event.preventDefault());
  }

  /** Sets one of them. */
  set(name, value) {
    this.values[name] = value;
    try {
      localStorage.setItem(MEMORY, JSON.stringify(this.values));
    } catch {
      // Not remembered, then.
    }
  }

  /** The name to play under. */
  get name() {
    return this.values.name;
  }

  /** Radians that a pixel of the mouse turns. */
  get turn() {
    return this.values.mouse / 100;
  }

  /** The field of view of a player, upright, in radians. */
  get field() {
    return (this.values.field / 180) * Math.PI;
  }
}
