/**
 * The match that the page is about, of a server with several: `?match=` of its address.
 */

/**
 * @param {{search: string}} [page] where the page is from
 * @returns {string} the name of the match, empty for the server's first
 */
export function chosenMatch(page = location) {
  return new URLSearchParams(page.search).get("match") ?? "";
}

/**
 * @param {string} path of the server, about its first match
 * @param {{search: string}} [page] where the page is from
 * @returns {string} the same of the match that the page is about
 */
export function ofMatch(path, page = location) {
  const match = chosenMatch(page);
  return match ? `${path}?match=${encodeURIComponent(match)}` : path;
}
