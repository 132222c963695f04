/**
 * The camera: it orbits a point, follows a player, or looks down from above. All three views share
 * the point, the heading and the distance, so a change of view never loses the place.
 */

import { DAY, SKY } from "../draw/colours.js";
import { Sight } from "./sight.js";
import { add, dot, lookAt, mix, multiply, orthographic, perspective, project, scale } from "../draw/algebra.js";

const FIELD = Math.PI / 3.4;
const NEAREST = 60;
const STEEPEST = 1.5;

/** Seconds in which the camera goes most of the way to its destination. */
const EASE = 0.12;

/** Distance from the followed player, in units, and the angle from above, in radians. */
const FOLLOW = { distance: 210, pitch: 0.42 };

/** Distance from a player's middle or eyes, in units, below which the body would cover the picture. */
export const COVERS = 70;

/** Distance from the eye at which the picture begins where walls are near, in units. */
const CLOSE = 2;

/** Offsets of the ways on which the camera that follows looks for walls, in units. */
const BESIDE = [[0, 0, 0], [4, 0, 0], [-4, 0, 0], [0, 4, 0], [0, -4, 0], [0, 0, 4], [0, 0, -4]];

/** Units by which the third-person camera rises for each unit that it is behind. */
const RAISED = 0.24;

/** The vertical field of view of a camera of the map, in radians: across 4:3 it is Quake's 90 degrees. */
const OF_MAP = 2 * Math.atan(0.75);

/** Units that the camera keeps from walls, and least distance to the followed player. */
const OFF_WALLS = 6;
const CLOSEST = 40;

/** Units over the middle of a followed player at which the view from above cuts the map open. */
const OVERHEAD = 48;

/** Units to which the height of that cut is rounded, so that the picture of the map is kept. */
const CUT_STEP = 16;

/**
 * Units over the middle of the view from which the map is seen where the cut shows nothing, and the
 * haze on the way: the reciprocal of units.
 */
const ABOVE_ALL = 6000;
const HAZE_ABOVE = 0.85 / ABOVE_ALL;

/** How thick the haze is for an eye inside the map: the reciprocal of units. */
const HAZE = 1 / 4200;

/** Share of the free part of the screen that a map fills at first. */
const FILLED = 0.96;

/** Units from its destination within which the camera counts as arrived. */
const THERE = 0.02;

/** Directions in which the outermost points of a map are sought. */
const AROUND = Array.from({ length: 96 }, (_, i) => {
  // A Fibonacci lattice: points spread evenly over a sphere.
  const z = 1 - (2 * i + 1) / 96;
  const [r, angle] = [Math.sqrt(1 - z * z), i * Math.PI * (3 - Math.sqrt(5))];
  return [r * Math.cos(angle), r * Math.sin(angle), z];
});

/** The outermost of some points. All other points lie between these, or very little outside. */
function outermost(points) {
  const found = AROUND.map((direction) => points.reduce((far, point) => (dot(point, direction) > dot(far, direction) ? point : far)));
  return [...new Set(found)];
}

function cornersOf({ min, max }) {
  return Array.from({ length: 8 }, (_, i) => [0, 1, 2].map((axis) => ((i >> axis) & 1 ? max : min)[axis]));
}

/** @typedef {"orbit" | "follow" | "top"} Mode */

/**
 * The part of the screen that panels leave free: its middle, from -1 to 1, and its share of the
 * screen.
 *
 * @typedef {{x: number, y: number, width: number, height: number}} Free
 */

/** A projection whose middle is in the middle of the free part of the screen. */
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
    /** The height at which the viewer cuts the map open from above, in units; null for none. */
    this.cut = null;
    /** The last target and eye of the view that follows. */
    this.last = null;
    this.followed = { distance: FOLLOW.distance, pitch: FOLLOW.pitch, turn: 0 };
    /** Whether the viewer has chosen or moved the view. */
    this.isChosen = false;
  }

  /**
   * Shows a whole map.
   *
   * @param {{min: number[], max: number[]}} bounds
   * @param {number[][][]} [polygons] of the map
   * @param {number[][][]} [solid] the polygons without the sky, which need not be in view
   */
  frame({ min, max }, polygons = [], solid = polygons) {
    this.sight = new Sight(polygons, solid);
    this.outline = outermost(solid.length > 0 ? solid.flat() : cornersOf({ min, max }));
    const size = max.map((value, axis) => value - min[axis]);
    this.target = [0, 1, 2].map((axis) => (min[axis] + max[axis]) / 2);
    this.extent = Math.hypot(size[0], size[1]);
    this.bounds = { min, max };
    this.cut = null;
    this.largest = this.extent * 3;
    this.distance = this.extent;
    /** Whether the whole map has to be in view, until the viewer zooms or moves. */
    this.fit = true;
    this.fitted = null;
    /**
     * Offset on the screen of the point that the camera looks at, from the middle of the free part.
     */
    this.aside = { x: 0, y: 0 };
    this.eased = null;
    this.last = null;
  }

  /** Changes the view. The view that follows needs a player. */
  look(mode) {
    this.isChosen = true;
    this.mode = mode;
  }

  /** Turns the camera by these angles, in radians. */
  turn(yaw, pitch) {
    this.isChosen = true;
    if (this.mode === "follow") {
      this.followed.turn += yaw;
      this.followed.pitch = Math.min(Math.max(this.followed.pitch + pitch, -0.2), STEEPEST);
      return;
    }
    this.yaw += yaw;
    this.pitch = Math.min(Math.max(this.pitch + pitch, 0.08), STEEPEST);
  }

  /** Multiplies the distance of the camera by a factor. */
  zoom(factor) {
    const held = this.mode === "follow" ? this.followed : this;
    [this.fit, this.isChosen] = [false, true];
    held.distance = Math.min(Math.max(held.distance * factor, NEAREST), this.largest);
  }

  /** Moves the camera over the ground: to the right and upward, in parts of the screen's height. */
  pan(right, up) {
    if (this.mode === "follow") return;
    [this.fit, this.isChosen] = [false, true];
    const reach = this.distance * 2 * Math.tan(FIELD / 2);
    const heading = this.mode === "top" ? Math.PI / 2 : this.yaw + Math.PI;
    const ahead = [Math.cos(heading), Math.sin(heading), 0];
    const side = [ahead[1], -ahead[0], 0];
    this.target = add(this.target, add(scale(side, right * reach), scale(ahead, up * reach)));
  }

  /** Raises or lowers the cut through the map in the view from above, by units. */
  moveCut(up) {
    if (this.mode !== "top" || !this.bounds) return;
    const [low, high] = [this.bounds.min[2] + CUT_STEP, this.bounds.max[2] + CUT_STEP];
    const moved = Math.max(low, (this.cut ?? high) + up);
    this.cut = moved >= high ? null : moved;
  }

  /** The height above which the view from above shows nothing, so that no storey hides a lower one. */
  ceiling(followed) {
    const height = this.cut ?? (followed ? followed.position[2] + OVERHEAD : Infinity);
    return Math.ceil(height / CUT_STEP) * CUT_STEP;
  }

  /**
   * Advances the camera and returns the view of this frame.
   *
   * @param {number} aspect of the screen, width over height
   * @param {number} passed seconds since the last call
   * @param {?import("../match/motion.js").Shown} followed the player that is followed
   * @param {Free} free the part of the screen that panels leave free
   * @returns {import("../draw/renderer.js").Seen}
   */
  view(aspect, passed, followed, free) {
    if (this.fit && this.bounds && this.mode === "orbit") this.fitInto(aspect, free);
    // After following a player, the view from above shows the whole map and not that player's
    // surroundings.
    if (this.fit && this.bounds && this.mode === "top") this.target = [0, 1, 2].map((axis) => (this.bounds.min[axis] + this.bounds.max[axis]) / 2);
    const wanted = this.place(followed);
    const part = 1 - Math.exp(-passed / EASE);
    this.eased = this.eased
      ? { target: mix(this.eased.target, wanted.target, part), eye: mix(this.eased.eye, wanted.eye, part) }
      : wanted;
    // A camera that has arrived stays exactly there, so the picture of the map need not be drawn
    // again.
    if (near(this.eased.target, wanted.target) && near(this.eased.eye, wanted.eye)) this.eased = wanted;
    const { target } = this.eased;
    const eye = this.mode === "follow" ? this.before(target, this.eased.eye) : this.eased.eye;
    if (this.mode === "top") return this.above(aspect, target, free, this.ceiling(followed));
    const far = this.largest * 2;
    const close = this.mode === "follow" ? CLOSE : 16;
    const at = this.mode === "orbit" ? { x: free.x + this.aside.x, y: free.y + this.aside.y } : free;
    const matrix = multiply(shifted(perspective(FIELD, aspect, close, far), at), lookAt(eye, target, [0, 0, 1]));
    const follows = this.mode === "follow";
    const fog = follows ? HAZE : 1 / (this.largest * 1.1);
    return { matrix, eye, fog, sky: follows ? DAY : SKY, isInside: follows, nearer: 0.00003 * (follows ? 4 : 10) };
  }

  /**
   * Whether the body of the followed player would cover the picture: a wall keeps the camera near.
   *
   * @param {?import("../match/motion.js").Shown} followed
   * @param {number[]} eye
   */
  isCovered(followed, eye) {
    if (this.mode !== "follow" || !followed || followed.model !== null) return false;
    return Math.hypot(...eye.map((value, axis) => value - followed.position[axis])) < COVERS;
  }

  /**
   * The place of an eye, moved nearer to its target if a wall is in the way. Walls beside the way
   * also count: the picture begins a little before the eye, and would cut a hole into them.
   */
  before(target, eye) {
    const length = Math.hypot(...eye.map((value, axis) => value - target[axis]));
    const free = Math.min(...BESIDE.map((aside) => this.sight.reach(add(target, aside), add(eye, aside))));
    return free === 1 ? eye : mix(target, eye, Math.max(0, free - OFF_WALLS / length));
  }

  /**
   * The view of a player.
   *
   * @param {{eye: number[], ahead: number[], behind: number, field: number}} from the eyes,
   *   the direction they look in, how far behind them the camera is, in units, and the vertical
   *   field of view, in radians
   * @param {number} aspect of the screen
   * @returns {import("../draw/renderer.js").Seen & {away: number}} `away`: units from the eyes
   */
  through({ eye, ahead, behind, field }, aspect) {
    // The camera is a little higher than the eyes, so that the player's body is below the target.
    const back = add(scale(ahead, -1), [0, 0, RAISED]);
    const free = behind > 0 ? this.sight.reach(eye, add(eye, scale(back, behind + OFF_WALLS))) : 0;
    const away = Math.max(0, free * (behind + OFF_WALLS) - OFF_WALLS);
    const from = add(eye, scale(back, away));
    // A player who stops playing goes on watching from the eyes' place.
    [this.target, this.eased] = [eye, null];
    const matrix = multiply(perspective(field, aspect, CLOSE, this.largest * 2), lookAt(from, add(from, ahead), [0, 0, 1]));
    return { matrix, eye: from, away, fog: HAZE, sky: DAY, isInside: true, nearer: 0.00012 };
  }

  /**
   * The view of a camera of the map, which nobody moves. The other views stay as they are.
   *
   * @param {import("./intermission.js").Intermission} camera
   * @param {number} aspect
   * @returns {import("../draw/renderer.js").Seen & {away: number}} `away` is infinite
   */
  from({ eye, ahead, up }, aspect) {
    const matrix = multiply(perspective(OF_MAP, aspect, CLOSE, this.largest * 2), lookAt(eye, add(eye, ahead), up));
    return { matrix, eye, away: Infinity, fog: HAZE, sky: DAY, isInside: true, nearer: 0.00012 };
  }

  /**
   * Moves the camera to the smallest distance from which the whole map fits into the free part of
   * the screen.
   */
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

  /** The size and the middle of the map on the screen, as seen from a distance. */
  extentAt(distance, aspect) {
    const eye = add(this.target, scale(this.away(), distance));
    const matrix = multiply(perspective(FIELD, aspect, 1, this.largest * 4), lookAt(eye, this.target, [0, 0, 1]));
    const seen = this.outline.map((point) => project(matrix, point));
    if (seen.includes(null)) return { width: Infinity, height: Infinity, x: 0, y: 0 };
    const range = (axis) => [Math.min(...seen.map((at) => at[axis])), Math.max(...seen.map((at) => at[axis]))];
    const [[left, right], [low, high]] = [range(0), range(1)];
    return { width: right - left, height: high - low, x: (left + right) / 2, y: (low + high) / 2 };
  }

  /** The direction from the target to the eye. */
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
      // The other views begin here when following ends.
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

  above(aspect, target, free, ceiling) {
    let height = this.distance * 2 * Math.tan(FIELD / 2);
    // At first the whole map has to be in view, whatever the shape of the screen.
    if (this.fit && this.bounds) {
      const [x, y] = [0, 1].map((axis) => this.bounds.max[axis] - this.bounds.min[axis]);
      height = Math.max(y / free.height, x / (aspect * free.width)) * 1.06;
      this.distance = height / 2 / Math.tan(FIELD / 2);
      // Forces the orbit view to fit the map again.
      this.fitted = null;
    }
    const from = (up) => {
      const eye = [target[0], target[1], up];
      const matrix = multiply(shifted(orthographic(height * aspect, height, 0, 14000), free), lookAt(eye, add(eye, [0, 0, -1]), [0, 1, 0]));
      return { matrix, eye, fog: 0, sky: SKY, nearer: 0.0002 };
    };
    const over = target[2] + ABOVE_ALL;
    // The picture begins at the camera, so a camera at the height of the cut sees what is below it.
    if (ceiling < over) return { ...from(ceiling), beyond: { ...from(over), fog: HAZE_ABOVE } };
    return from(over);
  }
}
