/** The content of the picture: the scene, everything in it, and the player who is followed. */

import { intermissionOf } from "../camera/intermission.js";
import { nearest } from "../camera/nearest.js";
import { Frame } from "../draw/frame.js";
import { freeOf } from "../hud/free.js";
import { liquidAt } from "../match/liquids.js";
import { fetchScene } from "../match/scene.js";

/** The view of a match. */
export class View {
  /**
   * @param {object} parts
   * @param {HTMLCanvasElement} parts.picture
   * @param {import("../draw/renderer.js").Renderer} parts.renderer
   * @param {import("../camera/camera.js").Camera} parts.camera
   * @param {import("../draw/labels.js").Labels} parts.labels
   * @param {import("../layers/layers.js").Layers} parts.layers
   * @param {import("../hud/switches.js").Switches} parts.switches
   * @param {import("../store/store.js").Store} parts.store
   */
  constructor({ picture, renderer, camera, labels, layers, switches, store }) {
    this.picture = picture;
    this.renderer = renderer;
    this.camera = camera;
    this.labels = labels;
    this.layers = layers;
    this.switches = switches;
    this.store = store;
    this.nothing = new Frame();
    /** @type {?import("../match/scene.js").Scene} */
    this.scene = null;
    /**
     * The hash of the map whose scene is wanted.
     *
     * @type {?string}
     */
    this.wanted = null;
    /** @type {import("../match/motion.js").Shown[]} */
    this.shown = [];
    /**
     * The matrix of the last picture; null before the first.
     *
     * @type {?Float32Array}
     */
    this.matrix = null;
    /**
     * The place of the eye in the last picture.
     *
     * @type {number[]}
     */
    this.seenFrom = [];
    this.switches.showView(this.camera.mode);
    this.measure();
    addEventListener("resize", () => this.measure());
  }

  /**
   * Fetches the scene of a map, unless it is already shown.
   *
   * @param {string} hash of the map
   * @param {boolean} isOld whether the match may have left the map
   * @returns {Promise<boolean>} whether the scene is the one that is still wanted
   */
  async prepare(hash, isOld) {
    this.wanted = hash;
    if (this.scene?.hash === hash) return true;
    const scene = await fetchScene(isOld ? hash : null);
    // The match may have changed to another map meanwhile.
    if (this.wanted !== hash) return false;
    this.scene = scene;
    this.renderer.show(scene);
    this.camera.frame(scene.bounds, scene.polygons, scene.solid);
    this.layers.forgetMap();
    return true;
  }

  /** The slot of the player who is followed, if any. */
  get followed() {
    return this.store.followed;
  }

  set followed(slot) {
    this.store.followed = slot;
  }

  /**
   * Changes the view. The view that follows a player takes the best player by default.
   *
   * @param {"orbit" | "follow" | "top"} mode
   */
  look(mode) {
    if (mode === "follow" && !this.isThere(this.followed)) {
      this.followed = this.store.roster.ranking().find(({ slot }) => this.isThere(slot))?.slot ?? null;
      if (this.followed === null) return;
    }
    this.camera.look(mode);
    this.switches.showView(mode);
  }

  /**
   * Follows a player.
   *
   * @param {number} slot
   */
  follow(slot) {
    if (this.store.mode === "play") return;
    this.followed = slot;
    if (this.camera.mode !== "top") this.look("follow");
  }

  /**
   * Follows the next or the previous player of the table.
   *
   * @param {number} step 1 or -1
   */
  followNext(step) {
    const slots = this.store.roster.ranking().map(({ slot }) => slot);
    if (slots.length === 0) return;
    const at = slots.indexOf(this.followed ?? -1);
    this.follow(slots[(Math.max(at, step < 0 ? 0 : -1) + step + slots.length) % slots.length]);
  }

  /** @param {?number} slot */
  isThere(slot) {
    return this.shown.some((entity) => entity.slot === slot && entity.isPlayer);
  }

  /**
   * The entity at a place of the picture; in a replay any body, else only players.
   *
   * @param {number} x pixels
   * @param {number} y pixels
   */
  at(x, y) {
    if (!this.matrix) return null;
    const clickable = this.store.mode === "replay" ? this.shown : this.shown.filter(({ isPlayer }) => isPlayer);
    return nearest(clickable, this.matrix, [x, y], this.picture);
  }

  /** Measures the screen and the part of it that panels leave free. */
  measure() {
    this.renderer.measure();
    this.free = freeOf(this.picture);
  }

  /** The map's camera between two rounds; null for visitors who have chosen a view of their own. */
  intermission() {
    const isOwn = this.store.mode !== "play" && this.camera.isChosen;
    return isOwn ? null : intermissionOf(this.scene?.intermissions ?? [], this.store.round);
  }

  /**
   * Draws a picture.
   *
   * @param {number} now seconds
   * @param {number} passed seconds since the last picture
   * @param {?import("../play/play.js").Play} play the page's own player, if there is one
   * @param {object} [marked] further things to draw, of a replay
   */
  draw(now, passed, play, marked) {
    const { camera, renderer, layers, switches } = this;
    renderer.fit();
    const followed = this.shown.find(({ slot }) => slot === this.followed) ?? null;
    const aspect = this.picture.width / this.picture.height;
    const still = this.intermission();
    const own = still ? null : (play?.eye() ?? null);
    const view = still ? camera.from(still, aspect) : own ? camera.through(own, aspect) : camera.view(aspect, passed, followed, this.free);
    const eye = still ?? own;
    [this.matrix, this.seenFrom] = [view.matrix, view.eye];
    renderer.casts = switches.isOn("shadows");
    const liquid = liquidAt(this.scene?.liquids ?? [], view.eye);
    if (eye) play?.seeFrom(eye, view.away, camera.sight, liquid !== null);
    const near = camera.isCovered(followed, view.eye) ? this.followed : null;
    const hidden = eye ? (play?.hidden ?? null) : near;
    const seen = hidden === null ? this.shown : this.shown.filter(({ slot }) => slot !== hidden);
    const picture = this.scene ? layers.compose(this.scene, seen, this.followed, now, marked, { sight: camera.sight, holder: (own && play?.holder(own)) ?? null }) : this.nothing;
    renderer.draw(picture, { ...view, liquid, now });
    this.labels.draw(play && !still ? play.named(seen, camera.sight, now) : seen, this.store.roster, view.matrix, {
      names: switches.isOn("names"),
      followed: this.followed,
      width: renderer.clientWidth,
      height: renderer.clientHeight,
    });
  }
}
