/**
 * Draws a frame: the map, the bodies, and the layers over them.
 *
 * The map is drawn when the camera moves, and then kept (ground.js). Each frame copies it and draws
 * the moving bodies, with one call for all bodies of a shape.
 */

import { LOOKS } from "../match/liquids.js";
import { inverse, multiply } from "./algebra.js";
import { SKY } from "./colours.js";
import { ball, disc, forearm, parts, pawn, weapons } from "./figures.js";
import { BODY_LAYOUT, STROKE_LAYOUT } from "./frame.js";
import { Ground } from "./ground.js";
import { LIQUID_LAYOUT, liquidTriangles, MAP_LAYOUT, mapTriangles, triangles } from "./mesh.js";
import { Program, Shape } from "./program.js";
import { BODY, BODY_SHADOW, GHOST, GROUND, LIQUID, MAP, MAP_SHADOW, PENCIL, PLAIN_MAP, SHEET, STROKE, TINT } from "./shaders.js";
import { Shadows } from "./shadow.js";

const VERTEX_LAYOUT = [3, 3];
const QUAD = new Float32Array([0, -1, 1, -1, 0, 1, 0, 1, 1, -1, 1, 1]);
const UNIT_QUAD = new Float32Array([0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1]);
const SOURCES = {
  map: MAP,
  ground: GROUND,
  body: BODY,
  ghost: GHOST,
  mapShadow: MAP_SHADOW,
  bodyShadow: BODY_SHADOW,
  pencil: PENCIL,
  stroke: STROKE,
  sheet: SHEET,
  liquid: LIQUID,
  tint: TINT,
};

/**
 * Maximum number of pixels that are drawn for each pixel of the page, along a side. More cannot be
 * seen.
 */
const SHARPEST = 2;

/** Share of the depths that is kept for the things that the viewer holds. */
const HELD = 0.05;

/** Least of the depths that are kept for things beyond everything else. */
const BEYOND = 0.999;

/**
 * @typedef {object} Seen how the match is seen
 * @property {Float32Array} matrix
 * @property {number[]} eye
 * @property {number} fog how thick the haze is: the reciprocal of units
 * @property {number[]} [sky] the colour of what is far away
 * @property {boolean} [isInside] whether the eye is inside the map
 * @property {number} nearer how much nearer lines are drawn than the faces on which they lie
 * @property {Seen} [beyond] what is seen where this view shows nothing
 * @property {?string} [liquid] the liquid in which the eye is
 * @property {number} [now] seconds, for ripples
 */

/** Names of renderers without a graphics processor. */
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** Whether the main processor has to draw, because the machine has no graphics processor. */
function drawsInSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const names = gl?.getExtension("WEBGL_debug_renderer_info");
  const renderer = gl?.getParameter(names?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER) ?? "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return SOFTWARE.test(renderer);
}

/** The renderer of one canvas. */
export class Renderer {
  /**
   * @param {HTMLCanvasElement} canvas
   * @throws {Error} if the browser has no WebGL 2
   */
  constructor(canvas) {
    this.canvas = canvas;
    /** Whether the main processor draws. Then edges are not smoothed. */
    this.software = drawsInSoftware();
    const wanted = { antialias: !this.software, alpha: false, stencil: this.software, powerPreference: "high-performance" };
    const gl = canvas.getContext("webgl2", wanted);
    if (!gl) throw new Error("This browser has no WebGL 2.");
    this.gl = gl;
    const sources = this.software ? { ...SOURCES, map: PLAIN_MAP } : SOURCES;
    this.programs = Object.fromEntries(Object.entries(sources).map(([name, source]) => [name, new Program(gl, source)]));
    this.shadows = new Shadows(gl);
    // An empty picture casts no shadows.
    this.shadows.take(this.shadows.ofBodies, () => {});
    this.ground = new Ground(gl, !this.software);
    /** Share of the pixels along each side that are drawn. */
    this.detail = 1;
    /** Whether shadows are drawn. */
    this.casts = true;
    this.strokes = new Shape(gl, QUAD, [2], STROKE_LAYOUT);
    this.veils = new Shape(gl, QUAD, [2], STROKE_LAYOUT);
    this.sheet = new Shape(gl, UNIT_QUAD, [2]);
    this.screen = new Shape(gl, new Float32Array(9), [3]);
    this.map = null;
    this.edges = null;
    this.liquids = null;
    this.shapes = new Map();
    this.figures = { pawn: pawn(), ...parts(), ball: ball(), disc: disc(), forearm: forearm() };
    weapons().forEach(({ metal, light }, number) => Object.assign(this.figures, { [`weapon ${number}`]: metal, [`light ${number}`]: light }));
  }

  /**
   * Prepares another map and its models for drawing.
   *
   * @param {import("../match/scene.js").Scene} scene
   */
  show(scene) {
    const { gl } = this;
    this.map?.delete();
    this.edges?.delete();
    this.liquids?.delete();
    for (const shape of this.shapes.values()) shape.delete();
    const { vertices, indices, solid } = mapTriangles(scene);
    this.solid = solid;
    this.map = new Shape(gl, vertices, MAP_LAYOUT, [], indices);
    const shapes = { ...this.figures };
    scene.models.forEach(({ polygons }, number) => (shapes[`model ${number}`] = polygons));
    this.shapes = new Map(
      Object.entries(shapes).map(([name, polygons]) => [name, new Shape(gl, triangles(polygons), VERTEX_LAYOUT, BODY_LAYOUT)]),
    );
    this.edges = new Shape(gl, new Float32Array(scene.edges.flat(2)), [3]);
    const surfaces = liquidTriangles(scene.liquids);
    this.liquids = surfaces.length > 0 ? new Shape(gl, surfaces, LIQUID_LAYOUT) : null;
    this.bounds = scene.bounds;
    this.ground.forget();
    this.shadows.shineOn(scene.bounds);
    this.shadows.take(this.shadows.ofMap, () => {
      // Ceilings face down and are left out, so that the sun shines into rooms.
      gl.enable(gl.CULL_FACE);
      this.programs.mapShadow.use().set("u_view", this.shadows.view);
      this.map.draw(gl.TRIANGLES, solid);
    });
  }

  /** Pixels that are drawn for each pixel of the page. */
  sharpness() {
    return Math.min(devicePixelRatio, SHARPEST) * this.detail;
  }

  /** Gives the canvas as many pixels as the screen has, or fewer if drawing takes too long. */
  fit() {
    const { canvas } = this;
    const ratio = this.sharpness();
    const width = Math.max(1, Math.round(this.clientWidth * ratio));
    const height = Math.max(1, Math.round(this.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  }

  /**
   * Reads the size of the canvas on the page. Reading it in each frame would make the browser lay
   * out the page each time.
   */
  measure() {
    [this.clientWidth, this.clientHeight] = [this.canvas.clientWidth, this.canvas.clientHeight];
  }

  /**
   * Draws a frame.
   *
   * @param {import("./frame.js").Frame} frame
   * @param {Seen} view
   */
  draw(frame, view) {
    const { gl } = this;
    gl.disable(gl.BLEND);
    gl.depthMask(true);
    if (!this.map) {
      gl.clearColor(...SKY, 1);
      gl.clear(gl.COLOR_BUFFER_BIT);
      return;
    }
    const [width, height] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
    for (const [name, shape] of this.shapes) shape.fill(frame.bodies.get(name));
    // Moving bodies cast shadows only where a graphics processor draws them.
    const moving = this.casts && !this.software;
    if (moving) this.castShadows();
    gl.viewport(0, 0, width, height);
    if (this.ground.isStale(view.matrix, width, height, this.casts)) {
      this.ground.take(width, height, () => this.drawMap(view));
    }
    if (!this.software || this.ground.copies === false || !this.ground.copy()) this.drawGround(view, width, height, moving);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    this.drawBodies(view);
    if (view.beyond) this.beyond(() => this.drawBodies(view.beyond));
    // The things that the viewer holds are nearer than any wall.
    gl.depthRange(0, HELD);
    for (const [name, instances] of frame.hands) this.shapes.get(name)?.fill(instances).draw();
    gl.depthRange(0, 1);
    this.overlay(frame, view);
  }

  castShadows() {
    const { gl } = this;
    this.shadows.take(this.shadows.ofBodies, () => {
      // Faces turned away from the sun are left out: they cast the same shadow as the faces turned
      // to it.
      gl.enable(gl.CULL_FACE);
      this.programs.bodyShadow.use().set("u_view", this.shadows.view);
      for (const shape of this.shapes.values()) shape.draw();
    });
  }

  light(program, { matrix, eye, fog, sky = SKY }) {
    return program
      .use()
      .set("u_view", matrix)
      .set("u_eye", eye)
      .set("u_fog", fog)
      .set("u_sky", sky)
      .set("u_sun", this.shadows.view)
      .set("u_shadows", this.casts ? 1 : 0)
      .sample("u_static_shadow", 0, this.shadows.ofMap.texture);
  }

  /** Draws bodies that hide what is behind them. */
  drawBodies(view) {
    this.light(this.programs.body, view).sample("u_moving_shadow", 1, this.shadows.ofBodies.texture);
    for (const shape of this.shapes.values()) shape.draw();
  }

  /** Draws something where nothing else is. */
  beyond(draw) {
    const { gl } = this;
    gl.depthRange(BEYOND, 1);
    draw();
    gl.depthRange(0, 1);
  }

  /** Draws everything that never moves. */
  drawMap(view) {
    const { gl } = this;
    gl.clearColor(...(view.sky ?? SKY), 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.drawSolids(view);
    if (!view.beyond) return;
    // No shadows of bodies fall beyond: the alpha channel stays as it is.
    gl.colorMask(true, true, true, false);
    this.beyond(() => this.drawSolids(view.beyond));
    gl.colorMask(true, true, true, true);
  }

  drawSolids(view) {
    const { gl, programs } = this;
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    this.light(programs.map, view);
    // Steep faces are moved back more than flat ones, so that no line on an edge becomes dashes.
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1, 1);
    // From outside, a sky would only hide the map.
    this.map.draw(gl.TRIANGLES, view.isInside ? this.map.count : this.solid);
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.enable(gl.BLEND);
    // The alpha channel holds the sun's share. Later drawing must not change it.
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ZERO, gl.ONE);
    gl.depthMask(false);
    programs.pencil.use().set("u_view", view.matrix).set("u_nearer", view.nearer);
    this.edges.draw(gl.LINES);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  /** Draws the kept picture of the map, with its depth and the shadows of moving bodies. */
  drawGround({ matrix }, width, height, moving) {
    const { gl, ground, shadows } = this;
    gl.disable(gl.CULL_FACE);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.ALWAYS);
    this.programs.ground
      .use()
      .sample("u_colour", 0, ground.colour)
      .sample("u_moving_shadow", 1, shadows.ofBodies.texture)
      .sample("u_depth", 2, ground.depth)
      .set("u_size", [width, height])
      .set("u_shadows", moving ? 1 : 0);
    if (moving) this.programs.ground.set("u_to_sun", multiply(shadows.view, inverse(matrix)));
    this.screen.draw();
    gl.depthFunc(gl.LESS);
  }

  /** Draws transparent things. They hide nothing, and solid things hide them. */
  overlay(frame, view) {
    const { gl, programs } = this;
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    programs.ghost.use().set("u_view", view.matrix);
    for (const [name, instances] of frame.ghosts) this.shapes.get(name)?.fill(instances).draw();
    gl.disable(gl.CULL_FACE);
    if (this.liquids) {
      programs.liquid.use().set("u_view", view.matrix).set("u_eye", view.eye).set("u_time", (view.now ?? 0) % 1000);
      this.liquids.draw();
    }
    if (frame.sheets.length > 0) programs.sheet.use().set("u_view", view.matrix);
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
    if (view.liquid) {
      const { colour, tint } = LOOKS[view.liquid];
      programs.tint.use().set("u_colour", [...colour, tint]);
      this.screen.draw();
    }
    gl.enable(gl.DEPTH_TEST);
  }

  /**
   * Makes a texture for a sheet.
   *
   * @param {Uint8Array} pixels red, green, blue, opacity
   */
  picture(pixels, width, height, smooth = false) {
    const { gl } = this;
    const texture = gl.createTexture();
    gl.activeTexture(gl.TEXTURE0);
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
