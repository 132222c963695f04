/**
 * Addresses on the server, and the match of the page, which `?match=` in the page's address names
 * if the server has several.
 */

/**
 * The address below which the server's paths are: the part before `web/` in the address of this
 * module. A proxy may offer the server below any path, and a worker has another base than its page.
 */
const ROOT = import.meta.url.slice(0, import.meta.url.lastIndexOf("/web/") + 1);

/**
 * @param {string} path of the server, beginning with `/`
 * @returns {string} its whole address
 */
export function onServer(path) {
  return ROOT + path.slice(1);
}

/**
 * @param {{search: string}} [page] address of the page
 * @returns {string} the name of the match, empty for the server's first
 */
export function chosenMatch(page = location) {
  return new URLSearchParams(page.search).get("match") ?? "";
}

/**
 * @param {string} address on the server, without a match
 * @param {{search: string}} [page] address of the page
 * @returns {string} the address for the match of the page
 */
export function withMatch(address, page = location) {
  const match = chosenMatch(page);
  return match ? `${address}?match=${encodeURIComponent(match)}` : address;
}

/**
 * @param {string} path of the server, for its first match
 * @param {{search: string}} [page] address of the page
 * @returns {string} its whole address for the match of the page
 */
export function ofMatch(path, page = location) {
  return withMatch(onServer(path), page);
}
