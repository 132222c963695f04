/** All layers of the picture: their switches, data and drawing. */

import { Frame } from "../draw/frame.js";
import { Asked } from "./asked.js";
import { addBodies } from "./bodies.js";
import { addContacts, CONTACT_LEGEND } from "./contacts.js";
import { Effects } from "./effects.js";
import { addBranch } from "./branch.js";
import { addBoxes, addGrid, BOX_LEGEND } from "./frames.js";
import { Hand } from "./hand.js";
import { Heat, HEAT_LEGEND, HEAT_NOTE } from "./heat.js";
import { Marks } from "./marks.js";
import { Onion, onionLegend } from "./onion.js";
import { Players } from "./players.js";
import { Trails } from "./trails.js";

/** Units between two heights at which the onion is cut. */
const CUT_STEP = 4;

/** Units from the middle of a player to the ground. */
const FEET = 26;

/** The layers of one page. */
export class Layers {
  /**
   * @param {import("../draw/renderer.js").Renderer} renderer
   * @param {(name: string) => boolean} isOn whether a layer is switched on
   * @param {() => ?number} newestTick of the snapshots
   */
  constructor(renderer, isOn, newestTick) {
    Object.assign(this, { isOn, newestTick });
    this.frame = new Frame();
    this.trails = new Trails();
    this.effects = new Effects();
    this.figures = new Players();
    this.marks = new Marks();
    this.hand = new Hand();
    this.heat = new Heat(renderer);
    this.onion = new Onion(renderer);
    /** The height at which the onion is cut, in units; null until something is shown. */
    this.height = null;
    /** The height at which most players stand, in units. */
    this.ground = 0;
    const asked = (name, path, once) =>
      new Asked(() => (isOn(name) && newestTick() !== null ? path() : null), once);
    this.asked = {
      contacts: asked("contacts", () => "/contacts"),
      cascade: asked("heat", () => "/cascade"),
      cut: asked("onion", () => (this.height === null ? null : `/onion/${this.height}`), true),
    };
    /**
     * Data that a replay has computed; null while the server answers instead.
     *
     * @type {?{contacts: ?object, cascade: ?object, cut: ?object}}
     */
    this.replayed = null;
  }

  /** Data of layers that snapshots never carry; null if they have not come, or are not wanted. */
  get answers() {
    const { contacts, cascade, cut } = this.asked;
    return this.replayed ?? { contacts: contacts.answer, cascade: cascade.answer, cut: cut.answer };
  }

  /** Runs for as long as the page is open. */
  run() {
    for (const asked of Object.values(this.asked)) asked.run();
  }

  /**
   * Takes effects that a session brought, unless nobody sees them.
   *
   * @param {import("../wire/effects.js").Effect[]} effects
   */
  take(effects) {
    if (this.isOn("hits") && !document.hidden) this.effects.take(effects);
  }

  /** Forgets everything about the match. */
  reset() {
    this.trails.reset();
    this.effects.reset();
    this.marks.reset();
  }

  /** Forgets everything about the map. */
  forgetMap() {
    this.height = null;
    this.asked.cut.answered = null;
  }

  /** Advances the layers to the tick that is shown. */
  advance(tick, shown, now) {
    this.trails.note(shown, now);
    this.effects.advance(tick, now);
    // The first height is the median height of the players.
    if (this.height === null && shown.length > 0) {
      const players = shown.filter(({ isPlayer }) => isPlayer);
      const heights = (players.length > 0 ? players : shown).map(({ position }) => position[2]).sort((a, b) => a - b);
      const middle = heights[heights.length >> 1] + (players.length > 0 ? 0 : FEET);
      this.height = Math.round(middle / CUT_STEP) * CUT_STEP;
      this.ground = this.height - FEET;
    }
  }

  /**
   * Fills a frame with all layers that are on.
   *
   * @param {import("../match/scene.js").Scene} scene
   * @param {import("../match/motion.js").Shown[]} shown
   * @param {?number} followed slot of the player that is followed
   * @param {number} now seconds
   * @param {{other?: import("../match/motion.js").Shown[], asked?: ?number}} [replay] the bodies of
   *   the branch, and the slot of the body that is asked about
   * @param {{sight: import("../camera/sight.js").Sight, holder?: ?object}} view lines of sight through
   *   the map, and who holds a weapon before the camera, as for `Hand.draw`
   * @returns {import("../draw/frame.js").Frame} valid until the next call
   */
  compose(scene, shown, followed, now, { other = [], asked: slot = null } = {}, { sight, holder = null }) {
    const { frame, isOn, answers } = this;
    frame.clear();
    for (const effect of this.effects.news()) this.follow(effect, sight, holder, now);
    if (holder) {
      this.hand.watch(shown, holder.eye, now);
      this.hand.draw(frame, holder, now);
    } else this.hand.hide();
    addBodies(frame, shown, scene.players, this.figures, { sleeping: isOn("sleeping"), followed, hurt: this.effects.hurt(now) });
    addBranch(frame, shown, other, scene.players);
    if (slot !== null && !isOn("boxes")) addBoxes(frame, shown.filter((one) => one.slot === slot), scene);
    if (isOn("grid")) addGrid(frame, scene, this.ground);
    if (isOn("onion")) this.onion.add(frame, answers.cut);
    if (isOn("heat")) this.heat.add(frame, answers.cascade, shown, scene, this.ground);
    if (isOn("trails")) this.trails.draw(frame, now);
    if (isOn("boxes")) addBoxes(frame, shown, scene);
    if (isOn("contacts")) addContacts(frame, answers.contacts);
    if (isOn("hits")) {
      this.marks.draw(frame, now);
      this.effects.draw(frame, now, this.hand.muzzle);
    }
    return frame;
  }

  /** Notes the mark that an effect leaves, and a shot of the weapon before the camera. */
  follow(effect, sight, holder, now) {
    if (effect.what === "ray") this.marks.ray(effect, sight, now);
    if (effect.what === "blast") this.marks.blast(effect, sight, now);
    const isShot = effect.what === "ray" || effect.what === "fired";
    if (isShot && holder && effect.player === holder.slot) this.hand.fired(now);
  }

  /** The legend of the layers that are on. */
  legend(scene) {
    return [
      ...(this.isOn("boxes") ? BOX_LEGEND : []),
      ...(this.isOn("contacts") ? CONTACT_LEGEND : []),
      ...(this.isOn("heat") ? [...HEAT_LEGEND, { label: HEAT_NOTE }] : []),
      ...(this.isOn("onion") && scene ? onionLegend(scene) : []),
    ];
  }
}
