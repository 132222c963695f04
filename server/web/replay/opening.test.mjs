// Tests of what the page tells about recordings before it opens them: `node --test`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { asked, facts } from "../hud/recordings.js";
import { fault, LARGEST } from "./opening.js";

const RECORDING = readFileSync(new URL("../../../tests/recordings/arena.obsr", import.meta.url));

test("a file is checked before it is opened, and its fault is told", async () => {
  assert.equal(await fault(new Blob([RECORDING])), null);
  for (const [content, why] of [
    ["", /not a recording: it does not begin with OBSR/],
    ["OBS", /not a recording/],
    ["PNG and more", /not a recording/],
    ["OBSR", /cut short/],
    ["OBSR\x07", /cut short/],
  ]) {
    assert.match(await fault(new Blob([content])), why, content);
  }
});

test("a file that is too large is not read", async () => {
  const unread = { size: LARGEST + 1, slice: () => assert.fail("the file is read") };
  assert.match(await fault(unread), /It has 67.1 MB, and the page plays recordings of up to 67.1 MB/);
});

test("a recording is listed with its map, date and length", () => {
  const listed = { name: "a.obsr", bytes: 29846, changed: 1790000000, map: "arena", seconds: 75 };
  assert.match(facts(listed, "en"), /^arena · Sep \d+, 2026, .* · 1:15 · 30 kB$/);
  assert.match(facts({ ...listed, seconds: null }, "en"), /no end yet/);
  assert.equal(facts({ ...listed, map: null, seconds: null, changed: null }, "en"), "of another version · 30 kB");
});

test("a server that does not answer is named as the cause", async (context) => {
  context.mock.method(globalThis, "fetch", () => Promise.reject(new TypeError("Failed to fetch")));
  await assert.rejects(asked("/replays/match.obsr"), /^Error: The server does not answer/);
});
