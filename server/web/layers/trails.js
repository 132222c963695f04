/** Where players and projectiles have just been. */

import { hueColour, modelColour, PROJECTILES } from "../draw/colours.js";
import { stroke } from "../draw/renderer.js";
import { hueOf } from "../match/roster.js";

/** Seconds that a trail lasts, and between two of its points. */
const LASTS = 1.6;
const SPACING = 0.05;

/** Units from one point to the next beyond which something was put elsewhere. */
const LEAP = 250;

/** The trails of a match. */
export class Trails {
  constructor() {
    this.reset();
  }

  /** Forgets all trails. */
  reset() {
    this.trails = new Map();
  }

  /** Notes where everything is now. */
  note(shown, now) {
    for (const { slot, generation, isPlayer, model, position } of shown) {
      const flies = PROJECTILES.has(model);
      if (!isPlayer && !flies) continue;
      let trail = this.trails.get(slot);
      if (trail?.generation !== generation) {
        const colour = flies ? modelColour(model) : hueColour(hueOf(slot));
        trail = { generation, colour, flies, points: [] };
        this.trails.set(slot, trail);
      }
      const last = trail.points[trail.points.length - 1];
      if (last && now - last.at < SPACING) continue;
      const low = isPlayer && model === null ? position[2] - 24 : position[2];
      trail.points.push({ at: now, position: [position[0], position[1], low] });
    }
    for (const [slot, trail] of this.trails) {
      trail.points = trail.points.filter(({ at }) => at > now - LASTS);
      if (trail.points.length === 0) this.trails.delete(slot);
    }
  }

  /** Adds them to a frame. */
  draw(frame, now) {
    for (const { colour, flies, points } of this.trails.values()) {
      for (let i = 0; i + 1 < points.length; i++) {
        const [a, b] = [points[i], points[i + 1]];
        if (Math.hypot(...a.position.map((value, axis) => value - b.position[axis])) > LEAP) continue;
        const faded = ({ at }) => [...colour, (flies ? 0.85 : 0.5) * (1 - (now - at) / LASTS)];
        stroke(frame.strokes, a.position, b.position, faded(a), faded(b), flies ? 3.5 : 2.5);
      }
    }
  }
}
