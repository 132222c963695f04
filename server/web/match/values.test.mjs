// The values of a game, and the teams that they tell of.

import assert from "node:assert/strict";
import { test } from "node:test";

import { forgetTeams, joinTeams, slotColour } from "../draw/colours.js";
import { NO_SCHEMA } from "../wire/fields.js";
import { valuesOf } from "./values.js";

test("players of a team have its colour", () => {
  const ofPlayers = [{ name: "ammunition", least: 0, most: 9 }, { name: "team", least: 1, most: 2 }];
  const history = { terms: { schema: { ...NO_SCHEMA, ofPlayers } }, offsets: { match: [], own: [] }, entity: (slot) => ({ kind: 0, offsets: [3, slot % 2] }) };
  const { teams } = valuesOf(history, null, [0, 1, 2]);
  assert.deepEqual(teams, [[0, 0], [1, 1], [2, 0]]);
  const own = slotColour(0);
  joinTeams(teams);
  assert.deepEqual(slotColour(0), slotColour(2));
  assert.notDeepEqual(slotColour(0), slotColour(1));
  forgetTeams();
  assert.deepEqual(slotColour(0), own);
  // A game without teams names none.
  assert.deepEqual(valuesOf({ ...history, terms: {} }, null, [0, 1, 2]).teams, []);
});
