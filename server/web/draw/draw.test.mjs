// Tests of drawing that need no browser: materials, triangles, postures, marks.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Camera } from "../camera/camera.js";
import { Sight } from "../camera/sight.js";
import { Hand } from "../layers/hand.js";
import { Marks, upwardTo } from "../layers/marks.js";
import { Players } from "../layers/players.js";
import { posture, WalkedDistances } from "../layers/posture.js";
import { playersOf } from "../match/scene.js";
import { project, rotate } from "./algebra.js";
import { luminance } from "./colours.js";
import { Frame } from "./frame.js";
import { cut, MAP_LAYOUT, mapTriangles } from "./mesh.js";
import { hashOf, isSky, materialOf, nameByPlace } from "./palette.js";

const apart = (a, b) => Math.hypot(...a.map((value, i) => value - b[i]));

test("a texture has the same material everywhere, whatever its case", () => {
  assert.deepEqual(materialOf("MMETAL1_3"), materialOf("mmetal1_3"));
  // A fixed number, because pictures of one map must look alike on every page.
  assert.equal(hashOf("wall_stone").toFixed(6), "0.697785");
  assert.ok(hashOf("a") >= 0 && hashOf("a") < 1 && hashOf("a") !== hashOf("b"));
});

test("materials that are known by words in names differ in colour", () => {
  const names = ["wall_brick", "trim_wood", "ground_grass", "metal5_2", "wall_plaster", "*lava1", "sky4"];
  const colours = names.map((name) => materialOf(name).colour);
  colours.forEach((one, i) => {
    for (const [j, other] of colours.entries()) {
      if (i !== j) assert.ok(apart(one, other) > 0.1, `${names[i]} and ${names[j]}`);
    }
  });
  const [r, g, b] = materialOf("ground_grass").colour;
  assert.ok(g > r && g > b, "grass is green");
  assert.ok(materialOf("sky4").grain[2] === 1, "the sky has its own light");
  assert.deepEqual(["Sky4", "city4_2", undefined].map((name) => isSky(name)), [true, false, false]);
});

test("every name has a material that can be seen and is not a flat colour", () => {
  for (let i = 0; i < 500; i++) {
    const { colour, cell, grain } = materialOf(`x${i * 7919}`);
    assert.ok(colour.every((value) => value >= 0 && value <= 1), `${colour}`);
    assert.ok(luminance(colour) > 0.06, `${i}: ${colour}`);
    assert.ok(cell[0] > 0 && cell[1] > 0 && grain[0] > 0);
  }
  assert.ok(materialOf("").colour.length === 3);
});

test("a map without textures has floors, ceilings, and walls by the area", () => {
  const names = new Set([[[0, 0, 1]], [[0, 0, -1]], [[1, 0, 0]]].map(([normal]) => nameByPlace(normal, [0, 0, 0])));
  assert.equal(names.size, 3);
  const square = [[0, 0, 0], [64, 0, 0], [64, 64, 0], [0, 64, 0]];
  const numbers = MAP_LAYOUT.reduce((a, b) => a + b);
  const { vertices: bare, indices } = mapTriangles({ polygons: [square, square] });
  assert.equal(bare.length, 2 * 4 * numbers, "triangles share the vertices of their polygon");
  assert.deepEqual([...indices], [0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7]);
  const textured = mapTriangles({ polygons: [square, square], textures: ["sky1", "trim_wood"], textured: [0, 1] });
  assert.deepEqual([...textured.indices], [4, 5, 6, 4, 6, 7, 0, 1, 2, 0, 2, 3], "the sky comes last");
  assert.equal(textured.solid, 6);
  const { vertices: wood } = mapTriangles({ polygons: [square], textures: ["trim_wood"], textured: [0] });
  assert.deepEqual([...wood.slice(6, 9)], [...new Float32Array(materialOf("trim_wood").colour)]);
  assert.notDeepEqual(bare.slice(6, 9), wood.slice(6, 9));
});

test("triangles of a polygon share all corners on its edges", () => {
  const square = [[0, 0, 0], [4, 0, 0], [8, 0, 0], [8, 8, 0], [0, 8, 0]];
  // Each edge of this triangle has corners on it.
  const wedge = [[0, 0, 0], [2, 0, 0], [6, 0, 0], [8, 0, 0], [6, 4, 0], [4, 8, 0], [2, 4, 0]];
  const area = (triangle) => {
    const [[ax, ay], [bx, by], [cx, cy]] = triangle;
    return ((bx - ax) * (cy - ay) - (cx - ax) * (by - ay)) / 2;
  };
  for (const [polygon, whole] of [[square, 64], [wedge, 32]]) {
    for (let turn = 0; turn < polygon.length; turn++) {
      const corners = [...polygon.slice(turn), ...polygon.slice(0, turn)];
      const triangles = cut(corners);
      assert.equal(triangles.length, corners.length - 2);
      assert.ok(triangles.every((triangle) => area(triangle) > 0.5), "no triangle is flat, and all have the winding of the polygon");
      assert.ok(Math.abs(triangles.reduce((sum, triangle) => sum + area(triangle), 0) - whole) < 1e-9);
      // Each edge of the polygon is an edge of a triangle.
      corners.forEach((a, i) => {
        const b = corners[(i + 1) % corners.length];
        assert.ok(triangles.some((t) => t.some((p, j) => p === a && t[(j + 1) % 3] === b)), `${a} to ${b}`);
      });
    }
  }
});

test("legs swing by the distance walked, and rest when the player stands", () => {
  const run = [320, 0, 0];
  const forward = posture(23, run, false).legs;
  const back = posture(69, run, false).legs;
  assert.ok(forward[0] > 0.7 && back[0] < -0.7, `${forward} ${back}`);
  assert.ok(Math.abs(forward[0] + forward[1]) < 1e-9, "one goes forward while the other goes back");
  assert.deepEqual(posture(23, [0, 0, 0], false).legs.map(Math.abs), [0, 0]);
  assert.ok(Math.abs(posture(23, [100, 0, 0], false).legs[0]) < forward[0], "slower legs swing less");
});

test("a player who crouches is lower and bends", () => {
  const [up, down] = [posture(0, [0, 0, 0], false), posture(0, [0, 0, 0], true)];
  assert.ok(down.hip + down.neck[1] < up.hip + up.neck[1] - 12);
  assert.ok(down.lean > up.lean && down.leg < up.leg);
});

test("the distance walked grows with every step and not by a teleporter", () => {
  const walked = new WalkedDistances();
  const at = (x, generation = 0) => walked.of({ slot: 3, generation, position: [x, 0, 0] });
  assert.equal(at(0), 0);
  assert.equal(at(30), 30);
  assert.equal(at(900), 30);
  assert.equal(at(910), 40);
  assert.equal(at(5, 1), 0, "another player has the slot");
});

test("a player fits into the box that the game moves", () => {
  const [frame, sizes] = [new Frame(), playersOf([])];
  const player = { slot: 1, generation: 0, position: [100, 50, 28], rotation: [0, 0, 0, 1], velocity: [320, 0, 0], crouching: false };
  new Players().add(frame, player, sizes, [1, 0, 0], [1, 0, 0], 0);
  assert.deepEqual([...frame.bodies.keys()].sort(), ["arm", "gun", "head", "leg", "torso", "visor"]);
  assert.equal(frame.bodies.get("leg").count, 2);
  for (const { numbers, used } of frame.bodies.values()) {
    for (let i = 0; i < used; i += 15) {
      assert.ok(Math.hypot(numbers[i] - 100, numbers[i + 1] - 50) < 24, "near its middle");
      assert.ok(numbers[i + 2] >= 0 && numbers[i + 2] <= 56, "between floor and crown");
    }
  }
});

const WALL = [[-100, -100, 0], [-100, 100, 0], [-100, 100, 200], [-100, -100, 200]];

test("a shot marks the wall that it hits, until the mark has faded", () => {
  const [marks, sight] = [new Marks(), new Sight([WALL])];
  marks.ray({ from: [0, 0, 50], to: [-100, 20, 60] }, sight, 10);
  assert.equal(marks.marks.length, 1);
  const [{ place, rotation }] = marks.marks;
  assert.ok(apart(place, [-100, 20, 60]) < 1, `${place}`);
  assert.ok(apart(rotate(rotation, [0, 0, 1]), [1, 0, 0]) < 1e-6, "it lies on the wall");
  const frame = new Frame();
  marks.draw(frame, 10.1);
  assert.ok(frame.ghosts.get("disc").count >= 2 && frame.strokes.count > 0);
  frame.clear();
  marks.draw(frame, 31);
  assert.equal(frame.ghosts.get("disc").count, 0);
});

test("a shot at a body leaves no mark on the wall behind", () => {
  const [marks, sight] = [new Marks(), new Sight([WALL])];
  marks.ray({ from: [0, 0, 50], to: [-60, 0, 50] }, sight, 0);
  marks.ray({ from: [0, 0, 50], to: [0, 0, 50] }, sight, 0);
  marks.blast({ begin: [0, 0, 50] }, sight, 0);
  assert.equal(marks.marks.length, 0);
  marks.blast({ begin: [-80, 0, 50] }, sight, 0);
  assert.equal(marks.marks.length, 1, "an explosion near the wall scorches it");
});

test("a rotation leads upward to every direction", () => {
  for (const to of [[0, 0, 1], [0, 0, -1], [1, 0, 0], [0, -1, 0], [0.6, 0, -0.8]]) {
    assert.ok(apart(rotate(upwardTo(to), [0, 0, 1]), to) < 1e-6, `${to}`);
  }
});

test("a weapon flashes when it fires, and when a missile leaves the player", () => {
  const hand = new Hand();
  const holder = { slot: 2, weapon: 1, walked: 0, eye: [0, 0, 50], ahead: [1, 0, 0] };
  const flashes = (now) => {
    const frame = new Frame();
    hand.draw(frame, holder, now);
    assert.equal(frame.hands.size, 3);
    return frame.veils.count;
  };
  assert.equal(flashes(1), 0);
  hand.fired(2);
  assert.ok(flashes(2.01) > 0);
  assert.equal(flashes(2.5), 0);
  const rocket = { slot: 9, generation: 1, model: 6, position: [30, 0, 50] };
  hand.watch([{ ...rocket, slot: 8, position: [900, 0, 50] }], holder.eye, 3);
  assert.equal(flashes(3), 0, "another's missile");
  hand.watch([rocket], holder.eye, 4);
  assert.ok(flashes(4.01) > 0);
});

test("a shot into the sky leaves no mark", () => {
  const wall = [[0, 0, 0], [0, 100, 0], [0, 100, 100], [0, 0, 100]];
  const beyond = [[50, 50, 50], [-10, 50, 50]];
  for (const [solid, left] of [[[wall], 1], [[], 0]]) {
    const [marks, sight] = [new Marks(), new Sight([wall], solid)];
    marks.ray({ from: [50, 50, 50], to: [0, 50, 50] }, sight, 0);
    assert.equal(sight.reach(...beyond) < 1, true, "the sky is in the way of the camera, too");
    assert.equal(marks.marks.length, left);
  }
});

test("the view that follows passes no wall on its way", () => {
  const camera = new Camera();
  // A wall across y = 0, which ends at x = 0. Both of its sides are faces.
  const side = [[-400, 0, -400], [0, 0, -400], [0, 0, 400], [-400, 0, 400]];
  camera.frame({ min: [-400, -400, -400], max: [400, 400, 400] }, [side, [...side].reverse()]);
  camera.look("follow");
  const free = { x: 0, y: 0, width: 1, height: 1 };
  const at = (y, passed) => camera.view(1, passed, { position: [-100, y, 0], rotation: [0, 0, 0.7071, 0.7071] }, free).eye;
  assert.ok(at(-50, 60)[1] < 0, "the camera stands on the player's side");
  for (let frame = 0; frame < 20; frame++) {
    const eye = at(50, 0.02);
    const { target } = camera.eased;
    assert.equal(camera.sight.reach(target, eye), 1, `frame ${frame}: ${eye}`);
  }
});

test("the view from above shows what is below the cut and nothing above it", () => {
  const camera = new Camera();
  camera.frame({ min: [-400, -400, 0], max: [400, 400, 400] });
  camera.look("top");
  const free = { x: 0, y: 0, width: 1, height: 1 };
  const depth = (z, followed = null) => {
    const { matrix: m } = camera.view(1, 60, followed, free);
    return m[2] * 0 + m[6] * 0 + m[10] * z + m[14];
  };
  assert.ok(depth(390) > -1 && depth(0) < 1, "everything is in the picture");
  const followed = { position: [0, 0, 30], rotation: [0, 0, 0, 1] };
  assert.ok(depth(120, followed) < -1, "a floor above the followed player is cut off");
  assert.ok(depth(60, followed) > -1 && depth(0, followed) < 1);
  const { beyond } = camera.view(1, 60, followed, free);
  assert.ok(beyond.matrix[10] * 390 + beyond.matrix[14] > -1, "what is above the cut is in the picture behind it");
  camera.moveCut(-200);
  assert.ok(depth(300) < -1 && depth(150) > -1);
  camera.moveCut(1000);
  assert.ok(depth(390) > -1);
  assert.ok(project(camera.view(1, 60, null, free).matrix, [0, 0, 0]) !== null);
});
