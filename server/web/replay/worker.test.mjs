// Tests that the worker that plays recordings answers requests that came before its map: `node
// --test`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { brotliDecompressSync } from "node:zlib";

// The worker listens to its port for ever, which would keep the process alive.
after(() => setImmediate(() => process.exit()));

const read = (path) => readFileSync(new URL(path, import.meta.url));

/**
 * Symptom: if the server was slow to send the map, an opened recording stood still for ever. Cause:
 * the worker had no simulation yet when the page asked for frames. Nothing woke the worker when the
 * simulation came, and the page does not ask for a frame twice.
 */
test("frames that are asked for before the map has come are shown once it has", async () => {
  let sendMap;
  globalThis.fetch = async (address) => {
    const wasm = { "content-type": "application/wasm" };
    if (address.endsWith(".wasm")) return new Response(brotliDecompressSync(read("../wasm/replay.wasm.br")), { headers: wasm });
    await new Promise((resolve) => (sendMap = resolve));
    return new Response(read("../../../maps/arena.obsp"));
  };
  let said;
  const heard = (wanted) =>
    new Promise((resolve, reject) => {
      const given = setTimeout(() => reject(new Error("the worker did not answer in 20 s")), 20_000);
      said = (message) => {
        assert.equal(message.failed, undefined);
        if (!(wanted in message)) return;
        clearTimeout(given);
        resolve(message[wanted]);
      };
    });
  globalThis.postMessage = (message) => said(message);
  globalThis.onmessage = null;
  await import("./worker.js");

  const opened = heard("recording");
  onmessage({ data: { open: new Uint8Array(read("../../../tests/recordings/arena.obsr")) } });
  await opened;
  const shown = heard("frame");
  onmessage({ data: { wanted: [1] } });
  // The worker tries once, without success.
  await new Promise((resolve) => setTimeout(resolve, 50));
  sendMap();
  assert.equal((await shown).tick, 1);
  const verified = heard("progress");
  assert.ok((await verified).verified > 0);
});
