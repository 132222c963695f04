// When the camera that follows a player leaves out the player's body.

import assert from "node:assert/strict";
import test from "node:test";

import { Camera, COVERS } from "./camera.js";

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
