/** The card on which the page opens: a name and Play, over the match. */

/**
 * @typedef {object} Welcome
 * @property {string} title
 * @property {string} detail
 * @property {string} fault why the visitor could not join
 */

/**
 * @param {import("../store/store.js").Store} store
 * @returns {?Welcome} null while the card is not shown
 */
export function welcome({ mode, wantsToWatch, line, server, refused }) {
  const isInTheWay = line.state === "unsupported" || line.state === "lost" || (line.state === "connecting" && line.message) || line.halted != null;
  if (mode !== "watch" || wantsToWatch || isInTheWay) return null;
  const { name, map, players, max_players: most, motd } = server ?? {};
  const many = players == null ? null : `${players} of ${most} players`;
  return { title: name || "Join the match", detail: [map, many, motd].filter(Boolean).join(" · "), fault: refused };
}
