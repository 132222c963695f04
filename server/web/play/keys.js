/** What a player holds down and where they look, as the client library wants it. */

/** Bits of `Buttons` (PROTOCOL.md, "Commands"). */
const [JUMP, CROUCH, WALK] = [1, 2, 8];

/** The weapons, each with its key, its bit and what it is called. */
export const WEAPONS = [
  { key: "Digit1", bit: 4, name: "Ray" },
  { key: "Digit2", bit: 16, name: "Rocket" },
  { key: "Digit3", bit: 32, name: "Grenade" },
];

/** Keys by their place on the keyboard, whatever letters are on them. */
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
const BITS = { Space: JUMP, KeyC: CROUCH, ShiftLeft: WALK };

/** The steepest look, in radians. */
const STEEPEST = Math.PI / 2 - 0.01;

const STEPS = 65536 / (2 * Math.PI);

/** The keys and the mouse of one player. */
export class Keys {
  constructor() {
    this.yaw = 0;
    this.pitch = 0;
    this.weapon = 0;
    this.held = new Set();
    /** Bits pressed since the last command, so that a short press is not lost. */
    this.pressed = 0;
    this.fires = false;
  }

  /** A key goes down or up; false if it means nothing here. */
  key(code, isDown) {
    const weapon = WEAPONS.findIndex(({ key }) => key === code);
    if (weapon >= 0) {
      if (isDown) this.weapon = weapon;
      return true;
    }
    if (!(code in MOVES) && !(code in BITS)) return false;
    if (isDown) {
      this.held.add(code);
      this.pressed |= BITS[code] ?? 0;
    } else {
      this.held.delete(code);
    }
    return true;
  }

  /** The trigger is pulled or let go. */
  fire(isDown) {
    this.fires = isDown;
    if (isDown) this.pressed |= WEAPONS[this.weapon].bit;
  }

  /** The next weapon, or the one before. */
  change(step) {
    this.weapon = (this.weapon + step + WEAPONS.length) % WEAPONS.length;
  }

  /** The mouse moves by so many pixels, each of which turns by so many radians. */
  look(x, y, turn) {
    this.yaw -= x * turn;
    this.pitch = Math.min(Math.max(this.pitch - y * turn, -STEEPEST), STEEPEST);
  }

  /** Nothing is held any longer. */
  release() {
    this.held.clear();
    this.fires = false;
  }

  /** The input of the next tick. */
  take() {
    const input = { forward: 0, right: 0, yaw: 0, pitch: Math.round(this.pitch * STEPS), buttons: this.pressed };
    for (const code of this.held) {
      const [axis, value] = MOVES[code] ?? [];
      if (axis) input[axis] = Math.min(Math.max(input[axis] + value, -127), 127);
      input.buttons |= BITS[code] ?? 0;
    }
    if (this.fires) input.buttons |= WEAPONS[this.weapon].bit;
    input.yaw = ((Math.round(this.yaw * STEPS) % 65536) + 65536) % 65536;
    this.pressed = 0;
    return input;
  }
}
