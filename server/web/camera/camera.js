/**
 * Where one looks from: round a point, behind a player, or from above. All
 * three share the point, the heading and the distance, so that changing between
 * them never loses the place.
 */

import { Sight } from "./sight.js";
import { add, dot, lookAt, mix, multiply, orthographic, perspective, project, scale } from "../draw/algebra.js";

const FIELD = Math.PI / 3.4;
const NEAREST = 60;
const STEEPEST = 1.5;

/** Seconds in which the camera goes most of the way to where it should be. */
const EASE = 0.12;

/** Units behind and above a player that one follows. */
const FOLLOW = { distance: 210, pitch: 0.42 };

/** Units that the camera of the third person is higher for each that it is behind. */
const RAISED = 0.24;

/** Units that one who follows keeps from walls, and to whom is followed at least. */
const OFF_WALLS = 6;
const CLOSEST = 40;

/** Share of what is free of the screen that a map fills at first. */
const FILLED = 0.96;

/** Units from where it should be at which the camera is there. */
const THERE = 0.02;

/** Directions in which the outermost points of a map are looked for. */
const AROUND = Array.from({ length: 96 }, (_, i) => {
  // Fibonacci's lattice: evenly spread over a sphere.
  const z = 1 - (2 * i + 1) / 96;
  const [r, angle] = [Math.sqrt(1 - z * z), i * Math.PI * (3 - Math.sqrt(5))];
  return [r * Math.cos(angle), r * Math.sin(angle), z];
});

/** The outermost of some points: all others lie between them, to the eye. */
function outermost(points) {
  const found = AROUND.map((direction) => points.reduce((far, point) => (dot(point, direction) > dot(far, direction) ? point : far)));
  return [...new Set(found)];
}

function cornersOf({ min, max }) {
  return Array.from({ length: 8 }, (_, i) => [0, 1, 2].map((axis) => ((i >> axis) & 1 ? max : min)[axis]));
}

/** @typedef {"orbit" | "follow" | "top"} Mode */

/**
 * What is free of the screen: its middle, from -1 to 1, and its share.
 *
 * @typedef {{x: number, y: number, width: number, height: number}} Free
 */

/** A projection whose middle is that of what is free. */
function shifted(projection, { x, y }) {
  // prettier-ignore
  return multiply([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, 0, 1], projection);
}

function near(a, b) {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) < THERE;
}

/** The camera of one page. */
export class Camera {
  constructor() {
    /** @type {Mode} */
    this.mode = "orbit";
    this.target = [0, 0, 0];
    this.yaw = -0.62;
    this.pitch = 0.86;
    this.distance = 1500;
    this.largest = 8000;
    this.eased = null;
    this.aside = { x: 0, y: 0 };
    this.sight = new Sight([]);
    /** Where one looked at whom one follows. */
    this.last = null;
    this.followed = { distance: FOLLOW.distance, pitch: FOLLOW.pitch, turn: 0 };
  }

  /**
   * Looks at all of a map.
   *
   * @param {{min: number[], max: number[]}} bounds
   * @param {number[][][]} [polygons] of it
   */
  frame({ min, max }, polygons = []) {
    this.sight = new Sight(polygons);
    this.outline = outermost(polygons.length > 0 ? polygons.flat() : cornersOf({ min, max }));
    const size = max.map((value, axis) => value - min[axis]);
    this.target = [0, 1, 2].map((axis) => (min[axis] + max[axis]) / 2);
    this.extent = Math.hypot(size[0], size[1]);
    this.bounds = { min, max };
    this.largest = this.extent * 3;
    this.distance = this.extent;
    /** Whether all of it is to be seen, until one comes nearer. */
    this.fit = true;
    this.fitted = null;
    /** Where on the screen the point is that one looks at, beside the middle. */
    this.aside = { x: 0, y: 0 };
    this.eased = null;
    this.last = null;
  }

  /** Changes how one looks; following needs somebody to follow. */
  look(mode) {
    this.mode = mode;
  }

  /** Turns by these angles. */
  turn(yaw, pitch) {
    if (this.mode === "follow") {
      this.followed.turn += yaw;
      this.followed.pitch = Math.min(Math.max(this.followed.pitch + pitch, -0.2), STEEPEST);
      return;
    }
    this.yaw += yaw;
    this.pitch = Math.min(Math.max(this.pitch + pitch, 0.08), STEEPEST);
  }

  /** Comes nearer or goes farther by a factor. */
  zoom(factor) {
    const held = this.mode === "follow" ? this.followed : this;
    this.fit = false;
    held.distance = Math.min(Math.max(held.distance * factor, NEAREST), this.largest);
  }

  /** Moves over the ground: to the right and upward, in parts of the screen's height. */
  pan(right, up) {
    if (this.mode === "follow") return;
    this.fit = false;
    const reach = this.distance * 2 * Math.tan(FIELD / 2);
    const heading = this.mode === "top" ? Math.PI / 2 : this.yaw + Math.PI;
    const ahead = [Math.cos(heading), Math.sin(heading), 0];
    const side = [ahead[1], -ahead[0], 0];
    this.target = add(this.target, add(scale(side, right * reach), scale(ahead, up * reach)));
  }

  /**
   * The view now.
   *
   * @param {number} aspect of the screen, width over height
   * @param {number} passed seconds since the last call
   * @param {?import("../match/motion.js").Shown} followed whom one follows
   * @param {Free} free what panels leave free of the screen
   * @returns {{matrix: Float32Array, eye: number[], fog: number, nearer: number}}
   */
  view(aspect, passed, followed, free) {
    if (this.fit && this.bounds && this.mode === "orbit") this.fitInto(aspect, free);
    // Whoever followed somebody sees all of the map from above, and not what is around them.
    if (this.fit && this.bounds && this.mode === "top") this.target = [0, 1, 2].map((axis) => (this.bounds.min[axis] + this.bounds.max[axis]) / 2);
    const wanted = this.place(followed);
    const part = 1 - Math.exp(-passed / EASE);
    this.eased = this.eased
      ? { target: mix(this.eased.target, wanted.target, part), eye: mix(this.eased.eye, wanted.eye, part) }
      : wanted;
    // Arrived is arrived: a picture of what stands still need not be drawn anew.
    if (near(this.eased.target, wanted.target) && near(this.eased.eye, wanted.eye)) this.eased = wanted;
    const { target, eye } = this.eased;
    if (this.mode === "top") return this.above(aspect, target, free);
    const far = this.largest * 2;
    const close = this.mode === "follow" ? 8 : 16;
    const at = this.mode === "orbit" ? { x: free.x + this.aside.x, y: free.y + this.aside.y } : free;
    const matrix = multiply(shifted(perspective(FIELD, aspect, close, far), at), lookAt(eye, target, [0, 0, 1]));
    const fog = this.mode === "follow" ? 1 / 2600 : 1 / (this.largest * 1.1);
    return { matrix, eye, fog, nearer: 0.00003 * (this.mode === "follow" ? 4 : 10) };
  }

  /**
   * The view of a player.
   *
   * @param {{eye: number[], ahead: number[], behind: number, field: number}} from the eyes,
   *   the direction they look in, how far behind them the camera is, in units, and the field
   *   of view upright, in radians
   * @param {number} aspect of the screen
   * @returns {{matrix: Float32Array, eye: number[], away: number, fog: number, nearer: number}}
   *   `away`: units from the eyes
   */
  through({ eye, ahead, behind, field }, aspect) {
    // A little above, so that the own body is below what one aims at.
    const back = add(scale(ahead, -1), [0, 0, RAISED]);
    const free = behind > 0 ? this.sight.reach(eye, add(eye, scale(back, behind + OFF_WALLS))) : 0;
    const away = Math.max(0, free * (behind + OFF_WALLS) - OFF_WALLS);
    const from = add(eye, scale(back, away));
    // A player who stops playing looks on from there.
    [this.target, this.eased] = [eye, null];
    const matrix = multiply(perspective(field, aspect, 2, this.largest * 2), lookAt(from, add(from, ahead), [0, 0, 1]));
    return { matrix, eye: from, away, fog: 1 / 2600, nearer: 0.00012 };
  }

  /** Goes to the least distance from which the whole map is seen in what is free. */
  fitInto(aspect, free) {
    const key = [aspect, free.x, free.y, free.width, free.height, this.yaw, this.pitch].join();
    if (this.fitted === key) return;
    this.fitted = key;
    let [near, far] = [0, this.largest];
    for (let step = 0; step < 16; step++) {
      const middle = (near + far) / 2;
      const { width, height } = this.extentAt(middle, aspect);
      if (width < free.width * 2 * FILLED && height < free.height * 2 * FILLED) far = middle;
      else near = middle;
    }
    const { x, y } = this.extentAt(far, aspect);
    this.distance = far;
    this.aside = { x: -x, y: -y };
  }

  /** How much of the screen the map takes from a distance, and where its middle is. */
  extentAt(distance, aspect) {
    const eye = add(this.target, scale(this.away(), distance));
    const matrix = multiply(perspective(FIELD, aspect, 1, this.largest * 4), lookAt(eye, this.target, [0, 0, 1]));
    const seen = this.outline.map((point) => project(matrix, point));
    if (seen.includes(null)) return { width: Infinity, height: Infinity, x: 0, y: 0 };
    const range = (axis) => [Math.min(...seen.map((at) => at[axis])), Math.max(...seen.map((at) => at[axis]))];
    const [[left, right], [low, high]] = [range(0), range(1)];
    return { width: right - left, height: high - low, x: (left + right) / 2, y: (low + high) / 2 };
  }

  /** The direction from what one looks at to the eye. */
  away() {
    return [Math.cos(this.yaw) * Math.cos(this.pitch), Math.sin(this.yaw) * Math.cos(this.pitch), Math.sin(this.pitch)];
  }

  place(followed) {
    if (this.mode === "follow" && followed) {
      const { distance, pitch, turn } = this.followed;
      const [x, y, z, w] = followed.rotation;
      const heading = Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) + turn;
      const back = [-Math.cos(heading) * Math.cos(pitch), -Math.sin(heading) * Math.cos(pitch), Math.sin(pitch)];
      const target = add(followed.position, [0, 0, 26]);
      // Where one goes on from when one stops following.
      [this.target, this.yaw] = [followed.position, heading + Math.PI];
      const free = this.sight.reach(target, add(target, scale(back, distance + OFF_WALLS)));
      const away = Math.max(free * (distance + OFF_WALLS) - OFF_WALLS, Math.min(CLOSEST, distance));
      this.last = { target, eye: add(target, scale(back, away)) };
      return this.last;
    }
    // After a death the camera waits where the player was.
    if (this.mode === "follow" && this.last) return this.last;
    return { target: this.target, eye: add(this.target, scale(this.away(), this.distance)) };
  }

  above(aspect, target, free) {
    let height = this.distance * 2 * Math.tan(FIELD / 2);
    // At first all of the map is to be seen, whatever the screen's shape.
    if (this.fit && this.bounds) {
      const [x, y] = [0, 1].map((axis) => this.bounds.max[axis] - this.bounds.min[axis]);
      height = Math.max(y / free.height, x / (aspect * free.width)) * 1.06;
      this.distance = height / 2 / Math.tan(FIELD / 2);
      // From aside another one fits.
      this.fitted = null;
    }
    const eye = add(target, [0, 0, 6000]);
    const matrix = multiply(shifted(orthographic(height * aspect, height, 1, 14000), free), lookAt(eye, target, [0, 1, 0]));
    return { matrix, eye, fog: 0, nearer: 0.0002 };
  }
}
