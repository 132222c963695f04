/** The state of the connection: a word at the top, and a panel for trouble. */

const WORDS = { connecting: "Connecting", live: "Live", lost: "Reconnecting", unsupported: "Not possible", replay: "Replay" };

/** Shows a `Status` of `link/keep_watching.js`. */
export class StatusView {
  /** @param {() => void} retry called by the button */
  constructor(retry) {
    this.chip = document.querySelector("#status");
    this.trouble = document.querySelector("#trouble");
    this.message = this.trouble.querySelector("strong");
    this.advice = this.trouble.querySelector("p");
    this.wait = this.trouble.querySelector("output");
    this.button = this.trouble.querySelector("button");
    this.button.addEventListener("click", retry);
    this.status = { state: "connecting" };
    /** Seconds for which the match has stood still, or null. */
    this.halted = null;
  }

  /** Shows another status. */
  show(status) {
    this.status = status;
    this.halted = null;
    this.chip.dataset.state = status.state;
    this.chip.textContent = WORDS[status.state];
    // During another attempt the trouble stays on the screen.
    if (status.state === "connecting") return;
    this.trouble.hidden = status.state === "live" || status.state === "replay";
    this.message.textContent = status.message ?? "";
    this.advice.textContent = status.advice ?? "";
    this.button.hidden = status.state === "unsupported";
  }

  /**
   * Shows that the server answers although the match has stood still for `seconds`. With null it
   * shows that the match goes on.
   */
  halt(seconds) {
    if (this.status.state !== "live" || (seconds === null && this.halted === null)) return;
    this.halted = seconds;
    const isHalted = seconds !== null;
    this.chip.dataset.state = isHalted ? "bad" : "live";
    this.chip.textContent = isHalted ? "Standing still" : WORDS.live;
    this.trouble.hidden = !isHalted;
    this.message.textContent = isHalted ? `The match stands still: the server has finished no tick for ${seconds.toFixed(0)} s.` : "";
    this.advice.textContent = isHalted ? "Its tick thread may hang. The server's log says more; restart the server if it does not recover." : "";
    this.button.hidden = isHalted;
  }

  /** Counts down to the next attempt. */
  advance(now) {
    const { state, retryAt } = this.status;
    const seconds = retryAt ? Math.max(0, Math.ceil((retryAt - now) / 1000)) : 0;
    const text = state === "connecting" ? "Trying now…" : state === "lost" ? `Trying again in ${seconds} s` : "";
    if (this.wait.textContent !== text) this.wait.textContent = text;
  }
}
