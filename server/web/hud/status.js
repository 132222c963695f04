/** How the connection stands: a word at the top, and trouble said plainly. */

const WORDS = { connecting: "Connecting", live: "Live", lost: "Reconnecting", unsupported: "Not possible" };

/** Shows a `Status` of `link/keep_watching.js`. */
export class StatusView {
  /** @param {() => void} retry what the button does */
  constructor(retry) {
    this.chip = document.querySelector("#status");
    this.trouble = document.querySelector("#trouble");
    this.message = this.trouble.querySelector("strong");
    this.advice = this.trouble.querySelector("p");
    this.wait = this.trouble.querySelector("output");
    this.button = this.trouble.querySelector("button");
    this.button.addEventListener("click", retry);
    this.status = { state: "connecting" };
  }

  /** Shows another status. */
  show(status) {
    this.status = status;
    this.chip.dataset.state = status.state;
    this.chip.textContent = WORDS[status.state];
    // While it is tried again, what was wrong stays on the screen.
    if (status.state === "connecting") return;
    this.trouble.hidden = status.state === "live";
    this.message.textContent = status.message ?? "";
    this.advice.textContent = status.advice ?? "";
    this.button.hidden = status.state === "unsupported";
  }

  /** Counts down to the next attempt. */
  advance(now) {
    const { state, retryAt } = this.status;
    const seconds = retryAt ? Math.max(0, Math.ceil((retryAt - now) / 1000)) : 0;
    const text = state === "connecting" ? "Trying now…" : state === "lost" ? `Trying again in ${seconds} s` : "";
    if (this.wait.textContent !== text) this.wait.textContent = text;
  }
}
