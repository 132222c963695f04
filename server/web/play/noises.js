/**
 * What a match sounds like: steps, jumps and landings of those who walk, shots as they
 * leave, told from what is shown from one picture to the next.
 */

import { PROJECTILES } from "../draw/colours.js";

/** Units between two steps, and from the ears within which they are heard. */
const STRIDE = 92;
const HEARD = 900;

/** Units a second that a player moves up or down who is off the ground. */
const OFF_GROUND = 60;

/** Units a second up with which a jump begins, and down with which a fall ends heard. */
const JUMPS = 150;
const LANDS = -180;

/** Units between two pictures that are no step but a new place. */
const ELSEWHERE = 100;

/** Listens to what moves. */
export class Noises {
  /** @param {import("./sound.js").Sound} sound */
  constructor(sound) {
    this.sound = sound;
    /** Where each was, by slot. */
    this.before = new Map();
  }

  /** Lets be heard what happened since the last picture. */
  hear(shown, ear) {
    const now = new Map();
    for (const entity of shown) {
      const { slot, generation, isPlayer, model, position } = entity;
      const before = this.before.get(slot);
      const known = before?.generation === generation ? before : null;
      const heard = Math.hypot(position[0] - ear[0], position[1] - ear[1], position[2] - ear[2]) < HEARD;
      if (!isPlayer && PROJECTILES.has(model) && !known && this.before.size > 0) this.sound.play("launch", position);
      const walked = isPlayer && model === null && heard ? this.walk(entity, known) : 0;
      now.set(slot, { generation, position, up: entity.velocity[2], walked });
    }
    this.before = now;
  }

  /** Units that a player has walked since the last step. */
  walk({ position, velocity }, before) {
    if (!before) return 0;
    const [x, y] = [position[0] - before.position[0], position[1] - before.position[1]];
    const moved = Math.hypot(x, y);
    if (moved > ELSEWHERE) return 0;
    if (before.up < JUMPS && velocity[2] >= JUMPS) this.sound.play("jump", position);
    if (before.up <= LANDS && velocity[2] > -OFF_GROUND) this.sound.play("land", position);
    if (Math.abs(velocity[2]) > OFF_GROUND) return before.walked;
    if (before.walked + moved < STRIDE) return before.walked + moved;
    this.sound.play("step", position);
    return 0;
  }
}
