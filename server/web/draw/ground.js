/**
 * The map as it looks from where one looks, drawn once and kept for as long as
 * neither the camera nor the sun's switch moves: what it costs then is one copy.
 * With its depth, so that bodies stand in it; how much of its light is the sun's
 * stands in the place of an opacity, so that they cast shadows upon it.
 */

/** Samples of each pixel, where a graphics processor draws. */
const SAMPLES = 4;

/** The picture that is kept. */
export class Ground {
  /**
   * @param {WebGL2RenderingContext} gl
   * @param {boolean} smooth whether edges are smoothed
   */
  constructor(gl, smooth) {
    this.gl = gl;
    this.samples = smooth ? Math.min(SAMPLES, gl.getParameter(gl.MAX_SAMPLES)) : 0;
    this.kept = gl.createFramebuffer();
    this.drawn = this.samples > 0 ? gl.createFramebuffer() : this.kept;
    this.size = [0, 0];
    /** Counts how often it was drawn. */
    this.times = 0;
    this.key = new Float64Array(20);
  }

  /** Whether it has to be drawn anew for this view. */
  isStale(matrix, width, height, sunny) {
    const { key } = this;
    let same = key[16] === width && key[17] === height && key[18] === (sunny ? 1 : 0) && key[19] === 1;
    for (let i = 0; same && i < 16; i++) same = key[i] === matrix[i];
    if (same) return false;
    key.set(matrix);
    key.set([width, height, sunny ? 1 : 0, 1], 16);
    return true;
  }

  /** It is of another map: draw it anew. */
  forget() {
    this.key[19] = 0;
  }

  /** Draws it anew. */
  take(width, height, draw) {
    const { gl } = this;
    if (this.size[0] !== width || this.size[1] !== height) this.fit(width, height);
    this.times++;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.drawn);
    draw();
    if (this.samples > 0) {
      gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.drawn);
      gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, this.kept);
      gl.blitFramebuffer(0, 0, width, height, 0, 0, width, height, gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT, gl.NEAREST);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  /**
   * Copies it to the screen as it is, which takes a processor a tenth of the time
   * that a shader does.
   *
   * @returns {boolean} false if this browser's screen keeps depths in another way:
   *   then a shader has to
   */
  copy() {
    const { gl, size } = this;
    const whole = [0, 0, ...size];
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.kept);
    // Chromium empties the screen before the first call of a frame that draws, and does
    // not count a copy among those: without this clear the next call would wipe it out.
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (this.copies === undefined) while (gl.getError() !== gl.NO_ERROR);
    gl.blitFramebuffer(...whole, ...whole, gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT, gl.NEAREST);
    // Asked once: the answer waits for all that was drawn.
    this.copies ??= gl.getError() === gl.NO_ERROR;
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, null);
    return this.copies;
  }

  fit(width, height) {
    const { gl, samples } = this;
    this.size = [width, height];
    for (const texture of [this.colour, this.depth]) gl.deleteTexture(texture ?? null);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.kept);
    this.colour = this.attach(gl.COLOR_ATTACHMENT0, gl.RGBA8);
    this.depth = this.attach(gl.DEPTH_STENCIL_ATTACHMENT, gl.DEPTH24_STENCIL8);
    if (samples === 0) return;
    for (const buffer of this.buffers ?? []) gl.deleteRenderbuffer(buffer);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.drawn);
    const formats = [[gl.COLOR_ATTACHMENT0, gl.RGBA8], [gl.DEPTH_STENCIL_ATTACHMENT, gl.DEPTH24_STENCIL8]];
    this.buffers = formats.map(([place, format]) => {
      const buffer = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
      gl.renderbufferStorageMultisample(gl.RENDERBUFFER, samples, format, width, height);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, buffer);
      return buffer;
    });
  }

  attach(place, format) {
    const { gl, size } = this;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, format, ...size);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, place, gl.TEXTURE_2D, texture, 0);
    return texture;
  }
}
