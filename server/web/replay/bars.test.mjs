// Compares the digests of the module that plays recordings with the digests that the native server
// recorded, at every tick, and measures the time of a seek: `node --test`. RECORDINGS names other
// recordings than the committed one, as RECORDING=MAP, separated by commas. REPLAY_MODULE names the
// module of their game if that is not the arena game. SEEK_LIMIT is the longest time that a seek
// may take, before anything is verified and after, in milliseconds of CPU time. That equals the
// time on the clock unless other programs also need the CPU.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { brotliDecompressSync } from "node:zlib";

import { Engine } from "./engine.js";

const here = (path) => new URL(path, import.meta.url);
const committed = [here("../../../tests/recordings/arena.obsr"), here("../../../maps/arena.obsp")];
const named = process.env.RECORDINGS?.split(",").map((pair) => pair.split("="));
const built = process.env.REPLAY_MODULE ?? here("../wasm/replay.wasm.br");
const module = new WebAssembly.Module(brotliDecompressSync(readFileSync(built)));

/** Ticks that are sought, spread over a recording in an irregular order. */
const SEEKS = 100;
const GOLDEN = 0.61803398875;

/**
 * Ticks that are played before the first seek: meanwhile the engine compiles the code that runs
 * often.
 */
const PLAYED = 180;

/** Seeks ticks everywhere, and the tick before each. Returns the times in ascending order. */
function seeks(engine, told) {
  const times = [];
  const goTo = (tick) => {
    const begin = process.cpuUsage();
    assert.equal(engine.show(tick).tick, tick);
    const { user, system } = process.cpuUsage(begin);
    times.push((user + system) / 1000);
  };
  for (let number = 1; number <= SEEKS; number++) {
    const tick = 1 + Math.floor(((number * GOLDEN) % 1) * (told.ticks - 1));
    goTo(tick);
    goTo(tick - 1);
  }
  return times.sort((a, b) => a - b);
}

for (const [recording, map] of named ?? [committed]) {
  test(`each tick of ${recording} has the digest that the native server recorded, and can be gone to`, (context) => {
    const engine = new Engine(new WebAssembly.Instance(module).exports);
    const told = engine.openRecording(readFileSync(recording));
    engine.openMap(readFileSync(map));
    const say = (what, times) => context.diagnostic(`${what}: median ${times[SEEKS].toFixed(0)} ms, worst ${times.at(-1).toFixed(0)} ms`);
    for (let tick = 0; tick < Math.min(PLAYED, told.ticks); tick++) engine.show(tick);
    const limit = Number(process.env.SEEK_LIMIT ?? Infinity);
    const hold = (what, times) => {
      say(what, times);
      assert.ok(times.at(-1) <= limit, `${what}: a seek took ${times.at(-1).toFixed(0)} ms`);
    };
    hold("seeks before anything is verified", seeks(engine, told));

    const begin = performance.now();
    let progress;
    for (let tick = 0; tick < told.ticks; tick += 600) {
      progress = engine.verify(Math.min(600, told.ticks - tick));
      assert.equal(progress.difference, null);
      assert.equal(progress.broken, null);
    }
    const took = (performance.now() - begin) / 1000;
    const memory = engine.exports.memory.buffer.byteLength / 1e6;
    context.diagnostic(`${told.ticks} ticks in ${took.toFixed(0)} s, with ${memory.toFixed(0)} MB of memory`);
    assert.equal(progress.tick, told.ticks);
    // The digest before the first tick is also compared.
    assert.equal(progress.verified, told.ticks + 1);
    assert.equal(progress.finding, null);

    hold("seeks", seeks(engine, told));
  });
}
