/** A page that plays a recording: its states, players, news and layers go where a match's go. */

import { Timeline } from "../hud/timeline.js";
import { Replay } from "../replay/replay.js";

/** Tells the visitor what a click on the picture does, because nothing else on the screen does. */
const INVITATION = "Click or tap a crate or a player: a panel says why it moves or rests.";

/** One recording, with its timeline. */
export class Replaying {
  /**
   * @param {import("../replay/opening.js").Opened} opened
   * @param {boolean} atEnd whether its end is shown first
   * @param {object} page
   * @param {import("../store/store.js").Store} page.store
   * @param {import("../layers/layers.js").Layers} page.layers
   * @param {import("../hud/switches.js").Switches} page.switches
   * @param {(info: object) => Promise<void>} page.prepare fetches the scene of a map
   * @param {(message: string) => void} page.fail shows that the recording cannot be played
   * @param {?(() => void)} goLive returns to the match; null if a link does that by its address
   */
  constructor(opened, atEnd, page, goLive) {
    this.page = page;
    /**
     * The phase of the round that was entered last.
     *
     * @type {?import("../replay/engine.js").Round}
     */
    this.round = null;
    this.replay = new Replay(opened, (message) => page.fail(message), atEnd);
    const { map, hash, tickRate } = opened.recording;
    page.store.tickRate = tickRate;
    page.prepare({ map, map_hash: hash }).catch((error) => page.fail(error.message));
    this.timeline = new Timeline(this.replay, goLive);
    /** Whether the visitor has been told what a click on the picture does. */
    this.hasInvited = false;
  }

  /** A recording has no newest tick: its layers come with its states. */
  get newestTick() {
    return null;
  }

  /**
   * Advances the replay.
   *
   * @param {number} now seconds
   * @param {number} passed seconds since the last call
   * @returns {?{tick: number, shown: import("../match/motion.js").Shown[]}}
   */
  advance(now, passed) {
    const { replay } = this;
    const { store, layers } = this.page;
    const tick = replay.advance(passed);
    if (tick === null) return null;
    store.tick = tick;
    store.roster.assign(replay.players());
    const { elsewhere, events, news } = replay.happened();
    // After a jump in the replay, effects and news from before the jump are dropped.
    if (elsewhere) {
      layers.reset();
      store.log.reset();
    }
    if (!this.hasInvited) store.log.note(INVITATION, now);
    this.hasInvited = true;
    layers.effects.take(events);
    for (const { ago, ...event } of news) store.happen(event, now - ago);
    this.enterRound();
    this.answerLayers();
    return { tick, shown: replay.shown() };
  }

  /** Enters the phase of the round that is shown, also after a jump. */
  enterRound() {
    const round = this.replay.round();
    if (round === this.round) return;
    this.round = round;
    const { store } = this.page;
    if (round) store.round.enter({ phase: round[1], ends: round[2], next: round[3] }, store.roster);
    else store.round.reset();
  }

  /** Gives the layers the data that the simulation in the page has computed for them. */
  answerLayers() {
    const { replay } = this;
    const { layers, switches } = this.page;
    const told = replay.layers(switches.isOn("heat"), switches.isOn("onion") ? layers.height : null);
    layers.replayed = { ...told, contacts: switches.isOn("contacts") ? replay.contacts() : null };
  }

  /** Draws the controls of the replay. */
  show() {
    this.timeline.show();
    this.replay.branchView.show();
  }

  /** Ends the replay. */
  close() {
    this.replay.close();
    this.timeline.close();
    this.page.layers.replayed = null;
  }
}
