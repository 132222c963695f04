/**
 * The password of a match. The visitor is asked once; the answer is kept until the tab closes, or
 * until a server refuses it.
 */

import { onServer } from "./match.js";

/** The key includes the server's address: servers below one origin have different passwords. */
const KEY = `arena-password ${onServer("/")}`;

/** Whether the visitor has given no password. Only reloading the page asks again. */
let isDeclined = false;

/** @returns {?string} the password that is kept for this server and tab, if any */
function kept() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    // The browser stores nothing for this page.
    return null;
  }
}

/** @param {string} password */
function keep(password) {
  try {
    if (password) sessionStorage.setItem(KEY, password);
    else sessionStorage.removeItem(KEY);
  } catch {
    // The browser refuses to store data, so the visitor is asked again next time.
  }
}

/**
 * @param {{password?: boolean}} info the server's `/info`
 * @returns {Uint8Array} the content of the hello instead of a connect token; empty if the match
 *   has no password, or the visitor gives none
 */
export function password(info) {
  if (!info.password || isDeclined) return new Uint8Array();
  const given = kept() ?? globalThis.prompt?.("This match needs a password.") ?? "";
  isDeclined = given === "";
  keep(given);
  return new TextEncoder().encode(given);
}

/** Forgets the password, because a server has refused it. */
export function forgetPassword() {
  keep("");
}
