import assert from "node:assert/strict";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { pathToFileURL } from "node:url";

import { forgetPassword, password } from "./password.js";

const read = (info) => new TextDecoder().decode(password(info));

let asked;
beforeEach(() => {
  const kept = new Map();
  globalThis.sessionStorage = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => kept.set(key, value),
    removeItem: (key) => kept.delete(key),
  };
  asked = 0;
  globalThis.prompt = () => ["open sesame", "mellon"][asked++];
});

test("only a match with a password asks for one, and only once", () => {
  assert.equal(read({ password: false }), "");
  assert.equal(read({}), "");
  assert.equal(asked, 0);
  assert.equal(read({ password: true }), "open sesame");
  assert.equal(read({ password: true }), "open sesame");
  assert.equal(asked, 1);
});

test("a password that was refused is asked for again", () => {
  read({ password: true });
  forgetPassword();
  assert.equal(read({ password: true }), "mellon");
});

test("two servers below one origin have a password each", async () => {
  const origin = await mkdtemp(join(tmpdir(), "password-"));
  await writeFile(join(origin, "package.json"), '{"type": "module"}');
  const pages = [];
  for (const path of ["a", "b"]) {
    const folder = join(origin, path, "web", "link");
    for (const name of ["password.js", "match.js"]) {
      await cp(new URL(name, import.meta.url), join(folder, name), { recursive: true });
    }
    pages.push(await import(pathToFileURL(join(folder, "password.js")).href));
  }
  const given = pages.map((page) => new TextDecoder().decode(page.password({ password: true })));
  assert.deepEqual(given, ["open sesame", "mellon"]);
  await rm(origin, { recursive: true });
});

test("a page that may store nothing asks each time", () => {
  globalThis.sessionStorage = {
    getItem: () => {
      throw new Error("no");
    },
  };
  assert.equal(read({ password: true }), "open sesame");
});

// This test is the last one, because the page remembers that the visitor gave no password.
test("a visitor who gives no password is not asked again until the page is reloaded", () => {
  globalThis.prompt = () => (asked++, null);
  assert.equal(read({ password: true }), "");
  assert.equal(read({ password: true }), "");
  assert.equal(asked, 1);
});
