/**
 * The page: joins the match as a spectator and shows it.
 *
 * Snapshots come in by `link/`, are kept by `match/`, drawn by `draw/` with what
 * `layers/` add, seen through `camera/`, and told about by `hud/`.
 */

import { Camera } from "./camera/camera.js";
import { Steering } from "./camera/steering.js";
import { project } from "./draw/algebra.js";
import { Detail } from "./draw/detail.js";
import { Frame } from "./draw/frame.js";
import { Labels } from "./draw/labels.js";
import { Renderer } from "./draw/renderer.js";
import { Charts } from "./hud/charts.js";
import { freeOf } from "./hud/free.js";
import { Legend } from "./hud/legend.js";
import { MetricsFeed } from "./hud/metrics.js";
import { ScoreView } from "./hud/score.js";
import { StatusView } from "./hud/status.js";
import { Switches } from "./hud/switches.js";
import { VerdictView, verdict } from "./hud/verdict.js";
import { Layers } from "./layers/layers.js";
import { Watcher } from "./link/keep_watching.js";
import { MatchClock } from "./match/clock.js";
import { Motion } from "./match/motion.js";
import { Roster } from "./match/roster.js";
import { fetchScene } from "./match/scene.js";

/** Milliseconds between two looks at the metrics, and between two updates of tables. */
const METRICS_EVERY = 2000;
const TABLES_EVERY = 200;

/** Pixels from a player within which a click means them. */
const CLICK_REACH = 34;

const NARROW = matchMedia("(max-width: 760px), (max-height: 520px)");

/** Everything that the page knows. */
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
    this.switches = new Switches({
      look: (mode) => this.look(mode),
      next: (step) => this.followNext(step),
      changed: () => this.showLegend(),
    });
    const isOn = (name) => this.switches.isOn(name);
    this.layers = new Layers(this.renderer, isOn, () => this.watcher.connection?.history?.latest ?? null);
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
        this.status.show(status);
        if (status.state !== "live") this.verdict.hide();
      },
    });
    /** @type {?import("./match/scene.js").Scene} */
    this.scene = null;
    /** @type {import("./match/motion.js").Shown[]} */
    this.shown = [];
    this.followed = null;
    // The browser's graphics process may end and take the context with it. The browser
    // restores only a context whose loss was answered; everything on it has to be made
    // again, and so the page starts again.
    this.picture.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.picture.addEventListener("webglcontextrestored", () => location.reload());
    this.measure();
    addEventListener("resize", () => this.measure());
    this.frames = { count: 0, since: performance.now(), script: 0, worst: 0 };
    /** What drawing took of late: frames a second, and milliseconds of script in one. */
    this.paint = { rate: 0, script: 0, worst: 0 };
    if (NARROW.matches) for (const panel of document.querySelectorAll(".panel")) panel.open = false;
    this.switches.showView(this.camera.mode);
  }

  /** Runs for as long as the page is open. */
  run() {
    this.watcher.run();
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
   * Asks for the metrics again and again, at the same moments as every other page
   * whose clock is right: the server works them out once for all.
   */
  askForMetrics() {
    setTimeout(() => {
      if (!document.hidden && this.watcher.connection) this.metrics.ask();
      this.askForMetrics();
    }, METRICS_EVERY - (Date.now() % METRICS_EVERY));
  }

  /** Fetches the scene of a server, unless it is the one that is there. */
  async prepare(info) {
    this.info = info;
    if (this.scene?.hash === info.map_hash) return;
    const scene = await fetchScene();
    this.scene = scene;
    this.renderer.show(scene);
    this.camera.frame(scene.bounds, scene.polygons);
    this.layers.forgetMap();
    document.querySelector("h1").textContent = info.map;
    document.title = `${info.map} – Arena`;
  }

  joined(hello) {
    this.clock.reset();
    this.clock.tickRate = hello.tickRate;
    this.motion.reset(hello);
    this.roster.reset();
    this.layers.reset();
  }

  /** The match goes on in another world, whose map may be another. */
  newWorld({ map, mapName }) {
    const hash = map.map((byte) => byte.toString(16).padStart(2, "0")).join("");
    this.prepare({ ...this.info, map: mapName, map_hash: hash }).catch((error) => console.error(error));
  }

  take(snapshot) {
    this.clock.arrived(snapshot.tick, performance.now() / 1000);
    this.motion.take(snapshot);
  }

  /** Changes the view; to follow needs somebody, and takes the best. */
  look(mode) {
    if (mode === "follow" && !this.isThere(this.followed)) {
      this.followed = this.roster.ranking().find(({ slot }) => this.isThere(slot))?.slot ?? null;
      if (this.followed === null) return;
    }
    this.camera.look(mode);
    this.switches.showView(mode);
  }

  follow(slot) {
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

  /** Follows whom one clicks on. */
  click(x, y) {
    if (!this.matrix) return;
    const { clientWidth: width, clientHeight: height } = this.picture;
    let best = null;
    for (const { slot, isPlayer, position } of this.shown) {
      const at = isPlayer && project(this.matrix, position);
      if (!at) continue;
      const away = Math.hypot((at[0] * 0.5 + 0.5) * width - x, (0.5 - at[1] * 0.5) * height - y);
      if (away < (best?.away ?? CLICK_REACH)) best = { slot, away };
    }
    if (best) this.follow(best.slot);
  }

  /** Lets the match go on. */
  advance(now, passed) {
    const tick = this.clock.advance(now, passed);
    if (tick === null) return;
    this.roster.advance(tick, now);
    this.shown = this.motion.at(tick);
    this.layers.advance(tick, this.shown, now);
  }

  /** The screen, or what panels leave free of it, has another size. */
  measure() {
    this.renderer.measure();
    this.free = freeOf(this.picture);
  }

  /** One picture. */
  frame(at, passed) {
    const begin = performance.now();
    const now = at / 1000;
    this.countFrame(at);
    this.advance(now, passed);
    this.steering.advance(passed);
    this.renderer.fit();
    const followed = this.shown.find(({ slot }) => slot === this.followed) ?? null;
    const view = this.camera.view(this.picture.width / this.picture.height, passed, followed, this.free);
    this.matrix = view.matrix;
    this.renderer.casts = this.switches.isOn("shadows");
    const picture = this.scene ? this.layers.compose(this.scene, this.shown, this.followed, now) : this.nothing;
    this.renderer.draw(picture, view);
    this.labels.draw(this.shown, this.roster, view.matrix, {
      names: this.switches.isOn("names"),
      followed: this.followed,
      width: this.renderer.clientWidth,
      height: this.renderer.clientHeight,
    });
    const script = performance.now() - begin;
    this.frames.script += script;
    this.frames.worst = Math.max(this.frames.worst, script);
  }

  showLegend() {
    const entries = this.layers.legend(this.scene);
    this.legend.show(entries, this.switches.isOn("onion"), this.layers.height, this.scene?.bounds);
  }

  /** Once a second: how many pictures there were, and what the script took of each. */
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
    this.showFrames();
  }

  showFrames() {
    const { rate, script } = this.paint;
    const { share } = this.detail;
    const figure = document.querySelector("#frames");
    figure.textContent = rate.toFixed(0);
    const pixels = share < 1 ? `; ${Math.round(share * 100)} % of the pixels along each side are drawn, to keep up` : "";
    figure.parentElement.title = `The script takes ${script.toFixed(1)} ms of a frame${pixels}.`;
    const words = [];
    if (this.renderer.software) words.push("No graphics processor: only the map casts shadows. Switch hardware acceleration on in the browser's settings.");
    if (share < 1) words.push(`Drawn at ${Math.round(share * 100)} % sharpness to keep up.`);
    const note = document.querySelector("#drawing");
    if (note.textContent !== words.join(" ")) note.textContent = words.join(" ");
  }

  updateTables() {
    this.measure();
    this.status.advance(performance.now());
    this.showLegend();
    // No pictures are drawn of a page that is hidden, but its clock goes on.
    if (document.hidden) this.advance(performance.now() / 1000, TABLES_EVERY / 1000);
    else this.score.show(this.roster, this.followed, performance.now() / 1000);
    document.querySelector("#entities").textContent = String(this.shown.length);
    document.querySelector("#tick").textContent = String(this.watcher.connection?.history?.latest ?? "–");
  }
}

try {
  /** The page, for tests and for the curious. */
  globalThis.arena = new Page();
  globalThis.arena.run();
} catch (error) {
  const trouble = document.querySelector("#trouble");
  trouble.hidden = false;
  trouble.querySelector("strong").textContent = error.message;
  trouble.querySelector("p").textContent = "Drawing needs WebGL 2: switch hardware acceleration on, or use another browser.";
  trouble.querySelector("button").hidden = true;
}
