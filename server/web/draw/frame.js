/**
 * The content of one frame, as numbers that go to the graphics processor unchanged. One frame is
 * emptied and filled again for each picture, and keeps its memory.
 */

/** How many numbers each attribute of a body has: place, rotation, size, colour, own light. */
export const BODY_LAYOUT = [3, 4, 3, 4, 1];

/**
 * How many numbers each attribute of a stroke has: one end, the other end, colour, opacities of
 * both ends, width.
 */
export const STROKE_LAYOUT = [3, 3, 3, 2, 1];

const sum = (layout) => layout.reduce((a, b) => a + b);
const BODY = sum(BODY_LAYOUT);
const STROKE = sum(STROKE_LAYOUT);

/** Instances that a batch has room for at first. */
const ROOM = 32;

/** A list of instances that grows and is emptied without giving memory back. */
export class Batch {
  /** @param {number} width how many numbers an instance has */
  constructor(width) {
    this.width = width;
    this.numbers = new Float32Array(width * ROOM);
    this.used = 0;
  }

  /** How many instances there are. */
  get count() {
    return this.used / this.width;
  }

  /** Removes all instances. */
  clear() {
    this.used = 0;
  }

  /** Makes room for one more instance and returns the index of its first number. */
  add() {
    const at = this.used;
    this.used += this.width;
    if (this.used > this.numbers.length) {
      const numbers = new Float32Array(this.numbers.length * 2);
      numbers.set(this.numbers);
      this.numbers = numbers;
    }
    return at;
  }
}

/** Everything in a picture except the map. */
export class Frame {
  constructor() {
    /** @type {Map<string, Batch>} instances of each shape */
    this.bodies = new Map();
    /** @type {Map<string, Batch>} transparent instances of each shape */
    this.ghosts = new Map();
    /** @type {Map<string, Batch>} instances that the viewer holds, in front of everything solid */
    this.hands = new Map();
    /** Lines. */
    this.strokes = new Batch(STROKE);
    /** Lines in front of everything. */
    this.veils = new Batch(STROKE);
    /**
     * Horizontal pictures. A picture with `over: true` is drawn in front of everything.
     *
     * @type {{texture: WebGLTexture, area: number[], height: number, over?: boolean}[]}
     */
    this.sheets = [];
  }

  /** Begins another picture. */
  clear() {
    for (const batch of this.bodies.values()) batch.clear();
    for (const batch of this.ghosts.values()) batch.clear();
    for (const batch of this.hands.values()) batch.clear();
    this.strokes.clear();
    this.veils.clear();
    this.sheets.length = 0;
  }
}

/**
 * Adds a body to a frame's `bodies` or `ghosts`.
 *
 * @param {Map<string, Batch>} into
 * @param {string} shape
 * @param {number[]} position units
 * @param {number[]} rotation quaternion, x y z w
 * @param {number[]} size factors along its axes
 * @param {number[]} colour red, green, blue
 * @param {number} [opacity]
 * @param {number} [glow] share of its colour that is its own light
 */
export function put(into, shape, position, rotation, size, colour, opacity = 1, glow = 0) {
  let batch = into.get(shape);
  if (!batch) into.set(shape, (batch = new Batch(BODY)));
  const at = batch.add();
  const { numbers } = batch;
  for (let i = 0; i < 3; i++) {
    numbers[at + i] = position[i];
    numbers[at + 7 + i] = size[i];
    numbers[at + 10 + i] = colour[i];
  }
  for (let i = 0; i < 4; i++) numbers[at + 3 + i] = rotation[i];
  numbers[at + 13] = opacity;
  numbers[at + 14] = glow;
}

/**
 * Adds a line. A line of no length is a dot.
 *
 * @param {Batch} strokes
 * @param {number[]} from units
 * @param {number[]} to units
 * @param {number[]} colour red, green, blue
 * @param {number} begin opacity at its beginning
 * @param {number} end opacity at its end
 * @param {number} width pixels
 */
export function stroke(strokes, from, to, colour, begin, end, width) {
  const at = strokes.add();
  const { numbers } = strokes;
  for (let i = 0; i < 3; i++) {
    numbers[at + i] = from[i];
    numbers[at + 3 + i] = to[i];
    numbers[at + 6 + i] = colour[i];
  }
  numbers[at + 9] = begin;
  numbers[at + 10] = end;
  numbers[at + 11] = width;
}
