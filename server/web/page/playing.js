/** A page that plays: the page's own player, and what is true of it. */

import { playersOf } from "../match/scene.js";
import { Play } from "../play/play.js";

/** One player, from joining to leaving. */
export class Playing {
  /**
   * @param {string} name
   * @param {object} page
   * @param {import("../store/store.js").Store} page.store
   * @param {import("../hud/settings.js").Settings} page.settings
   * @param {HTMLCanvasElement} page.picture
   * @param {(info: object) => Promise<void>} page.prepare fetches the scene of a map
   * @param {(info: object) => void} page.learn applies the server's `/info`
   * @param {() => void} page.begin forgets what was drawn, for another world
   * @param {(line: import("../store/store.js").Line) => void} page.tellLine notes the line's state
   * @param {(why: string) => void} ended called when the player is out of the match, or cannot join
   */
  constructor(name, page, ended) {
    this.page = page;
    const { store } = page;
    store.own = { name, slot: null, isJoined: false, isThere: false, isSteered: false, weapon: "", idleFor: null, warning: "", death: null };
    page.tellLine({ state: "connecting" });
    this.play = new Play(name, page.settings, page.picture, store, {
      map: (info) => {
        this.tick = null;
        page.begin();
        return page.prepare(info);
      },
      told: ({ for_operators, name, motd, tick_rate }) => {
        store.tickRate = tick_rate;
        page.learn({ for_operators, name, motd });
      },
      joined: () => page.tellLine({ state: "live" }),
      lost: ({ message, until }) => page.tellLine({ state: "rejoining", message, until }),
      ended: ({ message, advice }) => ended([message, advice].filter(Boolean).join(" ")),
    });
    /** The tick that is shown; null before there is one. */
    this.tick = null;
  }

  /** The newest tick that is shown, or null. */
  get newestTick() {
    return this.tick;
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
    const view = this.play.advance(now, passed, scene?.players ?? playersOf([]), camera.sight);
    Object.assign(store.own, this.play.facts());
    if (!view) return null;
    this.tick = Math.floor(view.tick);
    store.tick = view.tick;
    return view;
  }

  /** Draws what belongs to the player alone. */
  show() {
    this.play.show();
  }

  /** Leaves the match. */
  close() {
    this.play.close();
    this.page.store.own = null;
  }
}
