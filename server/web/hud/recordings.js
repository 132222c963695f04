/** Opens recordings: a file that is dropped or chosen, or one of the server's. */

import { chosenMatch, ofMatch, onServer } from "../link/match.js";

/** Limit in bytes of a recording that is opened. The simulation needs memory of its own. */
const LARGEST = 64 << 20;

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** The list of recordings. */
export class Recordings {
  /** @param {(bytes: Uint8Array, name: string) => void} open called when a recording was chosen */
  constructor(open) {
    this.open = open;
    this.popover = document.querySelector("#recordings");
    this.list = this.popover.querySelector("ul");
    const file = this.popover.querySelector("input");
    file.addEventListener("change", () => this.read(file.files[0]));
    this.popover.addEventListener("toggle", (event) => event.newState === "open" && this.ask());
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      this.read(event.dataTransfer.files[0]);
    });
  }

  /** Opens a recording of the server by its name. */
  async fetch(name) {
    const answer = await fetch(onServer(`/replays/${encodeURIComponent(name)}`));
    if (!answer.ok) throw new Error(`The server has no recording ${name} in the folder of its --replay-dir.`);
    this.take(new Uint8Array(await answer.arrayBuffer()), name);
  }

  /** Fetches the last half minute of the match, which the server keeps in memory. */
  async lastSeconds() {
    const answer = await fetch(ofMatch("/rewind"), { cache: "no-store" });
    if (!answer.ok) throw new Error((await answer.text()).trim());
    return new Uint8Array(await answer.arrayBuffer());
  }

  async read(file) {
    if (file?.size > LARGEST) this.refuse(`${file.name} has ${megabytes(file.size)}; the page plays recordings of up to ${megabytes(LARGEST)}. For a larger one use \`server replay\`.`);
    else if (file) this.take(new Uint8Array(await file.arrayBuffer()), file.name);
  }

  refuse(why) {
    this.popover.showPopover();
    const line = document.createElement("li");
    line.textContent = why;
    this.list.replaceChildren(line);
  }

  take(bytes, name) {
    this.popover.hidePopover();
    this.open(bytes, name);
  }

  async ask() {
    let found = [];
    try {
      const answer = await fetch(onServer("/replays"), { cache: "no-store" });
      if (answer.ok) found = await answer.json();
    } catch {
      // The failure is ignored: if the server is gone, a file can still be opened.
    }
    this.list.replaceChildren(
      ...found.map(({ name, bytes }) => {
        const line = document.createElement("li");
        const link = document.createElement("a");
        const match = chosenMatch();
        link.href = `?replay=${encodeURIComponent(name)}${match && `&match=${encodeURIComponent(match)}`}`;
        link.textContent = name;
        line.append(link, ` ${megabytes(bytes)}`);
        return line;
      }),
    );
  }
}
