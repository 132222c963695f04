/** The match of the page, if the server has several: `?match=` of the page's address. */

/**
 * @param {{search: string}} [page] address of the page
 * @returns {string} the name of the match, empty for the server's first
 */
export function chosenMatch(page = location) {
  return new URLSearchParams(page.search).get("match") ?? "";
}

/**
 * @param {string} path of the server, for its first match
 * @param {{search: string}} [page] address of the page
 * @returns {string} the path for the match of the page
 */
export function ofMatch(path, page = location) {
  const match = chosenMatch(page);
  return match ? `${path}?match=${encodeURIComponent(match)}` : path;
}
