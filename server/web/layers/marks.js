/** Marks that shots and explosions leave on the map for a while. */

import { add, cross, dot, normalise, scale, subtract } from "../draw/algebra.js";
import { put, stroke } from "../draw/frame.js";

/** Maximum number of marks, seconds that a mark lasts, and seconds in which it fades. */
const MOST = 96;
const LASTS = 20;
const FADES = 6;

/** Seconds that a mark glows, and that sparks fly. */
const GLOWS = 0.7;
const SPARKS = 0.3;

/** Radius of the mark of a shot and of an explosion, in units. */
const SHOT = 4.5;
const BLAST = 30;

/** Units over the surface at which marks are drawn. */
const OVER = 0.4;

/** Units from the end of a ray within which the ray has hit the map and not a body. */
const AT_WALL = 4;

/** Units from an explosion within which a surface is scorched. */
const SCORCHED = 48;
const AROUND = [[0, 0, -1], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1]];

const SOOT = [0.03, 0.03, 0.035];
const EMBER = [1, 0.62, 0.25];
const SPARK = [1, 0.86, 0.5];

/** The rotation from the upward direction to another. */
export function upwardTo([x, y, z]) {
  if (z < -0.9999) return [1, 0, 0, 0];
  const turn = [-y, x, 0, 1 + z];
  const length = Math.hypot(...turn);
  return turn.map((value) => value / length);
}

/** The marks of one match. */
export class Marks {
  constructor() {
    this.marks = [];
  }

  /** Forgets all marks. */
  reset() {
    this.marks = [];
  }

  /** Notes where a ray ends, if it ends at the map. */
  ray({ from, to }, sight, now) {
    const way = subtract(to, from);
    const length = Math.hypot(...way);
    if (length === 0) return;
    const beyond = add(to, scale(way, AT_WALL / length));
    const reached = sight.reach(from, beyond) * (length + AT_WALL);
    if (!sight.met || Math.abs(reached - length) > AT_WALL) return;
    this.add(add(from, scale(way, reached / length)), sight.met, SHOT, scale(way, 1 / length), now);
  }

  /** Notes an explosion, if a surface is near. */
  blast({ begin }, sight, now) {
    let nearest = null;
    for (const direction of AROUND) {
      const share = sight.reach(begin, add(begin, scale(direction, SCORCHED)));
      if (sight.met && share < (nearest?.share ?? 1)) nearest = { share, direction, normal: sight.met };
    }
    if (!nearest) return;
    const { share, direction, normal } = nearest;
    this.add(add(begin, scale(direction, share * SCORCHED)), normal, BLAST, direction, now);
  }

  add(at, normal, radius, along, at_) {
    const rotation = upwardTo(normal);
    // Sparks fly to where the shot would bounce, and a little aside.
    const bounce = subtract(along, scale(normal, 2 * dot(along, normal)));
    const aside = normalise(cross(normal, Math.abs(normal[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
    const sparks = [-1, -0.4, 0.3, 0.9].map((side) => normalise(add(add(bounce, scale(normal, 0.6)), scale(aside, side * 0.8))));
    this.marks.push({ place: add(at, scale(normal, OVER)), rotation, radius, sparks, at: at_ });
    if (this.marks.length > MOST) this.marks.shift();
  }

  /** Adds the marks to a frame. */
  draw(frame, now) {
    while (this.marks.length > 0 && now - this.marks[0].at > LASTS) this.marks.shift();
    for (const { place, rotation, radius, sparks, at } of this.marks) {
      const age = now - at;
      const left = Math.min(1, (LASTS - age) / FADES);
      put(frame.ghosts, "disc", place, rotation, [radius, radius, 1], SOOT, 0.42 * left);
      put(frame.ghosts, "disc", place, rotation, [radius * 0.5, radius * 0.5, 1], SOOT, 0.6 * left);
      if (age > GLOWS) continue;
      const hot = 1 - age / GLOWS;
      put(frame.ghosts, "disc", place, rotation, [radius * 0.6, radius * 0.6, 1], EMBER, 0.8 * hot);
      if (age > SPARKS) continue;
      const [head, tail] = [(age / SPARKS) * 26 + 3, (age / SPARKS) * 16];
      for (const spark of sparks) stroke(frame.strokes, add(place, scale(spark, tail)), add(place, scale(spark, head)), SPARK, 0, 1 - age / SPARKS, 2);
    }
  }
}
