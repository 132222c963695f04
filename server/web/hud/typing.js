/** Tells whether a control takes typed keys. Such keys are not shortcuts. */

const TYPED_IN = new Set(["text", "number", "search", "password"]);

/**
 * @param {?EventTarget} target of an event of the keyboard
 * @returns {boolean}
 */
export function isTyping(target) {
  return target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && TYPED_IN.has(target.type));
}
