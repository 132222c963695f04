/** Writes to the page only what has changed. */

/**
 * Writes a text.
 *
 * @param {Element} element
 * @param {string} text
 */
export function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * A function that draws a value with `draw`, unless the value equals the last one.
 *
 * @template Value
 * @param {(value: Value) => void} draw
 * @returns {(value: Value) => void}
 */
export function onChange(draw) {
  let last = "";
  return (value) => {
    const text = JSON.stringify(value);
    if (text === last) return;
    last = text;
    draw(value);
  };
}
