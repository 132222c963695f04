/** Shapes that the server does not send: a player on foot, a ball and a disc. */

const TAU = Math.PI * 2;

function ring(radius, height, sides, [x, y] = [0, 0]) {
  return Array.from({ length: sides }, (_, i) => {
    const angle = ((i + 0.5) / sides) * TAU;
    return [x + Math.cos(angle) * radius, y + Math.sin(angle) * radius, height];
  });
}

/** The walls between rings, with both ends closed. */
function lathe(rings) {
  const polygons = [[...rings[0]].reverse(), rings[rings.length - 1]];
  for (let level = 0; level + 1 < rings.length; level++) {
    const [low, high] = [rings[level], rings[level + 1]];
    low.forEach((a, i) => {
      const next = (i + 1) % low.length;
      polygons.push([a, low[next], high[next], high[i]]);
    });
  }
  return polygons;
}

function cuboid([x0, y0, z0], [x1, y1, z1]) {
  return lathe([
    [[x0, y0, z0], [x1, y0, z0], [x1, y1, z0], [x0, y1, z0]],
    [[x0, y0, z1], [x1, y0, z1], [x1, y1, z1], [x0, y1, z1]],
  ]);
}

/**
 * A player of the size `standing`, about the centre of its box, looking
 * towards +X: a body and a head.
 */
export function pawn() {
  const body = lathe([
    ring(8, -28, 8),
    ring(13, -25, 8),
    ring(14.5, -6, 8),
    ring(11, 8, 8),
    ring(6, 11, 8),
  ]);
  const head = lathe([ring(5, 11, 8), ring(9.5, 15, 8), ring(9.5, 22, 8), ring(5, 27, 8)]);
  return [...body, ...head];
}

/** A visor and the muzzle of a gun, which show where a player looks. */
export function visor() {
  return [...cuboid([4, -7, 16], [11, 7, 21]), ...cuboid([10, -11, -3], [22, -7, 1])];
}

/** A disc of radius 1, seen from above. */
export function disc(sides = 18) {
  return [ring(1, 0, sides)];
}

/** A ball of radius 1. */
export function ball(rings = 8, sides = 14) {
  const levels = Array.from({ length: rings + 1 }, (_, i) => {
    const angle = (i / rings - 0.5) * Math.PI * 0.995;
    return ring(Math.cos(angle), Math.sin(angle), sides);
  });
  return lathe(levels);
}
