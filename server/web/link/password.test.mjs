import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

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

test("a page that may store nothing asks each time", () => {
  globalThis.sessionStorage = {
    getItem: () => {
      throw new Error("no");
    },
  };
  assert.equal(read({ password: true }), "open sesame");
});

// This is the last test: the page remembers it.
test("a visitor who gives none is left alone until the page is loaded again", () => {
  globalThis.prompt = () => (asked++, null);
  assert.equal(read({ password: true }), "");
  assert.equal(read({ password: true }), "");
  assert.equal(asked, 1);
});
