/** A gamepad as controls, in the standard mapping of browsers. */

/**
 * The dead zone: the share of a stick's way, around its middle, in which the stick does nothing.
 */
const STILL = 0.14;

/**
 * Maximum radians a second by which the right stick turns the view at the default setting of the
 * mouse, and that setting, in radians a pixel.
 */
const TURN = 3.4;
const FIRST_TURN = 0.0022;

/** Buttons of the standard mapping. */
const [A, B, LEFT, RIGHT, TRIGGER, STICK] = [0, 1, 4, 5, 7, 11];

/**
 * A value of a stick without its dead zone, from -1 to 1.
 *
 * @param {number} value
 */
function axis(value) {
  const away = Math.abs(value);
  return away < STILL ? 0 : (Math.sign(value) * (away - STILL)) / (1 - STILL);
}

/** The first gamepad that is connected. */
export class Gamepad {
  /**
   * @param {import("./keys.js").Keys} keys
   * @param {{turn: () => number, outside: () => void}} act other actions: `turn()` returns radians a
   *   pixel, `outside()` changes the view
   */
  constructor(keys, act) {
    this.keys = keys;
    this.act = act;
    /** @type {boolean[]} which buttons were held at the last look */
    this.before = [];
    /** @type {?number} the time of the last look, in seconds */
    this.at = null;
    /** Whether the player has used the gamepad. */
    this.isUsed = false;
  }

  /**
   * Reads the gamepad.
   *
   * @param {number} now seconds
   */
  poll(now) {
    const pad = [...(navigator.getGamepads?.() ?? [])].find((each) => each?.connected && each.mapping === "standard");
    const passed = Math.min(now - (this.at ?? now), 0.1);
    this.at = now;
    if (!pad) return this.release();
    const { keys } = this;
    const [right, back, x, y] = pad.axes.map(axis);
    keys.stick("gamepad", right, -back);
    if (right !== 0 || back !== 0 || x !== 0 || y !== 0) this.isUsed = true;
    if (x !== 0 || y !== 0) {
      const turn = (TURN * passed * this.act.turn()) / FIRST_TURN;
      // Turns are finer near the middle of the stick.
      keys.look(x * Math.abs(x), y * Math.abs(y), turn);
    }
    // An action of the game comes before the usual use of its button: the first call for a button
    // takes the change, and the later calls see none.
    keys.actions.forEach(({ gamepad }, at) => {
      if (gamepad !== null && at >= keys.picks) this.changed(pad, gamepad, (isDown) => keys.hold(at, isDown, `gamepad ${gamepad}`));
    });
    this.changed(pad, A, (isDown) => keys.key("Space", isDown));
    this.changed(pad, B, (isDown) => keys.key("KeyC", isDown));
    this.changed(pad, TRIGGER, (isDown) => keys.fire(isDown, "gamepad"));
    this.changed(pad, LEFT, (isDown) => isDown && keys.change(-1));
    this.changed(pad, RIGHT, (isDown) => isDown && keys.change(1));
    this.changed(pad, STICK, (isDown) => isDown && this.act.outside());
  }

  /** Releases everything, because the gamepad was unplugged. */
  release() {
    this.keys.stick("gamepad", 0, 0);
    if (this.before[A]) this.keys.key("Space", false);
    if (this.before[B]) this.keys.key("KeyC", false);
    if (this.before[TRIGGER]) this.keys.fire(false, "gamepad");
    for (const by of [...this.keys.acting.keys()]) if (by.startsWith("gamepad")) this.keys.acting.delete(by);
    [this.before, this.isUsed] = [[], false];
  }

  /**
   * Calls `act` if a button has changed.
   *
   * @param {globalThis.Gamepad} pad
   * @param {number} button
   * @param {(isDown: boolean) => void} act
   */
  changed(pad, button, act) {
    const isDown = Boolean(pad.buttons[button]?.pressed);
    if (isDown === Boolean(this.before[button])) return;
    this.before[button] = isDown;
    this.isUsed = true;
    act(isDown);
  }
}
