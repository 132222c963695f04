/** The note for a player who has chosen another name while playing. */

/**
 * @param {import("../store/store.js").Store} store
 * @returns {string} empty if the player has the chosen name
 */
export function renaming({ own, chosenName }) {
  if (!own || own.name === chosenName) return "";
  return `You are ${own.name} until you join again. Then your score begins at 0.`;
}
