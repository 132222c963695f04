/**
 * Draws a frame: the map, the bodies, and what layers lay over them.
 */

import { triangles } from "./mesh.js";
import { ball, pawn, visor } from "./figures.js";
import { SKY } from "./colours.js";
import { Program, Shape } from "./program.js";
import { BODY, BODY_SHADOW, MAP, MAP_SHADOW, PENCIL, SHEET, STROKE } from "./shaders.js";
import { Shadows } from "./shadow.js";

const VERTEX_LAYOUT = [3, 3];
const BODY_LAYOUT = [3, 4, 3, 4, 1];
const STROKE_LAYOUT = [3, 3, 4, 4, 1];
const QUAD = new Float32Array([0, -1, 1, -1, 0, 1, 0, 1, 1, -1, 1, 1]);
const UNIT_QUAD = new Float32Array([0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1]);

/** Pixels of the screen for each of the page's, at most: more is not seen. */
const SHARPEST = 2;

/** Frames a second at which fewer pixels are drawn, and more again. */
const TOO_SLOW = 25;
const FAST_ENOUGH = 50;

/** Share of the pixels along each side that are drawn at least. */
const COARSEST = 0.6;

/**
 * Bodies and strokes of one frame.
 *
 * @typedef {object} Frame
 * @property {Map<string, number[]>} bodies instances of each shape: position,
 *   rotation, scale, colour with opacity, own light
 * @property {Map<string, number[]>} ghosts the same, seen through
 * @property {number[]} strokes from, to, colours of both, width in pixels
 * @property {number[]} veils strokes that nothing hides
 * @property {object[]} sheets `{ texture, area, height }`, and `over: true` if
 *   nothing hides it
 */

/** @returns {Frame} with nothing in it */
export function emptyFrame() {
  return { bodies: new Map(), ghosts: new Map(), strokes: [], veils: [], sheets: [] };
}

/** Adds a body to a frame's `bodies` or `ghosts`. */
export function put(into, shape, position, rotation, size, colour, glow = 0) {
  if (!into.has(shape)) into.set(shape, []);
  const [r, g, b, a = 1] = colour;
  into.get(shape).push(...position, ...rotation, ...size, r, g, b, a, glow);
}

/** Adds a line to a frame's strokes; colours have an opacity. */
export function stroke(strokes, from, to, fromColour, toColour, width) {
  strokes.push(...from, ...to, ...fromColour, ...toColour, width);
}

/** What draws on one canvas. */
export class Renderer {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: false, powerPreference: "high-performance" });
    if (!gl) throw new Error("This browser has no WebGL 2.");
    this.gl = gl;
    this.programs = Object.fromEntries(
      Object.entries({ map: MAP, body: BODY, mapShadow: MAP_SHADOW, bodyShadow: BODY_SHADOW, pencil: PENCIL, stroke: STROKE, sheet: SHEET })
        .map(([name, source]) => [name, new Program(gl, source)]),
    );
    this.shadows = new Shadows(gl);
    /** Share of the pixels along each side that are drawn. */
    this.detail = 1;
    /** Whether shadows are drawn. */
    this.casts = true;
    this.strokes = new Shape(gl, QUAD, [2], STROKE_LAYOUT);
    this.veils = new Shape(gl, QUAD, [2], STROKE_LAYOUT);
    this.sheet = new Shape(gl, UNIT_QUAD, [2]);
    this.map = null;
    this.edges = null;
    this.shapes = new Map();
    this.figures = { pawn: pawn(), visor: visor(), ball: ball() };
  }

  /**
   * Takes over another map and its models.
   *
   * @param {import("../match/scene.js").Scene} scene
   */
  show(scene) {
    const { gl } = this;
    this.map?.delete();
    this.edges?.delete();
    for (const shape of this.shapes.values()) shape.delete();
    this.map = new Shape(gl, triangles(scene.polygons), VERTEX_LAYOUT);
    const shapes = { ...this.figures };
    scene.models.forEach(({ polygons }, number) => (shapes[`model ${number}`] = polygons));
    this.shapes = new Map(
      Object.entries(shapes).map(([name, polygons]) => [name, new Shape(gl, triangles(polygons), VERTEX_LAYOUT, BODY_LAYOUT)]),
    );
    this.edges = new Shape(gl, new Float32Array(scene.edges.flat(2)), [3]);
    this.bounds = scene.bounds;
    this.shadows.shineOn(scene.bounds);
    this.shadows.take(this.shadows.ofMap, () => {
      // Ceilings face down and are left out: the sun shines into rooms.
      gl.enable(gl.CULL_FACE);
      this.programs.mapShadow.use().set("u_view", this.shadows.view);
      this.map.draw();
    });
  }

  /** Pixels drawn for each of the page's. */
  sharpness() {
    return Math.min(devicePixelRatio, SHARPEST) * this.detail;
  }

  /**
   * Draws fewer pixels where the machine is too slow for all, so that what moves
   * still seems to.
   *
   * @param {number} rate frames a second that were reached
   */
  adapt(rate) {
    if (rate < TOO_SLOW) this.detail = Math.max(COARSEST, this.detail * 0.8);
    else if (rate > FAST_ENOUGH) this.detail = Math.min(1, this.detail * 1.1);
  }

  /** Makes the canvas as sharp as the screen. */
  fit() {
    const { canvas } = this;
    const ratio = this.sharpness();
    const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((side) => Math.max(1, Math.round(side * ratio)));
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  }

  /**
   * Draws.
   *
   * @param {Frame} frame
   * @param {{matrix: Float32Array, eye: number[], fog: number}} view
   */
  draw(frame, view) {
    const { gl, programs } = this;
    for (const [name, shape] of this.shapes) shape.fill(frame.bodies.get(name) ?? []);
    if (this.map && this.casts) this.castShadows();
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.clearColor(...SKY, 1);
    gl.depthMask(true);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (!this.map) return;
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    this.light(programs.map, view).set("u_heights", [this.bounds.min[2], this.bounds.max[2]]);
    this.map.draw();
    this.light(programs.body, view);
    for (const shape of this.shapes.values()) shape.draw();
    this.overlay(frame, view);
  }

  castShadows() {
    const { gl } = this;
    this.shadows.take(this.shadows.ofBodies, () => {
      gl.disable(gl.CULL_FACE);
      this.programs.bodyShadow.use().set("u_view", this.shadows.view);
      for (const shape of this.shapes.values()) shape.draw();
    });
  }

  light(program, { matrix, eye, fog }) {
    return program
      .use()
      .set("u_view", matrix)
      .set("u_eye", eye)
      .set("u_fog", fog)
      .set("u_sun", this.shadows.view)
      .set("u_shadows", this.casts ? 1 : 0)
      .sample("u_static_shadow", 0, this.shadows.ofMap.texture)
      .sample("u_moving_shadow", 1, this.shadows.ofBodies.texture);
  }

  /** What is seen through: it hides nothing, and is hidden by what is solid. */
  overlay(frame, view) {
    const { gl, programs } = this;
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    gl.disable(gl.CULL_FACE);
    programs.pencil.use().set("u_view", view.matrix).set("u_nearer", view.nearer);
    this.edges.draw(gl.LINES);
    programs.sheet.use().set("u_view", view.matrix);
    for (const { texture, area, height, over } of frame.sheets) {
      if (over) gl.disable(gl.DEPTH_TEST);
      programs.sheet.set("u_area", area).set("u_height", height).sample("u_picture", 0, texture);
      this.sheet.draw();
      gl.enable(gl.DEPTH_TEST);
    }
    const ratio = this.sharpness();
    const size = [gl.drawingBufferWidth / ratio, gl.drawingBufferHeight / ratio];
    programs.stroke.use().set("u_view", view.matrix).set("u_size", size).set("u_nearer", view.nearer);
    this.strokes.fill(frame.strokes).draw();
    gl.disable(gl.DEPTH_TEST);
    this.veils.fill(frame.veils).draw();
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    this.light(programs.body, view);
    for (const [name, instances] of frame.ghosts) this.shapes.get(name)?.fill(instances).draw();
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  /**
   * A picture of single points, for a sheet.
   *
   * @param {Uint8Array} pixels red, green, blue, opacity
   */
  picture(pixels, width, height, smooth = false) {
    const { gl } = this;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    const filter = smooth ? gl.LINEAR : gl.NEAREST;
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    return texture;
  }
}
