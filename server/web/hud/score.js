/** The score table. */

import { css, slotColour } from "../draw/colours.js";

function cell(row, className, text) {
  const made = row.insertCell();
  made.className = className;
  made.textContent = text;
  return made;
}

/** The table of players. */
export class ScoreView {
  /** @param {(slot: number) => void} follow called when the viewer chooses a player */
  constructor(follow) {
    this.table = document.querySelector("#score table");
    this.body = this.table.tBodies[0];
    this.count = document.querySelector("#score summary span");
    this.rows = new Map();
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row) follow(Number(row.dataset.slot));
    });
    this.body.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        event.target.click();
      }
    });
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
        row.remove();
        this.rows.delete(slot);
      }
    }
    ranking.forEach((player, rank) => {
      const row = this.row(player);
      if (this.body.rows[rank] !== row) this.body.insertBefore(row, this.body.rows[rank] ?? null);
      this.fill(row, player, player.slot === followed);
    });
  }

  row({ slot }) {
    if (!this.rows.has(slot)) {
      const row = document.createElement("tr");
      row.dataset.slot = String(slot);
      row.tabIndex = 0;
      cell(row, "name", "").append(document.createElement("i"), document.createElement("span"));
      const bar = document.createElement("b");
      cell(row, "health", "").append(bar);
      cell(row, "number", "");
      cell(row, "deaths number", "");
      this.rows.set(slot, row);
    }
    return this.rows.get(slot);
  }

  fill(row, { slot, name, health, score, deaths }, isFollowed) {
    const state = [name, health, score, deaths, isFollowed].join("\t");
    if (row.dataset.state === state) return;
    row.dataset.state = state;
    row.classList.toggle("followed", isFollowed);
    row.classList.toggle("dead", health === 0);
    const [nameCell, healthCell, scoreCell, deathsCell] = row.cells;
    nameCell.firstChild.style.background = css(slotColour(slot));
    nameCell.lastChild.textContent = name;
    healthCell.firstChild.style.inlineSize = `${Math.min(100, health)}%`;
    healthCell.firstChild.dataset.level = health > 60 ? "high" : health > 30 ? "middle" : "low";
    healthCell.title = `${health} health`;
    scoreCell.textContent = String(score);
    deathsCell.textContent = String(deaths ?? "");
  }
}
