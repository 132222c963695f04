/** The score table. */

import { css, hueOf, slotColour } from "../draw/colours.js";
import { find } from "./find.js";

/** @typedef {import("../store/roster.js").Player} Player */

/**
 * The parts of a player's row.
 *
 * @typedef {object} Row
 * @property {HTMLTableRowElement} line
 * @property {HTMLElement} mark in the player's colour
 * @property {HTMLElement} name
 * @property {HTMLTableCellElement} health
 * @property {HTMLElement} bar
 * @property {HTMLTableCellElement} score
 * @property {HTMLTableCellElement} deaths
 */

/**
 * @param {HTMLTableRowElement} row
 * @param {string} className
 */
function cell(row, className) {
  return Object.assign(row.insertCell(), { className });
}

/** The table of players. */
export class ScoreView {
  /** @param {(slot: number) => void} follow called when the viewer chooses a player */
  constructor(follow) {
    this.follow = follow;
    this.table = find("#score table", HTMLTableElement);
    this.body = this.table.tBodies[0];
    this.count = find("#score summary span", HTMLElement);
    /** @type {Map<number, Row>} by slot */
    this.rows = new Map();
  }

  /**
   * Shows everybody, the best first.
   *
   * @param {import("../store/roster.js").Roster} roster
   * @param {?number} followed slot of the followed player, or of the page's own player
   */
  show(roster, followed) {
    const ranking = roster.ranking();
    this.table.classList.toggle("counted", ranking.some(({ deaths }) => deaths !== null));
    this.count.textContent = String(ranking.length);
    for (const [slot, row] of this.rows) {
      if (!roster.players.has(slot)) {
        row.line.remove();
        this.rows.delete(slot);
      }
    }
    ranking.forEach((player, rank) => {
      const row = this.row(player);
      if (this.body.rows[rank] !== row.line) this.body.insertBefore(row.line, this.body.rows[rank] ?? null);
      this.fill(row, player, player.slot === followed);
    });
  }

  /**
   * The row of a player, which is made if there is none.
   *
   * @param {Player} player
   */
  row({ slot }) {
    const known = this.rows.get(slot);
    if (known) return known;
    const line = document.createElement("tr");
    line.dataset.slot = String(slot);
    line.tabIndex = 0;
    line.addEventListener("click", () => this.follow(slot));
    line.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.follow(slot);
    });
    const [mark, name, bar] = ["i", "span", "b"].map((tag) => document.createElement(tag));
    cell(line, "name").append(mark, name);
    const health = cell(line, "health");
    health.append(bar);
    const row = { line, mark, name, health, bar, score: cell(line, "number"), deaths: cell(line, "deaths number") };
    this.rows.set(slot, row);
    return row;
  }

  /**
   * Writes what has changed.
   *
   * @param {Row} row
   * @param {Player} player
   * @param {boolean} isFollowed
   */
  fill(row, { slot, name, health, score, deaths }, isFollowed) {
    const state = [name, health, score, deaths, isFollowed, hueOf(slot)].join("\t");
    if (row.line.dataset.state === state) return;
    row.line.dataset.state = state;
    row.line.classList.toggle("followed", isFollowed);
    row.line.classList.toggle("dead", health === 0);
    row.mark.style.background = css(slotColour(slot));
    row.name.textContent = name;
    row.bar.style.inlineSize = `${Math.min(100, health)}%`;
    row.bar.dataset.level = health > 60 ? "high" : health > 30 ? "middle" : "low";
    row.health.title = `${health} health`;
    row.score.textContent = String(score);
    row.deaths.textContent = String(deaths ?? "");
  }
}
