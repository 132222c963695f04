/**
 * Names, health and hits over the picture. Each player has an element, which is rewritten only if
 * its content changes and otherwise just moved.
 */

import { css, hueColour, hueOf } from "./colours.js";

/** Height of the name above the middle of the player, in units. */
const ABOVE = 44;

/** Pixels beyond the edge of the screen at which a label is hidden. */
const BEYOND = 60;

/** Distance at which names begin to fade, and least opacity of a name. */
const NEAR = 3000;
const FAINTEST = 0.8;

/** Height of a name in pixels, and least gap between two names. */
const LINE = 15;
const APART = 3;

/** Writes a text only if it has changed. */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** One player's label. */
class Label {
  constructor(home) {
    this.box = document.createElement("div");
    this.name = document.createElement("span");
    const bar = document.createElement("b");
    this.health = document.createElement("i");
    bar.append(this.health);
    this.box.append(this.name, bar);
    home.append(this.box);
    /** The values that were last written to the element, so that none is written twice. */
    this.told = {};
    this.place = { x: 0, y: 0, away: 0 };
    this.seen = false;
  }

  /** Writes the name and the health, and shows how much health was lost. */
  say({ slot, name, health }) {
    const { told } = this;
    this.set("hue", hueOf(slot), (hue) => (this.name.style.color = css(hueColour(hue, 0.8, 0.78))));
    if (told.name !== name) {
      write(this.name, name);
      told.name = name;
      told.width = 0;
    }
    if (told.health === health) return;
    if (health < told.health) this.lose(told.health - health);
    told.health = health;
    this.health.style.inlineSize = `${Math.max(0, Math.min(health, 100))}%`;
    this.health.dataset.level = health > 60 ? "high" : health > 30 ? "middle" : "low";
  }

  lose(lost) {
    const loss = document.createElement("em");
    loss.textContent = `−${lost}`;
    loss.addEventListener("animationend", () => loss.remove());
    this.box.append(loss);
  }

  /** Half the width of the name, in pixels. */
  half() {
    this.told.width ||= this.name.offsetWidth;
    return this.told.width / 2;
  }

  set(what, value, apply) {
    if (this.told[what] === value) return;
    this.told[what] = value;
    apply(value);
  }

  /** Moves the label to its place, with a name or without one. */
  show(named, followed) {
    const { x, y, away } = this.place;
    const { box } = this;
    // Whole pixels keep letters sharp.
    this.set("at", `translate(${Math.round(x)}px, ${Math.round(y)}px) translate(-50%, -100%)`, (at) => (box.style.transform = at));
    const faint = followed ? 1 : Math.min(1, Math.max(FAINTEST, NEAR / away));
    this.set("opacity", faint.toFixed(1), (opacity) => (box.style.opacity = opacity));
    this.set("named", named, (named) => box.classList.toggle("bare", !named));
    this.set("hidden", false, () => (box.hidden = false));
  }

  hide() {
    this.set("hidden", true, () => (this.box.hidden = true));
  }
}

/** The labels of a match. */
export class Labels {
  /** @param {HTMLElement} home of the same size as the picture */
  constructor(home) {
    this.home = home;
    /** @type {Map<number, Label>} by slot */
    this.labels = new Map();
    this.order = [];
    this.written = [];
  }

  /**
   * @param {import("../match/motion.js").Shown[]} shown
   * @param {import("../store/roster.js").Roster} roster
   * @param {Float32Array} matrix of the view
   * @param {{names: boolean, followed: ?number, width: number, height: number}} options
   */
  draw(shown, roster, matrix, { names, followed, width, height }) {
    for (const label of this.labels.values()) label.seen = false;
    this.order.length = 0;
    for (const { slot, generation, isPlayer, position } of shown) {
      const player = isPlayer ? roster.find({ slot, generation }) : null;
      if (!player || !(names || followed === slot)) continue;
      const label = this.labelOf(slot, player);
      label.say(player);
      label.seen = place(label.place, matrix, position, width, height);
      label.followed = followed === slot;
      if (label.seen) this.order.push(label);
    }
    for (const [slot, label] of this.labels) {
      if (!label.seen) label.hide();
      if (!roster.players.has(slot)) this.forget(slot, label);
    }
    this.untangle();
  }

  labelOf(slot, player) {
    let label = this.labels.get(slot);
    if (label && label.generation !== player.generation) {
      this.forget(slot, label);
      label = null;
    }
    if (!label) {
      label = new Label(this.home);
      label.generation = player.generation;
      this.labels.set(slot, label);
    }
    return label;
  }

  forget(slot, label) {
    label.box.remove();
    this.labels.delete(slot);
  }

  /** Shows the names of the nearest players. A name that would cover another is not shown. */
  untangle() {
    this.order.sort((a, b) => b.followed - a.followed || a.place.away - b.place.away);
    this.written.length = 0;
    for (const label of this.order) {
      const free = this.written.every((other) => {
        // A name that is shown stays until there is no room at all, so that names do not flicker.
        const apart = label.told.named ? 0 : APART;
        const across = Math.abs(other.place.x - label.place.x) - other.half() - label.half();
        return across > apart || Math.abs(other.place.y - label.place.y) > LINE + apart;
      });
      if (free) this.written.push(label);
      label.show(free, label.followed);
    }
  }
}

/** Computes the place of a label on the screen; false if it is out of sight. */
function place(into, matrix, [x, y, z], width, height) {
  const at = (row) => matrix[row] * x + matrix[4 + row] * y + matrix[8 + row] * (z + ABOVE) + matrix[12 + row];
  into.away = at(3);
  if (into.away <= 0) return false;
  into.x = (at(0) / into.away / 2 + 0.5) * width;
  into.y = (0.5 - at(1) / into.away / 2) * height;
  return into.x > -BEYOND && into.x < width + BEYOND && into.y > -BEYOND && into.y < height + BEYOND;
}
