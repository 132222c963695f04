/** Shapes that the server does not send: a player on foot, weapons, a ball and a disc. */

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
 * A player of the size `standing` in one piece, about the centre of its box: a body and a head. It
 * stands for a player of a branch.
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

/** The same shape, with its upward axis turned to +X. */
function lying(polygons) {
  return polygons.map((corners) => corners.map(([x, y, z]) => [z, y, -x]));
}

/** A tube along +X. */
function tube(radius, from, to, sides = 8) {
  return lying(lathe([ring(radius, from, sides), ring(radius, to, sides)]));
}

/**
 * The parts of a player on foot, in units of a player of the size `standing`, each about the joint
 * at which it turns. They look towards +X.
 */
export function parts() {
  const cap = (rings, sides = 8) => lathe(rings.map(([radius, height]) => ring(radius, height, sides)));
  return {
    torso: [...cap([[7, 0], [8.5, 3], [10.5, 12], [9.5, 16], [4, 18]]), ...cuboid([-11, -6, 5], [-6, 6, 16])],
    head: cap([[3.5, 0], [6.3, 3], [6.8, 8], [5.6, 11.5], [3, 13]]),
    visor: cuboid([3.5, -4.6, 5], [7.4, 4.6, 8.6]),
    arm: cap([[2.4, -15], [3, -13], [3.4, -2], [2.6, 1.5]], 6),
    leg: [...cap([[3, -22], [3.6, -18], [4.6, -3], [3.6, 1]], 6), ...cuboid([-3.4, -3, -24], [6.6, 3, -20.5])],
    gun: [...cuboid([-5, -1.6, -2], [9, 1.6, 2]), ...tube(1.1, 9, 18, 6), ...cuboid([-2, -1, -6], [1, 1, -2])],
  };
}

/**
 * The weapons in the hand of the page's own player, by the numbers of `WEAPONS`, each about the hand
 * and pointing towards +X: the parts of metal, the parts that shine, and the muzzle.
 */
export function weapons() {
  const grip = cuboid([-2.2, -1, -6], [1, 1, -1]);
  return [
    {
      metal: [...grip, ...cuboid([-8, -1.7, -1.6], [9, 1.7, 2.4]), ...tube(0.9, 9, 21, 6), ...cuboid([10, -1.5, -1.2], [12, 1.5, 1.2]), ...cuboid([15, -1.4, -1.1], [16.5, 1.4, 1.1])],
      light: [...cuboid([-5, -1.9, 0.1], [7, 1.9, 0.9]), ...tube(0.6, 21, 21.6, 6)],
      muzzle: 21.6,
    },
    {
      metal: [...grip, ...tube(3, -9, 17), ...cuboid([-3, -1.1, -3.2], [7, 1.1, -2]), ...cuboid([2, -0.8, 2.6], [6, 0.8, 5])],
      light: [...tube(3.4, 13, 14.4), ...tube(3.3, -7, -6)],
      muzzle: 17,
    },
    {
      metal: [...grip, ...tube(1.9, 3, 15), ...tube(4.2, -3, 3.5, 9), ...cuboid([-9, -1.2, -1.6], [-3, 1.2, 1.4])],
      light: [...tube(2.2, 13, 14), ...tube(4.4, -0.4, 0.6, 9)],
      muzzle: 15,
    },
  ];
}

/** The fist and the forearm that hold a weapon. */
export function forearm() {
  return [...cuboid([-2.6, -1.5, -5], [1.4, 1.5, -1.8]), ...cuboid([-15, -1.9, -6.6], [-2.4, 1.9, -2.6])];
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
