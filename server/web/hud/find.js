/** Finds the elements of the page that the script needs. */

/**
 * @template {Element} Kind
 * @param {string} selector
 * @param {new () => Kind} kind of the element
 * @param {ParentNode} [home] in which it is
 * @returns {Kind}
 * @throws {Error} if the page has no such element
 */
export function find(selector, kind, home = document) {
  const found = home.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`The page has no ${selector}: its HTML and its script are of different versions.`);
  return found;
}
