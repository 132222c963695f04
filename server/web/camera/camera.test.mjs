// When the camera that follows a player leaves out the player's body.

import assert from "node:assert/strict";
import test from "node:test";

import { Camera, COVERS } from "./camera.js";
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
  // A wall that the way comes near to: 20 units beside the player, 1 beside the eye.
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
