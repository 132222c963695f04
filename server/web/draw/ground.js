/**
 * The picture of the map, drawn once and kept until the camera moves or shadows are switched, so
 * that a frame costs one copy. The depths of the picture are also kept, so that walls hide the
 * bodies behind them. Its alpha channel holds the sun's share of the light, so that bodies can cast
 * shadows on the map.
 */

/** Maximum number of samples for each pixel if edges are smoothed. */
const SAMPLES = 4;

/** The kept picture of the map. */
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
    /** How often the picture was drawn. */
    this.times = 0;
    this.key = new Float64Array(20);
  }

  /** Whether the picture has to be drawn again for this view. */
  isStale(matrix, width, height, sunny) {
    const { key } = this;
    let same = key[16] === width && key[17] === height && key[18] === (sunny ? 1 : 0) && key[19] === 1;
    for (let i = 0; same && i < 16; i++) same = key[i] === matrix[i];
    if (same) return false;
    key.set(matrix);
    key.set([width, height, sunny ? 1 : 0, 1], 16);
    return true;
  }

  /** Makes the next frame draw the picture again, because the map has changed. */
  forget() {
    this.key[19] = 0;
  }

  /** Draws the picture again. */
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
   * Copies the picture to the screen. Without a graphics processor, a copy takes a tenth of the
   * time of a shader.
   *
   * @returns {boolean} false if the browser's screen has another format of depths, so that a shader
   *   has to draw the picture
   */
  copy() {
    const { gl, size } = this;
    const whole = [0, 0, ...size];
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.kept);
    // Chromium clears the screen before the first call of a frame that draws, and does not count a
    // copy as such a call. Without this clear the next call would wipe the copy out.
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (this.copies === undefined) while (gl.getError() !== gl.NO_ERROR);
    gl.blitFramebuffer(...whole, ...whole, gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT, gl.NEAREST);
    // The error is read only once, because reading it waits until everything is drawn.
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
