// Tests of the values of a game, and of the teams of its players.

import assert from "node:assert/strict";
import { test } from "node:test";

import { forgetTeams, joinTeams, slotColour } from "../draw/colours.js";
import { NO_SCHEMA } from "../wire/fields.js";
import { hinted, valuesOf } from "./values.js";

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
  // A hint marks the field of a game that has another name for it.
  const hintedFields = [{ name: "side", least: 0, most: 1, hint: "team" }, ofPlayers[1]];
  const other = { ...history, terms: { schema: { ...NO_SCHEMA, ofPlayers: hintedFields } } };
  assert.deepEqual(valuesOf(other, null, [0]).teams, [[0, 3]]);
  // A game without a field for teams has no teams.
  assert.deepEqual(valuesOf({ ...history, terms: {} }, null, [0, 1, 2]).teams, []);
});

test("values of the client library get the hints of the schema", () => {
  const field = (name, hint) => ({ name, least: 0, most: 9, hint });
  const schema = { ...NO_SCHEMA, ofMatch: [field("left", "timer")], ofOwnPlayer: [field("coins", "counter")], ofPlayers: [field("side", "team")] };
  const value = (name) => ({ name, value: 3, least: 0, most: 9 });
  const found = hinted({ match: [value("left"), value("other")], own: [value("coins"), value("side")], teams: [] }, schema);
  assert.deepEqual([...found.match, ...found.own].map(({ hint }) => hint), ["timer", undefined, "counter", "team"]);
  assert.equal(hinted(null, schema), null);
});
