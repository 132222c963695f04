/** Names, health and hits, written over the picture. */

import { project } from "./algebra.js";
import { css, hueColour } from "./colours.js";

/** Seconds for which the loss of health is shown. */
const HURT_SHOWN = 0.9;

/** Units above the middle of a player at which the name is. */
const ABOVE = 44;

/** Writes over a picture. */
export class Overlay {
  /** @param {HTMLCanvasElement} canvas of the same size as the picture */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.health = new Map();
    this.losses = [];
  }

  /**
   * @param {import("../match/motion.js").Shown[]} shown
   * @param {import("../match/roster.js").Roster} roster
   * @param {Float32Array} matrix of the view
   * @param {{names: boolean, followed: ?number, now: number}} options
   */
  draw(shown, roster, matrix, { names, followed, now }) {
    const { canvas, context } = this;
    const ratio = Math.min(devicePixelRatio, 2);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const place = (position, above) => {
      const at = project(matrix, [position[0], position[1], position[2] + above]);
      if (!at || Math.abs(at[0]) > 1.1 || Math.abs(at[1]) > 1.1) return null;
      return { x: (at[0] * 0.5 + 0.5) * width, y: (0.5 - at[1] * 0.5) * height, w: at[2] };
    };
    this.noteLosses(roster, now);
    for (const { slot, generation, isPlayer, position } of shown) {
      const player = isPlayer && roster.find({ slot, generation });
      if (!player) continue;
      const at = place(position, ABOVE);
      if (!at) continue;
      if (names || followed === slot) this.name(player, at, followed === slot);
      this.writeLosses(slot, at, now);
    }
  }

  name({ name, health, hue }, { x, y, w }, isFollowed) {
    const { context } = this;
    // Far away there is no room for names.
    const near = Math.min(1, Math.max(0.5, 2200 / w));
    context.globalAlpha = isFollowed ? 1 : near;
    // Names crowd a phone.
    const size = this.canvas.clientWidth < 760 ? 10 : 12;
    context.font = `${isFollowed ? 700 : 600} ${size}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.lineJoin = "round";
    context.lineWidth = 3.5;
    context.strokeStyle = "rgb(8 11 17 / 0.85)";
    context.strokeText(name, x, y - 7);
    context.fillStyle = css(hueColour(hue, 0.8, 0.78));
    context.fillText(name, x, y - 7);
    const [wide, share] = [38, Math.max(0, Math.min(health / 100, 1))];
    context.fillStyle = "rgb(8 11 17 / 0.8)";
    context.fillRect(x - wide / 2 - 1, y - 3, wide + 2, 5);
    context.fillStyle = share > 0.6 ? "#5fd38d" : share > 0.3 ? "#f2c14e" : "#ff6b5e";
    context.fillRect(x - wide / 2, y - 2, wide * share, 3);
    context.globalAlpha = 1;
  }

  noteLosses(roster, now) {
    for (const { slot, health } of roster.players.values()) {
      const before = this.health.get(slot) ?? health;
      if (health < before) this.losses.push({ slot, lost: before - health, at: now });
      this.health.set(slot, health);
    }
    this.losses = this.losses.filter(({ at }) => at > now - HURT_SHOWN);
  }

  writeLosses(slot, { x, y }, now) {
    const { context } = this;
    for (const loss of this.losses.filter((loss) => loss.slot === slot)) {
      const age = (now - loss.at) / HURT_SHOWN;
      context.globalAlpha = 1 - age * age;
      context.font = "700 14px system-ui, sans-serif";
      context.strokeText(`−${loss.lost}`, x + 26, y - 6 - age * 22);
      context.fillStyle = "#ff8f7a";
      context.fillText(`−${loss.lost}`, x + 26, y - 6 - age * 22);
    }
    context.globalAlpha = 1;
  }
}
