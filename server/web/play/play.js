/**
 * Playing in the page: who plays, what is held down, what is seen, and the few things that
 * lie over the picture meanwhile.
 */

import { add } from "../draw/algebra.js";
import { Keys, WEAPONS } from "./keys.js";
import { Player } from "./player.js";

/** Units from the middle of a player to the eyes, standing and crouching. */
const EYES = { standing: 22, crouching: 10 };

/** Units behind and above the eyes in the third person. */
const BEHIND = 130;

/** Seconds between two looks at who is in sight. */
const LOOK_EVERY = 0.1;

/** One player and their keys. */
export class Play {
  /**
   * @param {string} name
   * @param {import("../hud/settings.js").Settings} settings
   * @param {HTMLCanvasElement} picture
   * @param {import("../match/roster.js").Roster} roster
   * @param {object} listener as `Player` wants it
   */
  constructor(name, settings, picture, roster, listener) {
    Object.assign(this, { settings, picture });
    this.roster = roster;
    this.keys = new Keys();
    this.player = new Player(name, listener);
    this.thirdPerson = false;
    /** Slots of the players who are in sight: others have no name on the screen. */
    this.inSight = new Set();
    this.lookedAt = 0;
    this.panel = document.querySelector("#play");
    this.pain = this.panel.querySelector("b");
    this.health = this.panel.querySelector("[name=health]");
    this.weapon = this.panel.querySelector("[name=weapon]");
    this.word = this.panel.querySelector("p");
    this.chat = this.panel.querySelector("input");
    this.panel.hidden = false;
    document.body.classList.add("play");
    this.listening = new AbortController();
    const hear = (target, event, act, capture = false) => target.addEventListener(event, act, { signal: this.listening.signal, capture });
    // Before the keys of one who looks on.
    hear(window, "keydown", (event) => this.key(event, true), true);
    hear(window, "keyup", (event) => this.key(event, false), true);
    hear(window, "blur", () => this.keys.release());
    hear(picture, "pointerdown", (event) => this.pointer(event, true), true);
    hear(picture, "pointerup", (event) => this.pointer(event, false), true);
    hear(picture, "wheel", (event) => this.isLocked && (event.stopImmediatePropagation(), this.keys.change(Math.sign(event.deltaY))), true);
    hear(document, "mousemove", (event) => this.isLocked && this.keys.look(event.movementX, event.movementY, this.settings.turn));
    hear(document, "pointerlockchange", () => this.isLocked || this.keys.release());
    hear(window, "pagehide", () => this.player.leave());
    this.player.run();
  }

  /** Whether the mouse is the player's. */
  get isLocked() {
    return document.pointerLockElement === this.picture;
  }

  pointer(event, isDown) {
    event.stopImmediatePropagation();
    if (!this.isLocked) {
      // The browser may refuse, right after one has left: then the next click does it.
      if (isDown) Promise.resolve(this.picture.requestPointerLock()).catch(() => {});
      return;
    }
    if (event.button === 0) this.keys.fire(isDown);
  }

  key(event, isDown) {
    if (event.target === this.chat) return this.type(event, isDown);
    if (event.metaKey || event.altKey || event.target.type === "text") return;
    event.stopImmediatePropagation();
    if (isDown && event.code === "Enter") {
      event.preventDefault();
      this.keys.release();
      this.chat.hidden = false;
      this.chat.focus();
    } else if (isDown && event.code === "KeyV") {
      this.thirdPerson = !this.thirdPerson;
    } else if (this.keys.key(event.code, isDown)) {
      event.preventDefault();
    }
  }

  type(event, isDown) {
    event.stopPropagation();
    if (!isDown || (event.key !== "Enter" && event.key !== "Escape")) return;
    const line = this.chat.value.trim();
    if (event.key === "Enter" && line) this.player.engine.say(line);
    this.chat.value = "";
    this.chat.hidden = true;
    this.picture.focus();
  }

  /**
   * Plays on.
   *
   * @param {number} now seconds
   * @returns {?{tick: number, shown: object[]}} what is to be drawn
   */
  advance(now) {
    const { player, keys } = this;
    if (!player.isJoined || player.isOver) return null;
    player.input = keys.take();
    player.play();
    if (player.isOver) return null;
    for (const event of player.engine.matchEvents()) this.roster.happen(event, now);
    return player.view();
  }

  /** The slot of the own player, or null. */
  get slot() {
    return this.player.engine?.slot ?? null;
  }

  /** The slot of the own body if it is seen from within: it is not drawn then. */
  get hidden() {
    return this.thirdPerson ? null : this.slot;
  }

  /**
   * What may have a name on the screen: names are not seen through walls.
   *
   * @param {import("../camera/sight.js").Sight} sight through the map
   * @param {number} now seconds
   */
  named(shown, sight, now) {
    const eye = this.eye()?.eye;
    if (eye && now - this.lookedAt > LOOK_EVERY) {
      this.lookedAt = now;
      const players = shown.filter(({ isPlayer, position }) => isPlayer && sight.reach(eye, position) === 1);
      this.inSight = new Set(players.map(({ slot }) => slot));
    }
    return shown.filter(({ slot }) => this.inSight.has(slot));
  }

  /** From where and to where one looks. */
  eye() {
    const { own } = this.player;
    if (!own) return null;
    const { yaw, pitch } = this.keys;
    const ahead = [Math.cos(yaw) * Math.cos(pitch), Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch)];
    const eye = add(own.position, [0, 0, own.crouching ? EYES.crouching : EYES.standing]);
    return { eye, ahead, behind: this.thirdPerson ? BEHIND : 0, field: this.settings.field };
  }

  /** Shows health, weapon, and a word where one is needed. */
  show() {
    const { player, roster, keys } = this;
    const own = roster.players.get(this.slot);
    if (own?.health < this.before) this.pain.animate([{ opacity: 0.8 }, { opacity: 0 }], 500);
    this.before = own?.health;
    this.health.textContent = own ? String(own.health) : "–";
    this.weapon.textContent = WEAPONS[keys.weapon].name;
    let word = "";
    if (!player.isJoined) word = "Joining…";
    else if (!player.isThere) word = "You died. Back in a moment.";
    else if (!this.isLocked) word = "Click to steer with the mouse. W A S D moves, Space jumps, C crouches, 1 2 3 choose a weapon, Enter chats, V looks from outside, Esc lets go.";
    if (this.word.textContent !== word) this.word.textContent = word;
  }

  /** Stops playing. */
  close() {
    this.player.leave();
    this.listening.abort();
    if (this.isLocked) document.exitPointerLock();
    this.panel.hidden = true;
    document.body.classList.remove("play");
  }
}
