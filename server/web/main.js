/**
 * The page. It watches the match, plays in it, or plays a recording.
 *
 * Each of these three is a module of `page/`, which advances the match and writes the facts into
 * the store (`store/`). `tell/` decides from the store what is told, and `hud/` draws that.
 * `page/view.js` draws the picture, with `draw/`, `layers/` and `camera/`.
 */

import { Camera } from "./camera/camera.js";
import { Steering } from "./camera/steering.js";
import { forgetTeams, joinTeams } from "./draw/colours.js";
import { Labels } from "./draw/labels.js";
import { Renderer } from "./draw/renderer.js";
import { CentreView } from "./hud/centre.js";
import { Feeds } from "./hud/feeds.js";
import { find } from "./hud/find.js";
import { showFrames } from "./hud/frames.js";
import { GameView } from "./hud/game.js";
import { Legend } from "./hud/legend.js";
import { Matches } from "./hud/matches.js";
import { Operators } from "./operators/operators.js";
import { Panels } from "./hud/panels.js";
import { Recordings } from "./hud/recordings.js";
import { ScoreView } from "./hud/score.js";
import { RenamingView } from "./hud/renaming.js";
import { ActionKeys } from "./hud/actions.js";
import { Settings } from "./hud/settings.js";
import { StatusView } from "./hud/status.js";
import { Switches } from "./hud/switches.js";
import { showTitle } from "./hud/title.js";
import { WelcomeView } from "./hud/welcome.js";
import { Layers } from "./layers/layers.js";
import { unsupported } from "./link/keep_watching.js";
import { Pace } from "./page/pace.js";
import { Playing } from "./page/playing.js";
import { Replaying } from "./page/replaying.js";
import { View } from "./page/view.js";
import { Watching } from "./page/watching.js";
import { PlayEngine } from "./play/engine.js";
import { Store } from "./store/store.js";
import { tell } from "./tell/tell.js";

/** Milliseconds between two updates of texts and tables. */
const TABLES_EVERY = 200;

/** Milliseconds after which a page that is never idle fetches the simulation for a player. */
const PREFETCH = 2000;

/** The page: its parts, and the change between watching, playing and replaying. */
class Page {
  constructor() {
    this.store = new Store();
    this.roster = this.store.roster;
    this.picture = find("#picture", HTMLCanvasElement);
    this.renderer = new Renderer(this.picture);
    this.camera = new Camera();
    this.pace = new Pace();
    this.detail = this.pace.detail;
    this.frames = this.pace.frames;
    this.settings = new Settings();
    this.actionKeys = new ActionKeys();
    this.steering = new Steering(this.picture, this.camera, (x, y) => this.click(x, y));
    this.switches = new Switches({
      look: (mode) => this.look(mode),
      next: (step) => this.view.followNext(step),
      changed: () => this.showLegend(),
    });
    // A player sees shots even if that layer is off for spectators.
    const isOn = (/** @type {string} */ name) => this.switches.isOn(name) || (name === "hits" && this.play !== null);
    this.layers = new Layers(this.renderer, isOn, () => this.newestTick());
    this.layers.effects.seen = (effect) => this.play?.saw(effect, this.shown);
    const { store, picture, renderer, camera, layers, switches } = this;
    this.view = new View({ store, picture, renderer, camera, layers, switches, labels: new Labels(find("#labels", HTMLElement)) });
    this.watching = new Watching(store, this);
    this.watcher = this.watching.watcher;
    this.motion = this.watching.motion;
    /** @type {Watching | Playing | Replaying} the present activity of the page */
    this.current = this.watching;
    this.status = new StatusView(store, () => this.watcher.retry());
    this.centre = new CentreView();
    this.feeds = new Feeds();
    this.score = new ScoreView((slot) => this.follow(slot));
    this.game = new GameView();
    this.operators = new Operators(store);
    this.legend = new Legend((height) => {
      this.layers.height = height;
      this.showLegend();
    });
    this.recordings = new Recordings({ isPlaying: () => this.play !== null, open: (opened) => this.openReplay(opened) });
    this.panels = new Panels();
    this.matches = new Matches();
    this.welcome = new WelcomeView(store, this.settings, { play: () => this.join(this.settings.name), changed: () => this.tell() });
    this.renaming = new RenamingView(() => this.join(this.settings.name));
    this.joining = find("#join", HTMLElement);
    this.joining.addEventListener("click", () => (this.play ? this.spectate() : this.join(this.settings.name)));
    find("#rewind", HTMLElement).addEventListener("click", () => this.rewind());
    // The browser's graphics process may end, and the context with it. The browser restores only a
    // context whose loss was handled. Everything in a restored context has to be made again, so the
    // page reloads.
    picture.addEventListener("webglcontextlost", (event) => event.preventDefault());
    picture.addEventListener("webglcontextrestored", () => location.reload());
    // A browser may show a page again that was left while it played. Then the player is out of the
    // match, so the page watches.
    addEventListener("pageshow", () => this.play?.player.isOver && this.spectate());
  }

  /** @returns {?import("./play/play.js").Play} the page's own player; null for a spectator */
  get play() {
    return this.current instanceof Playing ? this.current.play : null;
  }

  /** @returns {?import("./replay/replay.js").Replay} the recording that is shown instead of the match */
  get replay() {
    return this.current instanceof Replaying ? this.current.replay : null;
  }

  /** The scene that is drawn; null before the first. */
  get scene() {
    return this.view.scene;
  }

  /** Everything that is drawn. */
  get shown() {
    return this.view.shown;
  }

  /** The matrix of the last picture; null before the first. */
  get matrix() {
    return this.view.matrix;
  }

  /** The latest cost of drawing. */
  get paint() {
    return this.pace.paint;
  }

  /**
   * Changes the view.
   *
   * @param {"orbit" | "follow" | "top"} mode
   */
  look(mode) {
    this.view.look(mode);
  }

  /**
   * Follows a player.
   *
   * @param {number} slot
   */
  follow(slot) {
    this.view.follow(slot);
  }

  /** The newest tick of the match; null in a replay. */
  newestTick() {
    return this.current.newestTick;
  }

  /** Runs for as long as the page is open. */
  run() {
    const asked = new URLSearchParams(location.search);
    const [player, recording] = [asked.get("play"), asked.get("replay")];
    if (player && !unsupported()) this.join(player);
    else if (recording) {
      this.change("replay");
      this.recordings.fetch(recording).catch((error) => this.fail(error.message));
    } else this.watcher.run();
    this.layers.run();
    this.operators.run();
    setInterval(() => this.updateTables(), TABLES_EVERY);
    let last = performance.now();
    const step = (/** @type {number} */ at) => {
      this.frame(at, Math.min((at - last) / 1000, 0.25));
      last = at;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  /**
   * Ends the page's activity, and prepares another one.
   *
   * @param {"watch" | "play" | "replay"} mode
   */
  change(mode) {
    if (this.current instanceof Watching) this.watcher.stop();
    else this.current.close();
    this.current = this.watching;
    this.store.mode = mode;
    this.store.line = { state: "connecting" };
    document.body.classList.toggle("replay", mode === "replay");
    this.joining.textContent = mode === "play" ? "Leave" : "Play";
    this.panels.play(false);
    this.view.shown = [];
    this.operators.forget();
    this.begin();
  }

  /** Watches the match. */
  watch() {
    this.change("watch");
    this.watcher.start();
  }

  /**
   * Joins the match as a player, under this name.
   *
   * @param {string} name
   */
  join(name) {
    this.change("play");
    this.view.followed = null;
    this.store.refused = "";
    this.joining.blur();
    this.panels.play(true);
    this.current = new Playing(name, this, {
      ended: (why, wasIn) => this.ended(why, wasIn),
      scores: (isHeld) => this.panels.hold(isHeld),
      again: () => this.join(this.settings.name),
      leave: () => this.spectate(),
    });
  }

  /**
   * Watches, because the player is out of the match or could not join.
   *
   * @param {string} why
   * @param {boolean} wasIn whether the player has been in the match
   */
  ended(why, wasIn) {
    this.watching.farewell = why;
    this.store.refused = wasIn ? "" : why;
    this.store.wantsToWatch = wasIn;
    this.watch();
  }

  /** Leaves the match and watches it as a spectator. */
  spectate() {
    this.store.wantsToWatch = true;
    this.watch();
  }

  /**
   * Plays a recording that was opened: from its end if `atEnd`, else from its beginning.
   *
   * @param {import("./replay/opening.js").Opened} opened
   * @param {boolean} [atEnd]
   */
  openReplay(opened, atEnd = false) {
    this.change("replay");
    this.tellLine({ state: "replay" });
    // If the address of the page asks for a recording, the way to the match is a link to another
    // address.
    const live = !new URLSearchParams(location.search).has("replay");
    this.current = new Replaying(opened, atEnd, this, live ? () => this.watch() : null);
  }

  /** Shows the last half minute of the match again, from its end. */
  async rewind() {
    try {
      const opened = await this.recordings.lastSeconds();
      // A visitor who has begun to play meanwhile does not want the replay.
      if (this.play) opened.worker.terminate();
      else this.openReplay(opened, true);
    } catch (error) {
      this.store.log.note(`Cannot rewind: ${/** @type {Error} */ (error).message}`, performance.now() / 1000);
    }
  }

  /**
   * Shows that a recording cannot be played.
   *
   * @param {string} message
   */
  fail(message) {
    this.tellLine({ state: "unsupported", message, advice: this.replay ? "The link Live beside the timeline leads back to the match." : "Remove ?replay=… from the address to see the match." });
  }

  /** Forgets the match that was shown, for another one. */
  begin() {
    this.store.forget();
    forgetTeams();
    this.layers.reset();
  }

  /**
   * Notes the state of the line.
   *
   * @param {import("./store/store.js").Line} line
   */
  tellLine(line) {
    // Trouble stays on the screen during another attempt.
    const { message, advice } = this.store.line;
    this.store.line = line.state === "connecting" && this.store.line.state === "lost" ? { ...line, message, advice } : line;
    document.body.classList.toggle("live", line.state === "live" && this.store.mode === "watch");
    if (line.state !== "live" && this.store.mode !== "replay") this.operators.forget();
    this.tell();
  }

  /**
   * Applies the server's `/info`.
   *
   * @param {import("./link/connection.js").Info} info
   */
  learn(info) {
    this.info = this.store.server = { ...this.info, ...info };
    this.matches.show(info);
    // A page that is not for operators requests and shows no metrics.
    document.body.classList.toggle("public", this.info.for_operators === false);
    this.panels.begin(this.info.for_operators === true);
  }

  /**
   * Fetches the scene of a map, unless it is already shown.
   *
   * @param {import("./link/connection.js").Info} info
   */
  async prepare(info) {
    this.learn(info);
    if (!(await this.view.prepare(info.map_hash, this.store.mode !== "watch"))) return;
    showTitle(this.info);
    // The simulation comes after the first picture, so that Play begins at once.
    if (this.store.mode === "watch") requestIdleCallback(() => PlayEngine.prefetch(), { timeout: PREFETCH });
  }

  /**
   * Follows the player that is clicked. In a replay a click also asks why a body moves or rests.
   *
   * @param {number} x pixels
   * @param {number} y pixels
   */
  click(x, y) {
    const best = this.view.at(x, y);
    if (best) this.replay?.why.ask(best.slot);
    if (best?.isPlayer) this.follow(best.slot);
  }

  /**
   * Advances the page's activity.
   *
   * @param {number} now seconds
   * @param {number} passed seconds since the last call
   */
  advance(now, passed) {
    const state = this.current.advance(now, passed);
    if (!state) return;
    this.view.shown = state.shown;
    this.layers.advance(state.tick, state.shown, now);
  }

  /**
   * Draws one frame.
   *
   * @param {number} at milliseconds
   * @param {number} passed seconds since the last frame
   */
  frame(at, passed) {
    const begin = performance.now();
    if (this.pace.count(at, this.switches.isOn("adapt"))) {
      this.renderer.detail = this.pace.detail.share;
      showFrames(this.pace.paint, this.pace.detail.share, this.renderer.software);
    }
    this.advance(at / 1000, passed);
    this.steering.advance(passed);
    this.view.draw(at / 1000, passed, this.play, this.replay?.marked());
    this.pace.took(performance.now() - begin);
  }

  showLegend() {
    const entries = this.layers.legend(this.scene);
    this.legend.show(entries, this.switches.isOn("onion"), this.layers.height, this.scene?.bounds ?? null);
  }

  /** Shows the texts for the present facts. */
  tell() {
    this.store.chosenName = this.settings.name;
    const told = tell(this.store, performance.now());
    this.status.show(told);
    this.centre.show(told);
    this.feeds.show(told);
    this.game.show(told);
    this.welcome.show(told);
    this.renaming.show(told);
  }

  updateTables() {
    this.view.measure();
    this.showLegend();
    // A hidden page draws nothing, but its clock goes on.
    if (document.hidden) this.advance(performance.now() / 1000, TABLES_EVERY / 1000);
    else this.score.show(this.roster, this.play ? this.play.slot : this.view.followed);
    this.operators.show(this.shown.length, this.newestTick() ?? this.store.tick);
    this.current.show();
    joinTeams(this.store.values.teams);
    this.tell();
  }
}

try {
  /** The page is global, so that tests and the browser's console can use it. */
  const page = new Page();
  Object.assign(globalThis, { arena: page });
  page.run();
} catch (error) {
  const trouble = find("#trouble", HTMLElement);
  trouble.hidden = false;
  find("strong", HTMLElement, trouble).textContent = /** @type {Error} */ (error).message;
  find("p", HTMLElement, trouble).textContent = "Reload the page. If WebGL 2 is missing, switch on hardware acceleration, or use another browser.";
  find("button", HTMLElement, trouble).hidden = true;
}
