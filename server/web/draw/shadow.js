/**
 * Shadow maps of the sun: one of the map, drawn once, and one of the moving bodies, drawn every
 * frame.
 */

import { cross, dot, lookAt, multiply, normalise, orthographic } from "./algebra.js";
import { SUN } from "./colours.js";

const MAP_SIDE = 2048;
const MOVING_SIDE = 1024;

/** The sun's view of a box. */
function sunView({ min, max }) {
  const back = normalise(SUN);
  const right = normalise(cross([0, 1, 0], back));
  const above = cross(back, right);
  const corners = Array.from({ length: 8 }, (_, i) => [0, 1, 2].map((axis) => ((i >> axis) & 1 ? max : min)[axis]));
  const reach = (axis) => {
    const along = corners.map((corner) => dot(corner, axis));
    return [Math.min(...along), Math.max(...along)];
  };
  const [x, y, z] = [reach(right), reach(above), reach(back)];
  const middle = (range) => (range[0] + range[1]) / 2;
  const centre = [0, 1, 2].map((i) => right[i] * middle(x) + above[i] * middle(y) + back[i] * middle(z));
  const eye = centre.map((value, i) => value + back[i]);
  const half = (z[1] - z[0]) / 2 + 64;
  const size = [x[1] - x[0] + 32, y[1] - y[0] + 32];
  return multiply(orthographic(...size, 1 - half, 1 + half), lookAt(eye, centre, [0, 1, 0]));
}

/** Both shadow maps. */
export class Shadows {
  /** @param {WebGL2RenderingContext} gl */
  constructor(gl) {
    this.gl = gl;
    this.ofMap = this.picture(MAP_SIDE);
    this.ofBodies = this.picture(MOVING_SIDE);
    this.view = new Float32Array(16);
  }

  picture(side) {
    const { gl } = this;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, side, side);
    for (const [name, value] of [
      [gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE],
      [gl.TEXTURE_MIN_FILTER, gl.LINEAR],
      [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
      [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
      [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
    ]) {
      gl.texParameteri(gl.TEXTURE_2D, name, value);
    }
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
    gl.drawBuffers([gl.NONE]);
    gl.readBuffer(gl.NONE);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return { side, texture, frame };
  }

  /** Fits the sun's view to this box. */
  shineOn(bounds) {
    this.view = sunView(bounds);
  }

  /** Draws one of the shadow maps again. */
  take({ side, frame }, draw) {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.viewport(0, 0, side, side);
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(2, 4);
    draw();
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }
}
