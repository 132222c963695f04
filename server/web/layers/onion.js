/**
 * The sizes of the onion: a horizontal cut through the tree. The places without room for a size
 * form a ring around the solid parts. Larger sizes have wider rings.
 */

/**
 * Colours of the rings, by the number of sizes without room: the first is for places that lack room
 * only for the largest size.
 */
const RINGS = [
  [0.3, 0.75, 1],
  [0.45, 0.95, 0.6],
  [1, 0.82, 0.3],
  [1, 0.45, 0.4],
];

/** Opacity of a ring. */
const OPACITY = 165;

function ringColour(solid) {
  return RINGS[Math.min(solid, RINGS.length) - 1];
}

/** The names of the rings, for the legend. */
export function onionLegend({ sizes }) {
  const largestFirst = [...sizes].sort((a, b) => Math.hypot(...b.half_extents) - Math.hypot(...a.half_extents));
  // A place where not even the smallest size has room is wall.
  return largestFirst.slice(0, -1).map(({ name }, i) => ({ colour: ringColour(i + 1), label: `no room for ${name}` }));
}

/** Adds the layer of the cut to frames. */
export class Onion {
  constructor(renderer) {
    this.renderer = renderer;
    this.of = null;
    this.texture = null;
  }

  /**
   * @param {import("../draw/renderer.js").Frame} frame
   * @param {?object} cut of `/onion`
   */
  add(frame, cut) {
    if (!cut) return;
    const [width, height] = [cut.rows[0].length, cut.rows.length];
    if (this.of !== cut) {
      this.of = cut;
      if (this.texture) this.renderer.gl.deleteTexture(this.texture);
      this.texture = this.renderer.picture(this.pixels(cut), width, height);
    }
    const end = [cut.origin[0] + width * cut.spacing, cut.origin[1] + height * cut.spacing];
    frame.sheets.push({ texture: this.texture, area: [...cut.origin, ...end], height: cut.height });
  }

  pixels({ rows, sizes }) {
    const pixels = new Uint8Array(rows.length * rows[0].length * 4);
    [...rows.join("")].forEach((digit, i) => {
      const solid = parseInt(digit, 36);
      // A place without room for any size is wall, which the map itself shows.
      if (solid === 0 || solid === sizes.length) return;
      pixels.set([...ringColour(solid).map((value) => value * 255), OPACITY], i * 4);
    });
    return pixels;
  }
}
