/** A page that plays: the page's own player, and the facts about the player for the store. */

import { hinted, NO_VALUES } from "../match/values.js";
import { playersOf } from "../match/scene.js";
import { Play } from "../play/play.js";
import { commands } from "../tell/typed.js";

/** One player, from joining to leaving. */
export class Playing {
  /**
   * @param {string} name
   * @param {object} page
   * @param {import("../store/store.js").Store} page.store
   * @param {import("../hud/settings.js").Settings} page.settings
   * @param {import("../hud/actions.js").ActionKeys} page.actionKeys
   * @param {HTMLCanvasElement} page.picture
   * @param {import("../camera/camera.js").Camera} page.camera
   * @param {import("../layers/layers.js").Layers} page.layers
   * @param {?import("../match/scene.js").Scene} page.scene
   * @param {(info: object) => Promise<void>} page.prepare fetches the scene of a map
   * @param {(info: object) => void} page.learn applies the server's `/info`
   * @param {() => void} page.begin forgets what was drawn, for another world
   * @param {(line: import("../store/store.js").Line) => void} page.tellLine notes the line's state
   * @param {object} acts
   * @param {(why: string, wasIn: boolean) => void} acts.ended called when the player is out of the
   *   match, or could not join
   * @param {(isHeld: boolean) => void} acts.scores shows the scores while a key is held
   * @param {() => void} acts.again joins again under the chosen name
   * @param {() => void} acts.leave leaves the match
   */
  constructor(name, page, acts) {
    this.page = page;
    this.acts = acts;
    const { store } = page;
    /** Whether the player has been in the match. */
    this.wasIn = false;
    store.own = { name, slot: null, isJoined: false, isThere: false, isSteered: false, isNewToFingers: false, keys: "", idleFor: null, warning: "", death: null };
    page.tellLine({ state: "connecting" });
    this.play = new Play(name, page.settings, page.picture, store, {
      map: (/** @type {object} */ info) => {
        this.tick = null;
        page.begin();
        return page.prepare(info);
      },
      told: (/** @type {import("../link/connection.js").Info} */ { for_operators, name, motd, votes, tick_rate }) => {
        store.tickRate = tick_rate;
        page.learn({ for_operators, name, motd, votes });
      },
      joined: () => {
        this.wasIn = true;
        page.tellLine({ state: "live" });
      },
      lost: (/** @type {{message: string, until: number}} */ { message, until }) => page.tellLine({ state: "rejoining", message, until }),
      ended: (/** @type {import("../link/connection.js").Ended} */ { message, advice }) => acts.ended([message, advice].filter(Boolean).join(" "), this.wasIn),
    }, { command: (act, rest) => this.command(act, rest), keys: page.actionKeys, scores: acts.scores });
    page.layers.effects.fired = (tick) => this.fired(tick);
    /** @type {?number} the tick that is shown; null before there is one */
    this.tick = null;
  }

  /** The newest tick that is shown; null before there is one, and while the server is away. */
  get newestTick() {
    return this.play.player.isJoined ? this.tick : null;
  }

  /**
   * Advances the match.
   *
   * @param {number} now seconds
   * @param {number} passed seconds since the last call
   * @returns {?{tick: number, shown: import("../match/motion.js").Shown[]}}
   */
  advance(now, passed) {
    const { scene, camera, store } = this.page;
    this.play.noises.liquids = scene?.liquids ?? [];
    const view = this.play.advance(now, passed, scene?.players ?? playersOf([]), camera.sight);
    if (store.own) Object.assign(store.own, this.play.facts());
    if (!view) return null;
    if (scene) this.shoot(view, scene, now);
    this.page.layers.take(this.play.player.effects());
    this.tick = Math.floor(view.tick);
    store.tick = view.tick;
    return view;
  }

  /**
   * Shows the player's own shot at once.
   *
   * @param {{shown: import("../match/motion.js").Shown[]}} view
   * @param {import("../match/scene.js").Scene} scene
   * @param {number} now seconds
   */
  shoot({ shown }, scene, now) {
    const { camera, layers } = this.page;
    layers.effects.own = this.play.slot;
    const shot = this.play.shoot(shown, scene, camera.sight);
    if (shot) layers.effects.predict(shot, now);
  }

  /**
   * Notes a ray of the page's own player that the server reports.
   *
   * @param {number} tick
   */
  fired(tick) {
    const { player, trigger } = this.play;
    const weapon = player.weapons?.find((/** @type {{kind: string}} */ { kind }) => kind === "ray");
    if (weapon) trigger.fired(weapon, tick, player.line.tickRate);
  }

  /**
   * Carries a typed command out. Returns the reason if that fails, else null.
   *
   * @param {string} act
   * @param {string} rest
   */
  command(act, rest) {
    const { page, acts } = this;
    const note = (/** @type {string} */ text) => page.store.log.note(text, performance.now() / 1000);
    if (act === "help") note(commands(page.store.server?.votes ?? []).join("\n"));
    else if (act === "again") acts.again();
    else if (act === "leave") acts.leave();
    else return this.rename(rest, note);
    return null;
  }

  /**
   * Chooses the name under which the player joins next.
   *
   * @param {string} name
   * @param {(text: string) => void} note
   */
  rename(name, note) {
    if (!name) return "Type the name after /name.";
    const fault = this.play.player.engine?.faultOfName(name);
    if (fault) return fault;
    const { settings, store } = this.page;
    settings.set("name", name);
    if (name !== store.own?.name) note(`You are ${name} when you join next. /again joins again at once; your score begins at 0.`);
    return null;
  }

  /** Draws the player's own display, and stores the values of the game. */
  show() {
    this.play.show();
    const { isJoined, engine, schema } = this.play.player;
    this.page.store.values = (isJoined && hinted(engine?.values() ?? null, schema)) || NO_VALUES;
  }

  /** Leaves the match. */
  close() {
    this.play.close();
    this.page.store.own = null;
  }
}
