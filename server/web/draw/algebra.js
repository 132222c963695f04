/**
 * The little linear algebra that drawing needs. Vectors are arrays of three,
 * matrices are column-major arrays of sixteen, as WebGL takes them.
 */

export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a, b) => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
export const normalise = (a) => scale(a, 1 / (Math.hypot(...a) || 1));
export const mix = (a, b, t) => a.map((value, i) => value + (b[i] - value) * t);

/** A vector turned by a quaternion x y z w. */
export function rotate([x, y, z, w], v) {
  const u = [x, y, z];
  const t = scale(cross(u, v), 2);
  return add(add(v, scale(t, w)), cross(u, t));
}

/** The product of two matrices. */
export function multiply(a, b) {
  const out = new Float32Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[k * 4 + row] * b[column * 4 + k];
      out[column * 4 + row] = sum;
    }
  }
  return out;
}

/** The inverse of a matrix that has one, by Gauss and Jordan. */
export function inverse(matrix) {
  const rows = [0, 1, 2, 3].map((row) =>
    Array.from({ length: 8 }, (_, column) => (column < 4 ? matrix[column * 4 + row] : Number(column - 4 === row))),
  );
  for (let pivot = 0; pivot < 4; pivot++) {
    let largest = pivot;
    for (let row = pivot + 1; row < 4; row++) {
      if (Math.abs(rows[row][pivot]) > Math.abs(rows[largest][pivot])) largest = row;
    }
    [rows[pivot], rows[largest]] = [rows[largest], rows[pivot]];
    const scaled = rows[pivot].map((value) => value / rows[pivot][pivot]);
    rows[pivot] = scaled;
    for (let row = 0; row < 4; row++) {
      const factor = rows[row][pivot];
      if (row !== pivot) rows[row] = rows[row].map((value, column) => value - factor * scaled[column]);
    }
  }
  return Float32Array.from({ length: 16 }, (_, i) => rows[i % 4][4 + Math.floor(i / 4)]);
}

/** The matrix of a camera at `eye` that looks at `target`. */
export function lookAt(eye, target, up) {
  const back = normalise(subtract(eye, target));
  const right = normalise(cross(up, back));
  const above = cross(back, right);
  // prettier-ignore
  return new Float32Array([
    right[0], above[0], back[0], 0,
    right[1], above[1], back[1], 0,
    right[2], above[2], back[2], 0,
    -dot(right, eye), -dot(above, eye), -dot(back, eye), 1,
  ]);
}

/** The matrix of a perspective view; `field` is the vertical angle in radians. */
export function perspective(field, aspect, near, far) {
  const f = 1 / Math.tan(field / 2);
  // prettier-ignore
  return new Float32Array([
    f / aspect, 0, 0, 0,
    0, f, 0, 0,
    0, 0, (far + near) / (near - far), -1,
    0, 0, (2 * far * near) / (near - far), 0,
  ]);
}

/** The matrix of a parallel view of a box of this width and height. */
export function orthographic(width, height, near, far) {
  // prettier-ignore
  return new Float32Array([
    2 / width, 0, 0, 0,
    0, 2 / height, 0, 0,
    0, 0, 2 / (near - far), 0,
    0, 0, (far + near) / (near - far), 1,
  ]);
}

/**
 * The place of a point on the screen.
 *
 * @returns {?number[]} x and y from -1 to 1, and w; null if behind the camera
 */
export function project(matrix, [x, y, z]) {
  const at = (row) => matrix[row] * x + matrix[4 + row] * y + matrix[8 + row] * z + matrix[12 + row];
  const w = at(3);
  return w <= 0 ? null : [at(0) / w, at(1) / w, w];
}
