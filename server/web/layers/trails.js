/** Trails of players and missiles. */

import { modelColour, PROJECTILES, slotColour } from "../draw/colours.js";
import { stroke } from "../draw/frame.js";

/** Seconds that a trail lasts, and seconds between two of its points. */
const LASTS = 1.6;
const SPACING = 0.08;

/** Units from one point to the next above which the body was teleported. */
const LEAP = 250;

/** Maximum number of points per trail: the newest replaces the oldest. */
const POINTS = Math.ceil(LASTS / SPACING) + 1;

/** The trail of one body. */
class Trail {
  constructor(generation, colour, flies) {
    Object.assign(this, { generation, colour, flies });
    this.points = Array.from({ length: POINTS }, () => ({ at: -Infinity, position: [0, 0, 0] }));
    this.newest = 0;
  }

  /** The point that is `before` points older than the newest. */
  point(before) {
    return this.points[(this.newest - before + POINTS) % POINTS];
  }

  note([x, y, z], now) {
    if (now - this.point(0).at < SPACING) return;
    this.newest = (this.newest + 1) % POINTS;
    const point = this.points[this.newest];
    point.at = now;
    [point.position[0], point.position[1], point.position[2]] = [x, y, z];
  }

  draw(strokes, now) {
    const opacity = this.flies ? 0.85 : 0.5;
    for (let before = 0; before + 1 < POINTS; before++) {
      const [b, a] = [this.point(before), this.point(before + 1)];
      if (a.at <= now - LASTS) return;
      const [p, q] = [a.position, b.position];
      if (Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]) > LEAP) continue;
      const left = (at) => opacity * (1 - (now - at) / LASTS);
      stroke(strokes, p, q, this.colour, left(a.at), left(b.at), this.flies ? 3.5 : 2.5);
    }
  }
}

/** The trails of a match. */
export class Trails {
  constructor() {
    this.reset();
    this.place = [0, 0, 0];
  }

  /** Forgets all trails. */
  reset() {
    /** @type {Map<number, Trail>} by slot */
    this.trails = new Map();
  }

  /** Adds the current positions to the trails. */
  note(shown, now) {
    const { place } = this;
    for (const { slot, generation, isPlayer, model, position } of shown) {
      const flies = PROJECTILES.has(model);
      if (!isPlayer && !flies) continue;
      let trail = this.trails.get(slot);
      if (trail?.generation !== generation) {
        trail = new Trail(generation, flies ? modelColour(model) : slotColour(slot), flies);
        this.trails.set(slot, trail);
      }
      [place[0], place[1], place[2]] = position;
      // The trail of a player on foot is at the feet.
      if (isPlayer && model === null) place[2] -= 24;
      trail.note(place, now);
    }
    for (const [slot, trail] of this.trails) {
      if (trail.point(0).at <= now - LASTS) this.trails.delete(slot);
    }
  }

  /** Adds the trails to a frame. */
  draw(frame, now) {
    for (const trail of this.trails.values()) trail.draw(frame.strokes, now);
  }
}
