/** Programs of the graphics processor, and buffers that are filled each frame. */

/** A program with its uniforms by name. */
export class Program {
  /**
   * @param {WebGL2RenderingContext} gl
   * @param {{vertex: string, fragment: string}} source
   */
  constructor(gl, { vertex, fragment }) {
    this.gl = gl;
    this.handle = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(this.handle, shader);
    }
    gl.linkProgram(this.handle);
    if (!gl.getProgramParameter(this.handle, gl.LINK_STATUS) && !gl.isContextLost()) {
      const logs = gl.getAttachedShaders(this.handle).map((shader) => gl.getShaderInfoLog(shader));
      throw new Error(`a shader does not compile: ${logs.join("\n")} ${gl.getProgramInfoLog(this.handle)}`);
    }
    this.places = new Map();
  }

  /** Makes this the program that draws. */
  use() {
    this.gl.useProgram(this.handle);
    return this;
  }

  /** Sets a uniform: a number, or an array of 2, 3, 4 or 16 numbers. */
  set(name, value) {
    if (!this.places.has(name)) {
      this.places.set(name, this.gl.getUniformLocation(this.handle, name));
    }
    const place = this.places.get(name);
    if (typeof value === "number") this.gl.uniform1f(place, value);
    else if (value.length === 16) this.gl.uniformMatrix4fv(place, false, value);
    else this.gl[`uniform${value.length}fv`](place, value);
    return this;
  }

  /** Binds a texture to a sampler. */
  sample(name, unit, texture) {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    if (!this.places.has(name)) this.places.set(name, gl.getUniformLocation(this.handle, name));
    gl.uniform1i(this.places.get(name), unit);
    return this;
  }
}

/** A shape with its vertices and, if it is drawn many times, its instances. */
export class Shape {
  /**
   * @param {WebGL2RenderingContext} gl
   * @param {Float32Array} vertices
   * @param {number[]} layout how many numbers each attribute of a vertex has
   * @param {number[]} [instances] how many numbers each attribute of an instance has
   * @param {?Uint32Array} [indices] the vertices of each triangle, if triangles share vertices
   */
  constructor(gl, vertices, layout, instances = [], indices = null) {
    this.gl = gl;
    this.width = layout.reduce((a, b) => a + b);
    this.count = indices ? indices.length : vertices.length / this.width;
    this.array = gl.createVertexArray();
    this.instanceWidth = instances.reduce((a, b) => a + b, 0);
    gl.bindVertexArray(this.array);
    this.vertices = this.buffer(vertices, gl.STATIC_DRAW);
    this.attributes(layout, 0, this.width, 0);
    if (instances.length > 0) {
      this.filled = this.buffer(new Float32Array(0), gl.STREAM_DRAW);
      this.attributes(instances, layout.length, this.instanceWidth, 1);
    }
    if (indices) {
      this.indices = gl.createBuffer();
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.indices);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
    }
    gl.bindVertexArray(null);
  }

  buffer(data, usage) {
    const buffer = this.gl.createBuffer();
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, buffer);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data, usage);
    return buffer;
  }

  attributes(layout, first, width, divisor) {
    const { gl } = this;
    let offset = 0;
    layout.forEach((size, i) => {
      gl.enableVertexAttribArray(first + i);
      gl.vertexAttribPointer(first + i, size, gl.FLOAT, false, width * 4, offset * 4);
      gl.vertexAttribDivisor(first + i, divisor);
      offset += size;
    });
  }

  /**
   * Replaces the instances; they are drawn until they are replaced again.
   *
   * @param {?import("./frame.js").Batch} batch the new instances; null for none
   */
  fill(batch) {
    const { gl } = this;
    this.instances = batch?.count ?? 0;
    if (this.instances === 0) return this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.filled);
    // `bufferData` gives the buffer new memory, so that nothing waits for a frame that is still
    // being drawn.
    gl.bufferData(gl.ARRAY_BUFFER, batch.numbers, gl.STREAM_DRAW, 0, batch.used);
    return this;
  }

  /**
   * Draws the shape once, or once for each instance.
   *
   * @param {number} [mode]
   * @param {number} [count] of vertices or indices, if not all are drawn
   */
  draw(mode = this.gl.TRIANGLES, count = this.count) {
    const { gl } = this;
    if (this.instanceWidth > 0 && !this.instances) return;
    gl.bindVertexArray(this.array);
    if (this.indices) gl.drawElements(mode, count, gl.UNSIGNED_INT, 0);
    else if (this.instanceWidth > 0) gl.drawArraysInstanced(mode, 0, count, this.instances);
    else gl.drawArrays(mode, 0, count);
  }

  /** Frees the memory of the shape. */
  delete() {
    this.gl.deleteVertexArray(this.array);
    this.gl.deleteBuffer(this.vertices);
    if (this.filled) this.gl.deleteBuffer(this.filled);
    if (this.indices) this.gl.deleteBuffer(this.indices);
  }
}
