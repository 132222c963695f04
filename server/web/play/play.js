/** Playing in the page: the player, the keys, the view, the sounds, and the display over the picture. */

import { COVERS } from "../camera/camera.js";
import { add, scale } from "../draw/algebra.js";
import { Chat } from "../hud/chat.js";
import { find } from "../hud/find.js";
import { put } from "../hud/put.js";
import { isTyping } from "../hud/typing.js";
import { Feedback } from "./feedback.js";
import { Gamepad } from "./gamepad.js";
import { Graph } from "./graph.js";
import { Keys } from "./keys.js";
import { Noises } from "./noises.js";
import { Player } from "./player.js";
import { endOf, muzzleOf, Trigger } from "./shots.js";
import { Sound } from "./sound.js";
import { Touch } from "./touch.js";

/** Units from the middle of a tank to its driver's eyes. */
const TANK_EYES = 40;

/** Units from the eyes back to the camera: in the third person, and in a tank. */
const BEHIND = 130;
const BEHIND_TANK = 220;

/** Seconds in which the eyes go most of the way when the player crouches or stands up. */
const DUCK = 0.06;

/** View bob, if it is switched on: its height in units, and the units of way for half a wave. */
const BOB = { height: 1.6, stride: 92 };

/** Number of headings that are tried for a player who appears, and units of the look along each. */
const HEADINGS = 16;
const OPEN = 2000;

/** Seconds between two checks of which players are in sight. */
const LOOK_EVERY = 0.1;

/**
 * Milliseconds after which an idle player leaves the match, and for how many of them a warning is
 * shown.
 */
const IDLE = 180_000;
const IDLE_WARNING = 30_000;

const FULL_HEALTH = 100;
/** @typedef {import("../match/motion.js").Shown} Shown */
/** @typedef {import("../camera/sight.js").Sight} Sight */

/**
 * The eye through which the picture is seen.
 *
 * @typedef {object} Eye
 * @property {number[]} eye
 * @property {number[]} ahead direction of the view
 * @property {number} behind units from the eye back to the camera
 * @property {number} field of view
 */

/** One player and their keys. */
export class Play {
  /**
   * @param {string} name
   * @param {import("../hud/settings.js").Settings} settings
   * @param {HTMLCanvasElement} picture
   * @param {import("../store/store.js").Store} store takes the events of the match
   * @param {import("./player.js").Listener} listener
   * @param {object} acts other acts of a player
   * @param {(act: string, rest: string) => ?string} acts.command carries a typed command out;
   *   returns the reason if it fails
   * @param {import("../hud/actions.js").ActionKeys} acts.keys that the player has chosen
   * @param {(isHeld: boolean) => void} acts.scores shows the scores while a key is held
   */
  constructor(name, settings, picture, store, listener, acts) {
    this.settings = settings;
    this.picture = picture;
    this.store = store;
    this.acts = acts;
    this.keys = new Keys();
    this.player = new Player(name, this.keys, listener, new URLSearchParams(location.search).get("token") ?? "");
    /** @type {?number} */
    this.lastSlot = null;
    this.thirdPerson = false;
    /** Units from the eyes to the camera, which a wall may bring nearer. */
    this.away = 0;
    /** @type {Set<number>} slots of the players who are in sight; others have no name on the screen */
    this.inSight = new Set();
    this.lookedAt = 0;
    this.panel = find("#play", HTMLElement);
    this.health = find("[name=health]", HTMLElement, this.panel);
    this.weapon = find("output[name=weapon]", HTMLElement, this.panel);
    this.points = find("[name=score]", HTMLElement, this.panel);
    this.chat = new Chat({
      say: (line) => this.say(line),
      act: acts.command,
      votes: () => store.server?.votes ?? [],
      done: () => picture.focus(),
    });
    this.sound = new Sound(() => settings.values.volume);
    this.noises = new Noises(this.sound);
    this.trigger = new Trigger();
    this.feedback = new Feedback(this.panel);
    this.graph = new Graph(this.panel);
    /** @type {?number} units from the middle of the player to the eyes; null before the first picture */
    this.eyes = null;
    this.walked = 0;
    /** @type {?number} seconds until the player leaves for doing nothing; null while active */
    this.idleFor = null;
    this.panel.hidden = false;
    document.body.classList.add("play");
    this.listening = new AbortController();
    this.listen(picture);
    const act = { turn: () => settings.turn, chat: () => this.speak(), outside: () => this.lookFromOutside() };
    this.touch = new Touch(this.panel, picture, this.keys, act, this.listening.signal);
    this.gamepad = new Gamepad(this.keys, act);
    this.player.run();
  }

  /** @param {HTMLElement} picture */
  listen(picture) {
    /** @type {(target: EventTarget, event: string, act: (event: any) => void, capture?: boolean) => void} */
    const hear = (target, event, act, capture = false) => target.addEventListener(event, act, { signal: this.listening.signal, capture });
    // These handlers run before the handlers of a spectator's keys.
    hear(window, "keydown", (event) => this.key(event, true), true);
    hear(window, "keyup", (event) => this.key(event, false), true);
    hear(window, "pointerup", () => this.sound.wake(), true);
    hear(window, "blur", () => {
      this.keys.release();
      this.acts.scores(false);
    });
    hear(this.chat.field, "input", () => this.chat.typed());
    hear(picture, "pointerdown", (event) => this.pointer(event, true), true);
    hear(picture, "pointerup", (event) => this.pointer(event, false), true);
    // With several buttons, pointer events come only for the first press and the last release.
    hear(picture, "mousedown", (event) => this.press(event, true), true);
    hear(window, "mouseup", (event) => this.press(event, false), true);
    hear(picture, "wheel", (event) => this.isLocked && (event.stopImmediatePropagation(), this.keys.change(Math.sign(event.deltaY))), true);
    hear(document, "mousemove", (event) => this.isLocked && this.keys.look(event.movementX, event.movementY, this.settings.turn));
    hear(document, "pointerlockchange", () => this.isLocked || this.keys.release());
    hear(window, "pagehide", () => this.player.leave());
    // A click on the status shows the graph, for players without a keyboard.
    hear(find("#status", HTMLElement), "click", () => this.graph.toggle());
  }

  /** Whether the page has captured the mouse. */
  get isLocked() {
    return document.pointerLockElement === this.picture;
  }

  /** @type {(event: PointerEvent, isDown: boolean) => void} */
  pointer(event, isDown) {
    // Fingers have their own controls.
    if (event.pointerType === "touch") return;
    event.stopImmediatePropagation();
    // The browser may refuse right after the mouse was released. Then the next click works.
    if (isDown && !this.isLocked) Promise.resolve(this.picture.requestPointerLock()).catch(() => {});
  }

  /** @type {(event: MouseEvent, isDown: boolean) => void} */
  press(event, isDown) {
    if (this.isLocked) this.keys.mouse(event.button, isDown);
  }

  /** @type {(event: KeyboardEvent, isDown: boolean) => void} */
  key(event, isDown) {
    this.sound.wake();
    if (isDown && this.acts.keys.hears(event)) return;
    if (event.target === this.chat.field) return this.type(event, isDown);
    if (event.code === "Tab" && !isDown) this.acts.scores(false);
    // A release always counts, even while Alt or Meta is held.
    if (isDown && (event.metaKey || event.altKey || isTyping(event.target))) return;
    event.stopImmediatePropagation();
    // A control that has the focus keeps its keys.
    const isFree = event.target === document.body || event.target === this.picture;
    if (!isFree && isDown && event.code === "Escape") this.picture.focus();
    if (!isFree && isDown) return;
    if (isDown && !event.repeat && !this.keys.codes.has(event.code) && this.act(event)) event.preventDefault();
    else if (this.keys.key(event.code, isDown)) event.preventDefault();
  }

  /**
   * Handles keys that act at once, by their position or their character; false for other keys.
   *
   * @param {KeyboardEvent} event
   */
  act({ code, key }) {
    if (code === "Enter") this.speak();
    else if (code === "KeyV") this.lookFromOutside();
    else if (code === "KeyN") this.graph.toggle();
    else if (code === "Tab") this.acts.scores(true);
    // The browser keeps the press that releases the mouse, so this is a later press.
    else if (code === "Escape") find("#join", HTMLElement).focus();
    else if (code === "Slash" || key === "?") this.help();
    else return false;
    return true;
  }

  /** Shows all keys and the settings, and releases the mouse for them. */
  help() {
    document.exitPointerLock();
    find("#help", HTMLElement).togglePopover();
  }

  /** Opens the line of chat. */
  speak() {
    this.keys.release();
    this.chat.open();
  }

  /** Changes between the first and the third person. */
  lookFromOutside() {
    this.thirdPerson = !this.thirdPerson;
  }

  /** @type {(event: KeyboardEvent, isDown: boolean) => void} */
  type(event, isDown) {
    this.keys.used();
    if (isDown) this.chat.key(event);
    else event.stopPropagation();
  }

  /**
   * Says a line to all players. Returns the reason if it cannot be sent, else null.
   *
   * @param {string} line
   */
  say(line) {
    if (!this.player.engine || !this.player.isJoined) return "You are not in the match at the moment. Press Enter again once you are.";
    return this.player.engine.say(line);
  }

  /**
   * Advances the match for the player.
   *
   * @param {number} now seconds
   * @param {number} passed seconds since the last call
   * @param {import("../match/scene.js").Players} players sizes of players
   * @param {Sight} sight through the map
   * @returns {?{tick: number, shown: Shown[]}} the state to draw
   */
  advance(now, passed, players, sight) {
    const { player } = this;
    this.gamepad.poll(now);
    this.restIfIdle();
    if (player.isOver) return null;
    player.play();
    if (!player.engine || !player.isJoined) return null;
    if (this.acts.keys.give(this.keys, player.schema.actions, player.weapons !== null)) this.touch.use(this.keys);
    for (const event of player.engine.matchEvents(player.schema)) {
      this.store.happen(event, now);
      this.happened(event);
    }
    const view = player.view();
    if (!view) return null;
    const { own } = player;
    if (own && player.isThere) this.moveEyes(own, passed, players);
    if (own && player.isThere && player.isNew) this.lookIntoTheOpen(own, sight);
    if (own) this.noises.hear(view.shown, own.position);
    return view;
  }

  /**
   * The shot that the player fires now, before the server confirms it.
   *
   * @param {Shown[]} shown
   * @param {import("../match/scene.js").Scene} scene
   * @param {Sight} sight
   * @returns {?import("../layers/effects.js").Fired}
   */
  shoot(shown, scene, sight) {
    const { player, slot } = this;
    const { buttons, from: first, to: last } = player.pressed();
    if (!player.isThere) this.trigger.reset();
    const eye = this.eye();
    const isFree = player.isThere && this.store.round.phase !== "intermission";
    if (!isFree || !player.weapons || !player.own || !eye || slot === null) return null;
    const shot = this.trigger.pull(buttons, first, last, player.weapons, player.line.tickRate);
    if (!shot) return null;
    const { weapon, tick } = shot;
    const from = muzzleOf(player.own, scene.players);
    const others = shown.filter((one) => one.slot !== slot);
    const to = weapon.reach ? endOf(from, eye.ahead, weapon.reach, others, scene, sight) : null;
    return { what: to ? "ray" : "fired", player: slot, weapon: weapon.kind, from, to, tick };
  }

  /** Leaves the match if the player is idle, so that others can have the place. */
  restIfIdle() {
    const left = IDLE - (performance.now() - this.keys.usedAt);
    this.idleFor = left < IDLE_WARNING ? Math.ceil(left / 1000) : null;
    if (left <= 0) this.player.giveUp("You left the match: you did nothing for three minutes.");
  }

  /**
   * The slot of the page's own player; null before there is one. While the page joins again, it is
   * the last known slot.
   */
  get slot() {
    return (this.lastSlot = this.player.engine?.slot ?? this.lastSlot);
  }

  /** Whether the page's own player drives a tank. */
  get drives() {
    return this.player.own !== null && this.player.own.model !== null;
  }

  /**
   * The slot of the page's own body if it must not be drawn: the camera is in it, or so near that
   * it would cover the picture.
   */
  get hidden() {
    return this.drives || this.away >= COVERS ? null : this.slot;
  }

  /**
   * The entities that may have a name on the screen. Names do not show through walls.
   *
   * @param {Shown[]} shown
   * @param {Sight} sight through the map
   * @param {number} now seconds
   */
  named(shown, sight, now) {
    const eye = this.eye()?.eye;
    if (eye && now - this.lookedAt > LOOK_EVERY) {
      this.lookedAt = now;
      const players = shown.filter(({ isPlayer, position }) => isPlayer && sight.reach(eye, position) === 1);
      this.inSight = new Set(players.map(({ slot }) => slot));
    }
    return shown.filter(({ slot }) => slot !== this.slot && this.inSight.has(slot));
  }

  /**
   * @param {Shown} own
   * @param {number} passed seconds
   * @param {import("../match/scene.js").Players} players
   */
  moveEyes(own, passed, players) {
    const wanted = this.drives ? TANK_EYES : (own.crouching ? players.crouching : players.standing).eyes;
    this.eyes ??= wanted;
    this.eyes += (wanted - this.eyes) * (1 - Math.exp(-passed / DUCK));
    const [x, y, up] = own.velocity;
    if (Math.abs(up) < 1) this.walked += Math.hypot(x, y) * passed;
  }

  /**
   * Turns a player who joins or respawns to the widest view, not to a wall.
   *
   * @param {Shown} own
   * @param {Sight} sight
   */
  lookIntoTheOpen(own, sight) {
    this.player.isNew = false;
    const eye = add(own.position, [0, 0, this.eyes ?? 0]);
    const headings = Array.from({ length: HEADINGS }, (_, i) => (i / HEADINGS) * 2 * Math.PI);
    const seen = headings.map((yaw) => sight.reach(eye, add(eye, [Math.cos(yaw) * OPEN, Math.sin(yaw) * OPEN, 0])));
    // The neighbouring headings count as well, so that a gap between two pillars is not a wide
    // view.
    const open = seen.map((one, i) => one + seen[(i + 1) % HEADINGS] + seen[(i || HEADINGS) - 1]);
    [this.keys.yaw, this.keys.pitch] = [headings[open.indexOf(Math.max(...open))], 0];
  }

  /**
   * The eye and the direction of the view.
   *
   * @returns {?Eye}
   */
  eye() {
    const { own } = this.player;
    if (!own || this.eyes === null) return null;
    const { yaw, pitch } = this.keys;
    const ahead = [Math.cos(yaw) * Math.cos(pitch), Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch)];
    const bob = this.settings.values.bob && !this.drives ? BOB.height * Math.sin((this.walked / BOB.stride) * Math.PI) : 0;
    const eye = add(own.position, [0, 0, this.eyes + bob]);
    const behind = this.drives ? BEHIND_TANK : this.thirdPerson ? BEHIND : 0;
    return { eye, ahead, behind, field: this.settings.field };
  }

  /**
   * The player as the holder of a weapon before the camera, which only the first person shows.
   *
   * @param {Eye} eye
   */
  holder({ eye, ahead, behind }) {
    if (behind > 0 || this.hidden === null || !this.player.isThere || this.keys.picks === 0) return null;
    return { slot: this.slot, weapon: this.keys.weapon, walked: this.walked, eye, ahead };
  }

  /**
   * Notes how far the camera is from the eyes, and puts the ears at the eyes.
   *
   * @param {Pick<Eye, "eye" | "ahead">} eye of the player, or of a camera of the map
   * @param {number} away
   * @param {Sight} sight
   * @param {boolean} isUnder whether the eyes are in a liquid
   */
  seeFrom({ eye, ahead }, away, sight, isUnder) {
    this.away = away;
    this.sound.listen(eye, ahead, sight, isUnder);
  }

  /**
   * Handles an event of the match.
   *
   * @param {import("../store/store.js").MatchEvent} event
   */
  happened({ event, player, by, sound }) {
    if (sound) this.sound.play(sound);
    if (event !== "died") return;
    const is = (/** @type {?import("../store/store.js").Id | undefined} */ id) => id?.slot === this.slot;
    if (is(player)) {
      this.player.isNew = true;
      this.sound.play("died");
    } else if (is(by)) {
      this.feedback.landed(true);
      this.sound.play("kill");
    }
  }

  /**
   * Handles an effect that is shown and that snapshots do not contain: a ray, an explosion, a hit.
   *
   * @param {Record<string, any>} effect of the session, or a predicted shot
   * @param {Shown[]} shown
   */
  saw({ what, player, by, from, begin, damage }, shown) {
    if (what === "ray") this.sound.play("ray", player === this.slot ? null : from);
    if (what === "fired" && !this.noises.launched()) this.sound.play("launch");
    if (what === "blast") this.sound.play("blast", begin);
    if (what !== "hurt") return;
    if (player === this.slot) {
      const source = by === this.slot ? null : shown.find(({ slot }) => slot === by);
      this.feedback.suffered(damage / FULL_HEALTH, source ? this.turnTo(source.position) : null);
      this.sound.play("pain");
    } else if (by === this.slot) {
      this.feedback.landed(false);
      this.sound.play("hit");
    } else {
      const hurt = shown.find(({ slot }) => slot === player);
      if (hurt) this.sound.play("pain", hurt.position);
    }
  }

  /**
   * The angle from the direction of the view to a place, in radians to the left.
   *
   * @param {number[]} place
   */
  turnTo(place) {
    const [x, y] = add(place, scale(this.player.own?.position ?? place, -1));
    return Math.atan2(y, x) - this.keys.yaw;
  }

  /** The facts about the page's own player, for the store. */
  facts() {
    const { player } = this;
    return {
      slot: this.slot,
      isJoined: player.isJoined,
      isThere: player.isThere,
      isSteered: this.isLocked || this.touch.isUsed || this.gamepad.isUsed,
      isNewToFingers: this.touch.isUsed && !this.touch.hasLooked,
      keys: this.acts.keys.text,
      idleFor: this.idleFor,
      warning: player.isJoined ? player.line.word(performance.now()) : "",
    };
  }

  /** Shows health, weapon and score, and the network graph. */
  show() {
    const { player, store, keys } = this;
    const now = performance.now();
    const own = store.roster.players.get(this.slot ?? -1);
    const { line } = player;
    if (player.engine && player.isJoined && line.isDue(now)) line.sample(now, player.engine.stats());
    this.graph.draw(line);
    this.panel.classList.toggle("lost", !player.isJoined);
    put(this.health, own ? String(own.health) : "–");
    const health = own?.health ?? 0;
    this.health.dataset.level = health > 60 ? "high" : health > 30 ? "middle" : "low";
    put(this.points, String(own?.score ?? 0));
    put(this.weapon, keys.picks > 0 ? (keys.actions[keys.weapon]?.label ?? "") : "");
    this.panel.dataset.crosshair = this.settings.values.crosshair;
  }

  /** Stops playing. */
  close() {
    this.player.leave();
    this.listening.abort();
    this.sound.close();
    if (this.isLocked) document.exitPointerLock();
    this.chat.close();
    this.acts.scores(false);
    this.panel.hidden = true;
    document.body.classList.remove("play");
  }
}
