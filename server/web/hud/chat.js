/**
 * The line of chat. A line that cannot be sent stays in the field, with the reason below it.
 */

import { commands, decide, Pace } from "../tell/typed.js";
import { find } from "./find.js";
import { put } from "./put.js";

/** The field in which a player types. */
export class Chat {
  /**
   * @param {object} player
   * @param {(line: string) => (string | null)} player.say sends a line to all; returns the fault
   * @param {(act: string, rest: string) => (string | null)} player.act carries a command out;
   *   returns the reason if it fails
   * @param {() => string[]} player.votes that the server allows
   * @param {() => void} player.done called when the field is closed
   */
  constructor(player) {
    this.player = player;
    this.box = find("#chat", HTMLElement);
    this.field = find("input", HTMLInputElement, this.box);
    this.note = find("p", HTMLElement, this.box);
    this.pace = new Pace();
  }

  /** Opens the field. */
  open() {
    this.box.hidden = false;
    this.field.focus();
  }

  /** Closes the field and forgets what is in it. */
  close() {
    this.box.hidden = true;
    this.field.value = "";
    this.tell("");
    this.player.done();
  }

  /**
   * Handles a key in the field.
   *
   * @param {KeyboardEvent} event
   */
  key(event) {
    event.stopPropagation();
    // An input method uses this key to end a word.
    if (event.isComposing) return;
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter") this.send(this.field.value.trim());
  }

  /** Shows the commands while one is typed. */
  typed() {
    const { value } = this.field;
    this.tell(value.startsWith("/") ? commands(this.player.votes(), value).join("\n") : "");
  }

  /**
   * Sends a line or carries a command out, and closes the field if that worked.
   *
   * @param {string} line
   */
  send(line) {
    if (!line) return this.close();
    const decision = decide(line, this.player.votes());
    const refused = "refused" in decision ? decision.refused : "act" in decision ? this.player.act(decision.act, decision.rest) : this.say(decision.say);
    if (refused) this.tell(refused, true);
    else this.close();
  }

  /**
   * Sends a line to all, unless it comes too fast. Returns the reason if it is not sent.
   *
   * @param {string} line
   */
  say(line) {
    return this.pace.take(line, performance.now()) ?? this.player.say(line);
  }

  /** @param {string} text */
  tell(text, isFault = false) {
    this.note.hidden = text === "";
    this.note.classList.toggle("fault", isFault);
    put(this.note, text);
  }
}
