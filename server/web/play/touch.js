/** Touch controls: the left half of the picture moves, the right half looks. */

/** Pixels from the middle of the stick at which its deflection is full. */
const REACH = 56;

/** Pixels around the middle of the stick in which it does nothing. */
const STILL = 8;

/**
 * Factor by which a pixel of a finger's motion turns the view more than a pixel of the mouse's,
 * because touch screens are small.
 */
const QUICK = 2.2;

/**
 * @typedef {object} Finger on the picture
 * @property {boolean} moves whether it moves the player
 * @property {number[]} from where it came down
 * @property {number[]} last where it was last
 *
 * @typedef {object} Actions the actions that are not keys
 * @property {() => number} turn returns the radians by which a pixel turns the view
 * @property {() => void} chat
 * @property {() => void} outside
 */

/** The controls of a touch screen, shown once a finger has touched it. */
export class Touch {
  /**
   * @param {HTMLElement} panel of the player
   * @param {HTMLElement} picture
   * @param {import("./keys.js").Keys} keys
   * @param {Actions} act
   * @param {AbortSignal} signal removes the handlers
   */
  constructor(panel, picture, keys, act, signal) {
    this.keys = keys;
    this.act = act;
    this.controls = /** @type {HTMLElement} */ (panel.querySelector(".touch"));
    this.own = /** @type {HTMLElement} */ (panel.querySelector(".own"));
    this.base = /** @type {HTMLElement} */ (panel.querySelector(".stick"));
    this.knob = /** @type {HTMLElement} */ (this.base.firstElementChild);
    /** @type {Map<number, Finger>} the fingers on the picture, by number */
    this.fingers = new Map();
    /** Whether a finger has turned the view. */
    this.hasLooked = false;
    this.controls.hidden = !matchMedia("(pointer: coarse)").matches;
    /** @type {(target: EventTarget, name: string, heard: (event: PointerEvent) => void) => void} */
    const hear = (target, name, heard) => {
      const touched = (/** @type {Event} */ event) => event instanceof PointerEvent && event.pointerType === "touch" && heard(event);
      target.addEventListener(name, touched, { signal, capture: true });
    };
    hear(window, "pointerdown", () => (this.controls.hidden = false));
    hear(picture, "pointerdown", (event) => this.down(event));
    hear(picture, "pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) hear(picture, end, (event) => this.up(event));
    this.button("fire", (isDown) => keys.fire(isDown, "finger"), signal);
    this.button("jump", (isDown) => keys.key("Space", isDown), signal);
    this.button("crouch", (isDown) => isDown && this.crouch(), signal);
    this.button("weapon", (isDown) => isDown && keys.change(1), signal);
    this.button("chat", (isDown) => !isDown && act.chat(), signal);
    this.button("outside", (isDown) => isDown && act.outside(), signal);
  }

  /**
   * Shows buttons for the actions of the game.
   *
   * @param {import("./keys.js").Keys} keys
   */
  use({ actions, picks }) {
    const fire = this.named("fire");
    fire.textContent = picks > 0 ? "Fire" : (actions[0]?.label ?? "");
    fire.hidden = picks === 0 && !actions[0]?.touch;
    this.named("weapon").hidden = picks === 0;
    const own = actions.map((action, at) => ({ ...action, at })).slice(Math.max(picks, 1)).filter(({ touch }) => touch);
    this.own.replaceChildren(...own.map(({ label, at }) => this.made(label, at)));
  }

  /**
   * A button that does an action.
   *
   * @param {string} label
   * @param {number} at the number of the action
   */
  made(label, at) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: label });
    this.press(button, (isDown) => this.keys.hold(at, isDown, `finger ${at}`));
    return button;
  }

  /** Whether touch controls are shown. */
  get isUsed() {
    return !this.controls.hidden;
  }

  /**
   * @param {string} name
   * @param {(isDown: boolean) => void} act
   * @param {AbortSignal} signal
   */
  button(name, act, signal) {
    this.press(this.named(name), act, signal);
  }

  /**
   * @param {HTMLButtonElement} button
   * @param {(isDown: boolean) => void} act
   * @param {AbortSignal} [signal]
   */
  press(button, act, signal) {
    const press = (/** @type {boolean} */ isDown) => (/** @type {PointerEvent} */ event) => {
      event.preventDefault();
      if (isDown) button.setPointerCapture(event.pointerId);
      button.classList.toggle("down", isDown);
      act(isDown);
    };
    button.addEventListener("pointerdown", press(true), { signal });
    button.addEventListener("pointerup", press(false), { signal });
    button.addEventListener("pointercancel", press(false), { signal });
  }

  /** @param {string} name of a button */
  named(name) {
    return /** @type {HTMLButtonElement} */ (this.controls.querySelector(`[name=${name}]`));
  }

  /** Crouches until the button is pressed again. */
  crouch() {
    const isDown = !this.keys.held.has("KeyC");
    this.keys.key("KeyC", isDown);
    this.named("crouch").classList.toggle("held", isDown);
  }

  /** @param {PointerEvent} event */
  down(event) {
    event.stopImmediatePropagation();
    const { clientX: x, clientY: y, pointerId } = event;
    const moves = x < innerWidth / 2 && ![...this.fingers.values()].some((finger) => finger.moves);
    this.fingers.set(pointerId, { moves, from: [x, y], last: [x, y] });
    if (moves) this.show([x, y], [0, 0]);
    this.keys.used();
  }

  /** @param {PointerEvent} event */
  move(event) {
    const finger = this.fingers.get(event.pointerId);
    if (!finger) return;
    event.stopImmediatePropagation();
    const at = [event.clientX, event.clientY];
    if (finger.moves) {
      const out = [at[0] - finger.from[0], at[1] - finger.from[1]];
      const length = Math.hypot(...out);
      const share = length < STILL ? 0 : Math.min(length, REACH) / REACH / length;
      this.keys.stick("finger", out[0] * share, -out[1] * share);
      this.show(finger.from, [out[0] * share * REACH, out[1] * share * REACH]);
    } else {
      this.hasLooked = true;
      this.keys.look(at[0] - finger.last[0], at[1] - finger.last[1], this.act.turn() * QUICK);
    }
    finger.last = at;
  }

  /** @param {PointerEvent} event */
  up(event) {
    const finger = this.fingers.get(event.pointerId);
    if (!finger) return;
    event.stopImmediatePropagation();
    this.fingers.delete(event.pointerId);
    if (!finger.moves) return;
    this.keys.stick("finger", 0, 0);
    this.base.removeAttribute("style");
    this.knob.removeAttribute("style");
  }

  /**
   * Shows the stick where the finger came down, and its deflection.
   *
   * @param {number[]} place
   * @param {number[]} deflection in pixels
   */
  show([x, y], [right, down]) {
    this.base.style.inset = `${y - REACH}px auto auto ${x - REACH}px`;
    this.knob.style.translate = `${right}px ${down}px`;
  }
}
