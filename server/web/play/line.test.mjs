/** Tests of the warnings about a bad connection: `node --test server/web/play/line.test.mjs`. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Line } from "./line.js";

/**
 * Simulates a connection at 60 snapshots a second for some seconds. Snapshot `i` arrives at
 * `at(i)`.
 */
function played(at, seconds, { rtt = 30, visible = () => 0, busy = () => 0 } = {}) {
  const line = new Line();
  let next = 0;
  for (let now = 0; now < seconds * 1000; now += 5) {
    for (; at(next) <= now; next++) line.arrive(now, busy(now));
    if (line.isDue(now)) line.sample(now, { tick: next, snapshots: next, rtt, delay: 2, visible: visible(now) });
  }
  return { line, word: line.word(seconds * 1000) };
}

const tick = 1000 / 60;

test("a good line has no word, a long one is far away", () => {
  assert.equal(played((i) => i * tick, 10).word, "");
  assert.match(played((i) => i * tick, 10, { rtt: 240 }).word, /^Far away: 240 ms/);
});

test("what waited for a page that was busy is not called jitter", () => {
  // The page is busy for 250 ms of every 300, and takes in the snapshots of that time at its end.
  const taken = (i) => Math.max(i * tick, Math.floor((i * tick) / 300) * 300 + 250);
  const length = (now) => (now % 300 >= 250 && now % 300 < 260 ? 250 : 0);
  const jitter = (options) => played(taken, 10, options).line.mean("jitter");
  assert.ok(jitter({}) > 12, `${jitter({})} ms`);
  assert.ok(jitter({ busy: length }) < 2, `${jitter({ busy: length })} ms`);
});

test("a burst after the page was busy is taken for what it is, whatever came first", () => {
  const line = new Line();
  for (let i = 0; i < 60; i++) line.arrive(i * tick);
  line.wasBusy(1300, 300);
  line.wasBusy(1300.2, 0.1);
  for (let i = 60; i < 78; i++) line.arrive(1300 + (i - 60) / 2);
  assert.ok(line.jitter < 1, `${line.jitter} ms`);
});

test("a word on corrections ends with them", () => {
  const corrected = (now) => Math.min(now, 6000) / 50;
  assert.match(played((i) => i * tick, 6, { visible: corrected }).word, /corrects/);
  const after = played((i) => i * tick, 7.5, { visible: corrected });
  assert.equal(after.word, "");
  assert.equal(after.line.mean("corrections"), 0);
});
