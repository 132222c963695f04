/** The map, the name of the server and its message of the day. */

/** The name of a server that has none of its own. */
const NAMELESS = "Arena";

/**
 * Shows the map as the heading of the page, and the server's name after it in the title. The name
 * and the message appear when the pointer rests on the heading. Newcomers also read them in the
 * chat.
 *
 * @param {{map: string, name?: ?string, motd?: ?string}} info the server's `/info`
 * @param {Document} [page]
 */
export function showTitle({ map, name, motd }, page = document) {
  const heading = /** @type {HTMLElement} */ (page.querySelector("h1"));
  heading.textContent = map;
  heading.title = [name, motd].filter(Boolean).join(": ");
  page.title = `${map} – ${name || NAMELESS}`;
}
