/** The choices of a visitor that the browser remembers. A browser may refuse to store anything. */

/**
 * @param {string} name
 * @returns {Record<string, any>} empty if nothing is remembered
 */
export function remembered(name) {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "{}") ?? {};
  } catch {
    return {};
  }
}

/**
 * @param {string} name
 * @param {object} choices
 */
export function remember(name, choices) {
  try {
    localStorage.setItem(name, JSON.stringify(choices));
  } catch {
    // The choices hold until the page is closed.
  }
}
