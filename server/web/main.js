/**
 * The page. It joins the match as a spectator and shows it, plays in it, or plays a recording.
 *
 * `link/` receives the snapshots and `match/` keeps them; the states of a recording come from
 * `replay/`. `draw/` draws them with the additions of `layers/`, `camera/` decides the view, and
 * `hud/` shows the texts and figures.
 */

import { Camera } from "./camera/camera.js";
import { nearest } from "./camera/nearest.js";
import { Steering } from "./camera/steering.js";
import { Detail } from "./draw/detail.js";
import { Frame } from "./draw/frame.js";
import { Labels } from "./draw/labels.js";
import { Renderer } from "./draw/renderer.js";
import { Charts } from "./hud/charts.js";
import { showFrames } from "./hud/frames.js";
import { freeOf } from "./hud/free.js";
import { gameFacts, GameView } from "./hud/game.js";
import { Legend } from "./hud/legend.js";
import { Matches } from "./hud/matches.js";
import { MetricsFeed } from "./hud/metrics.js";
import { Panels } from "./hud/panels.js";
import { Recordings } from "./hud/recordings.js";
import { ScoreView } from "./hud/score.js";
import { Settings } from "./hud/settings.js";
import { StatusView } from "./hud/status.js";
import { Switches } from "./hud/switches.js";
import { Timeline } from "./hud/timeline.js";
import { showTitle } from "./hud/title.js";
import { VerdictView, verdict } from "./hud/verdict.js";
import { Layers } from "./layers/layers.js";
import { Watcher, unsupported } from "./link/keep_watching.js";
import { MatchClock } from "./match/clock.js";
import { Motion } from "./match/motion.js";
import { Roster } from "./match/roster.js";
import { fetchScene, playersOf } from "./match/scene.js";
import { Play } from "./play/play.js";
import { Replay } from "./replay/replay.js";

/** Milliseconds between two requests for metrics, and between two updates of tables. */
const METRICS_EVERY = 2000;
const TABLES_EVERY = 200;

/** The state of the page. */
class Page {
  constructor() {
    this.camera = new Camera();
    this.clock = new MatchClock();
    this.motion = new Motion();
    this.roster = new Roster();
    this.charts = new Charts();
    this.verdict = new VerdictView();
    this.metrics = new MetricsFeed((interval) => {
      this.charts.show(interval);
      const judged = verdict(interval);
      this.verdict.show(judged);
      this.status.halt(judged.halted);
    });
    this.picture = document.querySelector("#picture");
    this.renderer = new Renderer(this.picture);
    this.detail = new Detail();
    this.labels = new Labels(document.querySelector("#labels"));
    this.nothing = new Frame();
    this.steering = new Steering(this.picture, this.camera, (x, y) => this.click(x, y));
    this.score = new ScoreView((slot) => this.follow(slot));
    this.game = new GameView();
    this.switches = new Switches({
      look: (mode) => this.look(mode),
      next: (step) => this.followNext(step),
      changed: () => this.showLegend(),
    });
    // A player sees shots even if that layer is off for spectators.
    const isOn = (name) => this.switches.isOn(name) || (name === "hits" && this.play !== null);
    this.layers = new Layers(this.renderer, isOn, () => this.newestTick());
    this.layers.effects.seen = (effect) => this.play?.saw(effect, this.shown);
    this.legend = new Legend((height) => {
      this.layers.height = height;
      this.showLegend();
    });
    this.status = new StatusView(() => this.watcher.retry());
    this.watcher = new Watcher({
      prepare: (info) => this.prepare(info),
      joined: (hello) => this.joined(hello),
      newWorld: (world) => this.newWorld(world),
      event: (event) => this.roster.take(event),
      snapshot: (snapshot) => this.take(snapshot),
      status: (status) => {
        // The reason why a player left the match is shown even if the server takes no spectators.
        const why = status.state === "lost" && this.farewell;
        this.status.show(why ? { ...status, message: why, advice: status.message } : status);
        document.body.classList.toggle("live", status.state === "live");
        if (status.state !== "live") this.verdict.hide();
      },
    });
    this.recordings = new Recordings((bytes) => this.openReplay(bytes));
    /** @type {?Replay} the recording that is shown instead of the match */
    this.replay = null;
    /** @type {?Play} the page's own player; null for a spectator */
    this.play = null;
    /** The tick that is shown to the page's own player; null before there is one. */
    this.playedTick = null;
    this.settings = new Settings();
    this.joining = document.querySelector("#join");
    this.joining.addEventListener("click", () => (this.play ? this.lookOn() : this.join(this.settings.name)));
    document.querySelector("#rewind").addEventListener("click", () => this.rewind());
    /** @type {?import("./match/scene.js").Scene} */
    this.scene = null;
    /** @type {import("./match/motion.js").Shown[]} */
    this.shown = [];
    this.followed = null;
    // The browser's graphics process may end, and the context with it. The browser restores only a
    // context whose loss was handled. Everything in a restored context has to be made again, so the
    // page reloads.
    this.picture.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.picture.addEventListener("webglcontextrestored", () => location.reload());
    // A browser may show a page again that was left while it played. Its player is out of the match
    // then, so the page watches.
    addEventListener("pageshow", () => this.play?.player.isOver && this.lookOn());
    this.measure();
    addEventListener("resize", () => this.measure());
    this.frames = { count: 0, since: performance.now(), script: 0, worst: 0 };
    /** The latest cost of drawing: frames a second, and milliseconds of script for each frame. */
    this.paint = { rate: 0, script: 0, worst: 0 };
    this.panels = new Panels();
    this.matches = new Matches();
    this.switches.showView(this.camera.mode);
  }

  /** Runs for as long as the page is open. */
  run() {
    const asked = new URLSearchParams(location.search);
    const recording = asked.get("replay");
    if (asked.get("play") && !unsupported()) this.join(asked.get("play"));
    else if (recording) this.recordings.fetch(recording).catch((error) => this.fail(error.message));
    else this.watcher.run();
    this.layers.run();
    this.askForMetrics();
    setInterval(() => this.updateTables(), TABLES_EVERY);
    let last = performance.now();
    const step = (at) => {
      this.frame(at, Math.min((at - last) / 1000, 0.25));
      last = at;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  /**
   * Requests the metrics again and again, at the same moments as every other page whose clock is
   * right, so that the server computes them once for all.
   */
  askForMetrics() {
    setTimeout(() => {
      if (!document.hidden && this.info?.for_operators && (this.watcher.connection || this.play)) this.metrics.ask();
      this.askForMetrics();
    }, METRICS_EVERY - (Date.now() % METRICS_EVERY));
  }

  /** Shows the last half minute of the match again, from its end. */
  async rewind() {
    try {
      const bytes = await this.recordings.lastSeconds();
      // A visitor who has begun to play meanwhile does not want the replay.
      if (!this.play) this.openReplay(bytes, true);
    } catch (error) {
      this.roster.news.push({ what: "announced", text: `Cannot rewind: ${error.message}`, at: performance.now() / 1000 });
    }
  }

  /** Returns from a replay to the match. */
  goLive() {
    this.replay.close();
    this.replay = null;
    this.timeline.close();
    this.timeline = null;
    document.body.classList.remove("replay");
    this.shown = [];
    this.layers.asked.contacts.answer = null;
    this.watcher.start();
  }

  /** Plays a recording from now on: from its end if `atEnd`, else from its beginning. */
  openReplay(bytes, atEnd = false) {
    this.stopPlaying();
    this.replay?.close();
    this.timeline?.close();
    this.watcher.stop();
    document.body.classList.remove("live");
    document.body.classList.add("replay");
    this.status.show({ state: "replay" });
    this.replay = new Replay(bytes, {
      opened: ({ map, hash }) => this.prepare({ map, map_hash: hash }).catch((error) => this.fail(error.message)),
      failed: (message) => this.fail(message),
    }, atEnd);
    // If the address of the page asks for a recording, the way to the match is a link to another
    // address.
    const live = !new URLSearchParams(location.search).has("replay");
    this.timeline = new Timeline(this.replay, live ? () => this.goLive() : null);
    this.shown = [];
    this.roster.reset();
    this.layers.reset();
  }

  /** Joins the match as a player, under this name. */
  join(name) {
    this.watcher.stop();
    this.roster.reset();
    [this.shown, this.followed, this.playedTick, this.farewell] = [[], null, null, null];
    this.verdict.hide();
    this.joining.textContent = "Leave";
    this.joining.blur();
    this.status.show({ state: "connecting" });
    this.play = new Play(name, this.settings, this.picture, this.roster, {
      map: (info) => {
        this.roster.reset();
        this.layers.reset();
        this.playedTick = null;
        return this.prepare(info);
      },
      told: ({ for_operators, name, motd }) => this.learn({ for_operators, name, motd }),
      joined: () => this.status.show({ state: "live" }),
      lost: () => this.status.show({ state: "connecting" }),
      ended: ({ message, advice }) => {
        this.farewell = [message, advice].join(" ");
        this.lookOn();
      },
    });
  }

  /** Leaves the match and watches it as a spectator. */
  lookOn() {
    this.stopPlaying();
    this.roster.reset();
    this.shown = [];
    this.watcher.start();
  }

  /** Ends the page's own player, if there is one. */
  stopPlaying() {
    this.play?.close();
    this.play = null;
    this.joining.textContent = "Play";
  }

  /** Shows that a recording cannot be played. */
  fail(message) {
    this.status.show({ state: "unsupported", message, advice: this.timeline ? "The link Live beside the timeline leads back to the match." : "Remove ?replay=… from the address to see the match." });
  }

  /** The newest tick of the match that is watched; null in a replay. */
  newestTick() {
    if (this.replay) return null;
    return this.play ? this.playedTick : (this.watcher.connection?.history?.latest ?? null);
  }

  /** Applies the server's description of itself. */
  learn(info) {
    this.info = { ...this.info, ...info };
    this.matches.show(info);
    // A page that is not for operators requests and shows no metrics.
    document.body.classList.toggle("public", this.info.for_operators === false);
  }

  /** Fetches the scene of a map, unless it is already shown. */
  async prepare(info) {
    this.learn(info);
    if (this.scene?.hash === info.map_hash) return;
    const scene = await fetchScene(this.replay || this.play ? info.map_hash : null);
    // The match may have changed to another map meanwhile.
    if (this.info.map_hash !== info.map_hash) return;
    this.scene = scene;
    this.renderer.show(scene);
    this.camera.frame(scene.bounds, scene.polygons);
    this.layers.forgetMap();
    showTitle(this.info);
  }

  joined(hello) {
    this.clock.reset();
    this.clock.tickRate = hello.tickRate;
    this.motion.reset(hello);
    this.roster.reset();
    this.layers.reset();
    if (!this.farewell) return;
    this.roster.news.push({ what: "announced", text: this.farewell, at: performance.now() / 1000 });
    this.farewell = null;
  }

  /** The match goes on in another world, perhaps on another map. */
  newWorld({ map, mapName }) {
    const hash = map.map((byte) => byte.toString(16).padStart(2, "0")).join("");
    this.prepare({ ...this.info, map: mapName, map_hash: hash }).catch((error) => console.error(error));
  }

  take(snapshot) {
    this.clock.arrived(snapshot.tick, performance.now() / 1000);
    this.motion.take(snapshot);
  }

  /** Changes the view. The view that follows a player takes the best player by default. */
  look(mode) {
    if (mode === "follow" && !this.isThere(this.followed)) {
      this.followed = this.roster.ranking().find(({ slot }) => this.isThere(slot))?.slot ?? null;
      if (this.followed === null) return;
    }
    this.camera.look(mode);
    this.switches.showView(mode);
  }

  follow(slot) {
    if (this.play) return;
    this.followed = slot;
    if (this.camera.mode !== "top") this.look("follow");
  }

  followNext(step) {
    const slots = this.roster.ranking().map(({ slot }) => slot);
    if (slots.length === 0) return;
    const at = slots.indexOf(this.followed);
    this.follow(slots[(Math.max(at, step < 0 ? 0 : -1) + step + slots.length) % slots.length]);
  }

  isThere(slot) {
    return this.shown.some((entity) => entity.slot === slot && entity.isPlayer);
  }

  /** Follows the player that is clicked. In a replay it also asks why a body moves or rests. */
  click(x, y) {
    if (!this.matrix) return;
    // In a replay any body can be asked about.
    const clickable = this.replay ? this.shown : this.shown.filter(({ isPlayer }) => isPlayer);
    const best = nearest(clickable, this.matrix, [x, y], this.picture);
    if (best) this.replay?.why.ask(best.slot);
    if (best?.isPlayer) this.follow(best.slot);
  }

  /** Advances the replay. */
  advanceReplay(now, passed) {
    const { replay } = this;
    const tick = replay.advance(passed);
    if (tick === null) return;
    this.shown = replay.shown();
    this.roster.assign(replay.players());
    const { elsewhere, events, news } = replay.happened();
    // After a jump in the replay, effects and news from before the jump are dropped.
    if (elsewhere) {
      this.layers.reset();
      this.roster.news = [];
    }
    this.layers.effects.waiting.push(...events);
    for (const { ago, ...event } of news) this.roster.happen(event, now - ago);
    this.layers.asked.contacts.answer = this.switches.isOn("contacts") ? replay.contacts() : null;
    const { layers, switches } = this;
    const told = replay.layers(switches.isOn("heat"), switches.isOn("onion") ? layers.height : null);
    [layers.asked.cascade.answer, layers.asked.cut.answer] = [told.cascade, told.cut];
    this.layers.advance(tick, this.shown, now);
  }

  /** Advances the match for the page's own player. */
  advancePlay(now, passed) {
    const view = this.play.advance(now, passed, this.scene?.players ?? playersOf([]), this.camera.sight);
    if (!view) return;
    this.playedTick = Math.floor(view.tick);
    this.shown = view.shown;
    this.layers.advance(view.tick, this.shown, now);
  }

  /** Advances the match, the replay or the page's own player. */
  advance(now, passed) {
    if (this.play) return this.advancePlay(now, passed);
    if (this.replay) return this.advanceReplay(now, passed);
    const tick = this.clock.advance(now, passed);
    if (tick === null) return;
    this.roster.advance(tick, now);
    this.shown = this.motion.at(tick);
    this.layers.advance(tick, this.shown, now);
  }

  /** Measures the screen and the part of it that panels leave free. */
  measure() {
    this.renderer.measure();
    this.free = freeOf(this.picture);
  }

  /** Draws one frame. */
  frame(at, passed) {
    const begin = performance.now();
    const now = at / 1000;
    this.countFrame(at);
    this.advance(now, passed);
    this.steering.advance(passed);
    this.renderer.fit();
    const followed = this.shown.find(({ slot }) => slot === this.followed) ?? null;
    const aspect = this.picture.width / this.picture.height;
    const eye = this.play?.eye();
    const view = eye ? this.camera.through(eye, aspect) : this.camera.view(aspect, passed, followed, this.free);
    this.matrix = view.matrix;
    this.renderer.casts = this.switches.isOn("shadows");
    if (eye) this.play.listenFrom(eye, this.camera.sight);
    if (eye) this.play.away = view.away;
    const hidden = eye && this.play.hidden;
    const seen = hidden === null || hidden === undefined ? this.shown : this.shown.filter(({ slot }) => slot !== hidden);
    const picture = this.scene ? this.layers.compose(this.scene, seen, this.followed, now, this.replay?.marked(), { sight: this.camera.sight, holder: this.holder(eye) }) : this.nothing;
    this.renderer.draw(picture, view);
    const named = this.play ? this.play.named(seen, this.camera.sight, now) : seen;
    this.labels.draw(named, this.roster, view.matrix, {
      names: this.switches.isOn("names"),
      followed: this.followed,
      width: this.renderer.clientWidth,
      height: this.renderer.clientHeight,
    });
    const script = performance.now() - begin;
    this.frames.script += script;
    this.frames.worst = Math.max(this.frames.worst, script);
  }

  /** Who holds a weapon before the camera: the page's own player in the first person. */
  holder(eye) {
    const { play } = this;
    if (!eye || eye.behind > 0 || play.hidden === null || !play.player.isThere) return null;
    return { slot: play.slot, weapon: play.keys.weapon, walked: play.walked, eye: eye.eye, ahead: eye.ahead };
  }

  showLegend() {
    const entries = this.layers.legend(this.scene);
    this.legend.show(entries, this.switches.isOn("onion"), this.layers.height, this.scene?.bounds);
  }

  /** Once a second, computes how many frames there were and how long the script took for each. */
  countFrame(at) {
    const { frames } = this;
    frames.count++;
    if (at - frames.since < 1000) return;
    this.paint = {
      rate: (frames.count * 1000) / (at - frames.since),
      script: frames.script / frames.count,
      worst: frames.worst,
    };
    Object.assign(frames, { count: 0, since: at, script: 0, worst: 0 });
    if (this.switches.isOn("adapt")) this.detail.note(this.paint.rate);
    else this.detail.reset();
    this.renderer.detail = this.detail.share;
    showFrames(this.paint, this.detail.share, this.renderer.software);
  }

  updateTables() {
    this.measure();
    this.status.advance(performance.now());
    this.showLegend();
    // A hidden page draws nothing, but its clock goes on.
    if (document.hidden) this.advance(performance.now() / 1000, TABLES_EVERY / 1000);
    else this.score.show(this.roster, this.play ? this.play.slot : this.followed, performance.now() / 1000);
    const history = this.play || this.replay ? null : this.watcher.connection?.history;
    this.game.show(gameFacts(history ?? null, this.followed));
    document.querySelector("#entities").textContent = String(this.shown.length);
    const tick = this.replay ? Math.floor(this.replay.at) : this.newestTick();
    document.querySelector("#tick").textContent = String(tick ?? "–");
    this.timeline?.show();
    this.replay?.branchView.show();
    this.play?.show();
  }
}

try {
  /** The page is global, so that tests and the browser's console can use it. */
  globalThis.arena = new Page();
  globalThis.arena.run();
} catch (error) {
  const trouble = document.querySelector("#trouble");
  trouble.hidden = false;
  trouble.querySelector("strong").textContent = error.message;
  trouble.querySelector("p").textContent = "The page needs WebGL 2: switch on hardware acceleration in the browser, or use another browser.";
  trouble.querySelector("button").hidden = true;
}
