/**
 * The keys that a player holds and the direction of the view, in the form that the client library
 * takes.
 */

/** Bits of `Buttons` (PROTOCOL.md, "Commands"). */
const [JUMP, CROUCH, WALK] = [1, 2, 8];

/** The bits of the weapons of the arena game, which are its first actions. */
export const WEAPONS = [4, 16, 32];

/**
 * The bit of the action with this number.
 *
 * @param {number} number
 */
export const bitOf = (number) => WEAPONS[number] ?? 1 << (number + 4);

/** Keys by their position on the keyboard, whatever letters are on them. */
/** @type {Record<string, ["forward" | "right", number]>} */
const MOVES = {
  KeyW: ["forward", 127],
  ArrowUp: ["forward", 127],
  KeyS: ["forward", -127],
  ArrowDown: ["forward", -127],
  KeyD: ["right", 127],
  ArrowRight: ["right", 127],
  KeyA: ["right", -127],
  ArrowLeft: ["right", -127],
};
/** @type {Record<string, number>} */
const BITS = { Space: JUMP, KeyC: CROUCH, ShiftLeft: WALK };

/**
 * Whether a key moves the player.
 *
 * @param {string} code
 */
export const moves = (code) => code in MOVES || code in BITS;

/** The steepest look, in radians. */
const STEEPEST = Math.PI / 2 - 0.01;

const STEPS = 65536 / (2 * Math.PI);

/** The keys, mouse, sticks and fingers of one player. */
export class Keys {
  constructor() {
    this.yaw = 0;
    this.pitch = 0;
    /** @type {import("../wire/fields.js").Action[]} of the game */
    this.actions = [];
    /** How many of the first actions are weapons, of which the player picks one for the trigger. */
    this.picks = WEAPONS.length;
    /** @type {Map<string, number>} numbers of actions by the codes of their keys */
    this.codes = new Map();
    /** The action that the trigger does. */
    this.weapon = 0;
    /** @type {Map<string, number>} numbers of the actions that are held, by key or button */
    this.acting = new Map();
    this.held = new Set();
    /** Bits pressed since the last command, so that a short press is not lost. */
    this.pressed = 0;
    /**
     * The direction of the view when the trigger was pulled, until a command has taken it.
     *
     * @type {?{yaw: number, pitch: number}}
     */
    this.aim = null;
    /** The devices whose trigger is held: mouse, finger, gamepad. */
    this.triggers = new Set();
    /** Motion by sticks, each from -1 to 1, by device. */
    this.sticks = new Map();
    /** The time of the last input, in milliseconds. */
    this.usedAt = performance.now();
  }

  /**
   * Takes the actions of a game.
   *
   * @param {import("../wire/fields.js").Action[]} actions with the keys that the player has chosen
   * @param {boolean} hasWeapons whether the player picks one of the first three for the trigger
   */
  use(actions, hasWeapons) {
    this.actions = actions;
    this.picks = hasWeapons ? WEAPONS.length : 0;
    this.weapon = Math.min(this.weapon, Math.max(this.picks - 1, 0));
    this.codes = new Map(actions.flatMap(({ keys }, at) => keys.map((code) => [code, at])));
    this.acting.clear();
  }

  /** Notes an input, which shows that the player is there. */
  used() {
    this.usedAt = performance.now();
  }

  /**
   * Notes that a key goes down or up. Returns false if the key has no meaning here.
   *
   * @param {string} code
   * @param {boolean} isDown
   */
  key(code, isDown) {
    this.used();
    const at = this.codes.get(code);
    if (at !== undefined && at < this.picks) {
      if (isDown) this.weapon = at;
      return true;
    }
    if (at !== undefined) {
      this.hold(at, isDown, code);
      return true;
    }
    if (!moves(code)) return false;
    if (isDown) {
      this.held.add(code);
      this.pressed |= BITS[code] ?? 0;
    } else {
      this.held.delete(code);
    }
    return true;
  }

  /**
   * Notes that a button of the mouse goes down or up. The left one pulls the trigger if no action has it.
   *
   * @param {number} button
   * @param {boolean} isDown
   */
  mouse(button, isDown) {
    if (!this.key(`Mouse${button}`, isDown) && button === 0) this.fire(isDown);
  }

  /**
   * Notes that an action begins or ends.
   *
   * @param {number} at the number of the action
   * @param {boolean} isDown
   * @param {string} by the key or button
   */
  hold(at, isDown, by) {
    this.used();
    if (isDown) this.acting.set(by, at);
    else this.acting.delete(by);
    if (isDown) this.press(bitOf(at));
  }

  /** @param {number} bit of an action that begins */
  press(bit) {
    this.pressed |= bit;
    this.aim ??= { yaw: this.yaw, pitch: this.pitch };
  }

  /**
   * Notes that the trigger of a device is pulled or released.
   *
   * @param {boolean} isDown
   * @param {string} [by] the device
   */
  fire(isDown, by = "mouse") {
    this.used();
    if (isDown) this.triggers.add(by);
    else this.triggers.delete(by);
    if (isDown) this.press(bitOf(this.weapon));
  }

  /**
   * Notes how far a stick is moved to the right and forward. Both are zero in its middle.
   *
   * @param {string} by the device
   * @param {number} right
   * @param {number} forward
   */
  stick(by, right, forward) {
    if (right === 0 && forward === 0) {
      this.sticks.delete(by);
      return;
    }
    this.used();
    this.sticks.set(by, { right, forward });
  }

  /**
   * Changes to the next weapon, or to the one before.
   *
   * @param {number} step 1 or -1
   */
  change(step) {
    this.used();
    if (this.picks > 0) this.weapon = (this.weapon + step + this.picks) % this.picks;
  }

  /**
   * Turns the view by a motion of the mouse or a finger, in pixels. Each pixel turns it by `turn`
   * radians.
   *
   * @param {number} x
   * @param {number} y
   * @param {number} turn
   */
  look(x, y, turn) {
    this.used();
    this.yaw -= x * turn;
    this.pitch = Math.min(Math.max(this.pitch - y * turn, -STEEPEST), STEEPEST);
  }

  /** Releases everything. */
  release() {
    this.held.clear();
    this.triggers.clear();
    this.acting.clear();
    this.sticks.clear();
  }

  /** The input of the next tick. `sent()` is called after a tick has taken it. */
  input() {
    // A shot goes where the player aimed at the click, however fast the mouse goes on.
    const { yaw, pitch } = this.aim ?? this;
    const input = { forward: 0, right: 0, yaw: 0, pitch: Math.round(pitch * STEPS), buttons: this.pressed };
    const move = (/** @type {"forward" | "right"} */ axis, /** @type {number} */ value) => {
      input[axis] = Math.min(Math.max(input[axis] + Math.round(value), -127), 127);
    };
    for (const code of this.held) {
      if (code in MOVES) move(...MOVES[code]);
      input.buttons |= BITS[code] ?? 0;
    }
    for (const { right, forward } of this.sticks.values()) {
      move("right", right * 127);
      move("forward", forward * 127);
    }
    for (const at of this.acting.values()) input.buttons |= bitOf(at);
    if (this.triggers.size > 0) input.buttons |= bitOf(this.weapon);
    input.yaw = ((Math.round(yaw * STEPS) % 65536) + 65536) % 65536;
    return input;
  }

  /** Notes that a tick has taken the input, so that short presses end. */
  sent() {
    this.pressed = 0;
    this.aim = null;
  }
}
