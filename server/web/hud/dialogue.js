/** One question, or one message, that waits for an answer. The match goes on behind it. */

/** The dialogue of the page. A new question replaces an open one, and answers the open one no. */
export class Dialogue {
  constructor() {
    this.box = /** @type {HTMLDialogElement} */ (document.querySelector("#dialogue"));
    this.title = /** @type {HTMLElement} */ (this.box.querySelector("h2"));
    this.text = /** @type {HTMLElement} */ (this.box.querySelector("p"));
    const [no, yes] = this.box.querySelectorAll("button");
    this.buttons = { yes, no };
    /** @type {((isYes: boolean) => void) | null} */
    this.answer = null;
    this.box.addEventListener("close", () => {
      this.answer?.(this.box.returnValue === "yes");
      this.answer = null;
    });
  }

  /**
   * Asks a question.
   *
   * @param {string} question
   * @param {string} detail what follows from a yes
   * @param {{yes: string, no: string}} answers the labels of the buttons
   * @returns {Promise<boolean>} whether the answer is yes
   */
  ask(question, detail, answers) {
    return this.open(question, detail, answers);
  }

  /**
   * Tells something that must not be missed.
   *
   * @param {string} message
   * @param {string} detail
   */
  tell(message, detail) {
    this.open(message, detail, { yes: "", no: "Close" });
  }

  /**
   * @param {string} title
   * @param {string} text
   * @param {{yes: string, no: string}} answers
   * @returns {Promise<boolean>}
   */
  open(title, text, { yes, no }) {
    this.answer?.(false);
    // The mouse is needed for the answer.
    document.exitPointerLock();
    [this.title.textContent, this.text.textContent] = [title, text];
    [this.buttons.yes.textContent, this.buttons.no.textContent] = [yes, no];
    this.buttons.yes.hidden = yes === "";
    this.box.returnValue = "no";
    if (!this.box.open) this.box.showModal();
    return new Promise((resolve) => (this.answer = resolve));
  }
}
