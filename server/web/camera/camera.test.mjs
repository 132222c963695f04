// The camera that follows a player, and the cameras that a map names for the end of a round.

import assert from "node:assert/strict";
import test from "node:test";

import { Camera, COVERS } from "./camera.js";
import { intermissionOf } from "./intermission.js";
import { project } from "../draw/algebra.js";
import { Sight } from "./sight.js";

const player = (position, model = null) => ({ position, model });

test("a followed player whom a wall keeps before the camera does not cover the picture", () => {
  const camera = new Camera();
  camera.mode = "follow";
  assert.ok(camera.isCovered(player([0, 0, 0]), [COVERS - 1, 0, 0]));
  assert.ok(!camera.isCovered(player([0, 0, 0]), [COVERS + 1, 0, 0]));
  assert.ok(!camera.isCovered(player([0, 0, 0], 3), [COVERS - 1, 0, 0]), "tanks are larger");
  assert.ok(!camera.isCovered(null, [0, 0, 0]), "nobody is followed");
  camera.mode = "orbit";
  assert.ok(!camera.isCovered(player([0, 0, 0]), [1, 0, 0]), "the orbit shows everybody");
});

test("the camera that follows keeps off walls beside its way", () => {
  const camera = new Camera();
  // A wall beside the way: 20 units beside the player, 1 unit beside the eye.
  const wall = [[500, -75, -500], [500, -75, 500], [-500, 20, 500], [-500, 20, -500]];
  camera.sight = new Sight([wall]);
  const beside = (at) => camera.sight.reach(at, [at[0], at[1] + 400, at[2]]) * 400;
  const [player, eye] = [[0, -48, 0], [200, -47.5, 0]];
  assert.ok(beside(player) > 16 && beside(eye) < 2, `${beside(player)}, ${beside(eye)}`);
  const moved = camera.before(player, eye);
  assert.ok(moved[0] > 50 && beside(moved) > 4, `${moved}`);
  const free = [-150, -48, 0];
  assert.deepEqual(camera.before(player, free), free, "no wall is near this way");
});

test("between two rounds everybody sees through the same camera of the map, and through each in time", () => {
  const cameras = ["a", "b", "c"].map((name) => ({ name, eye: [0, 0, 0], ahead: [1, 0, 0], up: [0, 0, 1] }));
  assert.equal(intermissionOf(cameras, { phase: "playing", ends: 600 }), null);
  assert.equal(intermissionOf(cameras, { phase: null, ends: 0 }), null);
  assert.equal(intermissionOf([], { phase: "intermission", ends: 600 }), null);
  assert.equal(intermissionOf(cameras, { phase: "intermission", ends: 0 }), cameras[0]);
  // Rounds of five minutes and intermissions of ten seconds, at 60 ticks a second.
  const seen = Array.from({ length: 40 }, (_, round) => intermissionOf(cameras, { phase: "intermission", ends: (round + 1) * 18600 }).name);
  for (const name of ["a", "b", "c"]) assert.ok(seen.filter((one) => one === name).length > 5, seen.join());
});

test("a camera of the map looks ahead with Quake's field of view, and may be rolled", () => {
  const camera = new Camera();
  // The camera stands at 100 100 100, looks north and leans to the right: its up is east.
  const view = camera.from({ eye: [100, 100, 100], ahead: [0, 1, 0], up: [1, 0, 0] }, 4 / 3);
  assert.deepEqual(view.eye, [100, 100, 100]);
  const at = (place) => project(view.matrix, place)?.slice(0, 2).map((value) => Math.round(value * 1000) / 1000 + 0);
  assert.deepEqual(at([100, 400, 100]), [0, 0]);
  assert.equal(at([100, -400, 100]), undefined);
  // 45 degrees below is the right edge of a picture of four by three.
  assert.deepEqual(at([100, 400, -200]), [1, 0]);
  assert.deepEqual(at([100 + 225, 400, 100]), [0, 1]);
});

test("a view counts as chosen once the viewer changes or moves it", () => {
  for (const act of [(camera) => camera.look("top"), (camera) => camera.turn(0.1, 0), (camera) => camera.zoom(1.1), (camera) => camera.pan(0.1, 0)]) {
    const camera = new Camera();
    camera.frame({ min: [0, 0, 0], max: [100, 100, 100] });
    camera.view(1, 0.1, null, { x: 0, y: 0, width: 2, height: 2 });
    assert.ok(!camera.isChosen);
    act(camera);
    assert.ok(camera.isChosen);
  }
});
