// Tests of what the page computes without a browser: `node --test`.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { Camera } from "./camera/camera.js";
import { Sight } from "./camera/sight.js";
import { inverse, multiply, project, rotate } from "./draw/algebra.js";
import { hueColour, hueOf, luminance, slotColour } from "./draw/colours.js";
import { COARSEST, Detail } from "./draw/detail.js";
import { Frame, put, stroke } from "./draw/frame.js";
import { outline, triangles, VERTEX } from "./draw/mesh.js";
import { addressOf } from "./hud/matches.js";
import { Interval, parseMetrics } from "./operators/metrics.js";
import { Timeline } from "./hud/timeline.js";
import { showTitle } from "./hud/title.js";
import { verdict } from "./operators/verdict.js";
import { connect, gameAddress } from "./link/connection.js";
import { chosenMatch, ofMatch, onServer } from "./link/match.js";
import { unreachable } from "./link/unreachable.js";
import { MatchClock } from "./match/clock.js";
import { Motion } from "./match/motion.js";
import { playersOf } from "./match/scene.js";

const TERMS = { origin: [-100, 0, 0], tickRate: 60 };

test("a certificate that is not valid now is named, and not the port or a firewall", async () => {
  // Node has no WebTransport. This substitute fails as if a browser refused the connection.
  globalThis.WebTransport = class {
    ready = Promise.reject(new Error("Opening handshake failed"));
    closed = Promise.reject(new Error("Opening handshake failed"));
    close() {}
  };
  globalThis.location ??= { hostname: "localhost", search: "" };
  const info = { port: 4433, certificate_sha256: "ab".repeat(32), self_signed: true, certificate_fault: null };
  await assert.rejects(connect(info), /UDP port 4433/);
  const fault = "the certificate expired 9 days ago";
  await assert.rejects(connect({ ...info, certificate_fault: fault }), (error) => {
    const told = `${error.message} ${error.advice}`;
    assert.match(told, /not valid now/);
    assert.match(told, /The certificate expired 9 days ago/);
    assert.doesNotMatch(told, /UDP|firewall/);
    return true;
  });
  delete globalThis.WebTransport;
});

test("name-with-ipv6-first: what was seen comes first, then each possible cause", async () => {
  const info = { port: 4433, families: ["ipv4"], self_signed: true, certificate_valid: [1790000000, 1791000000] };
  const game = { address: "https://play.example.org:4433/", port: 4433 };
  const told = unreachable(info, game, new Error("Opening handshake failed."), 5000);
  assert.equal(told.message, "The match at UDP port 4433 cannot be reached.");
  const parts = [
    "Tried https://play.example.org:4433/ over UDP: the browser says: Opening handshake failed.",
    "The server listens on IPv4.",
    "valid from 2026-09-21 to 2026-10-03.",
    "It may be that play.example.org has an address of IPv6",
    "--listen [::]:4433",
    "or that UDP port 4433 is not let through",
  ];
  const places = parts.map((part) => told.advice.indexOf(part));
  assert.ok(places.every((place, index) => place >= 0 && place > (places[index - 1] ?? -1)), `${places}: ${told.advice}`);
  assert.doesNotMatch(told.advice, /trust/);
  // If the server listens on both families, the family is not a possible cause. A certificate of an
  // authority is one.
  const both = unreachable({ ...info, families: ["ipv4", "ipv6"], self_signed: false }, game, null, 5000).advice;
  assert.match(both, /no answer within 5 s.*listens on IPv4 and IPv6/);
  assert.doesNotMatch(both, /may take/);
  assert.match(both, /does not trust the certificate/);
  const literal = { address: "https://[2001:db8::1]:4433/", port: 4433 };
  assert.match(unreachable(info, literal, null, 5000).advice, /the address is of IPv6, on which the server does not listen/);
  // An older server says nothing about families.
  assert.doesNotMatch(unreachable({ port: 4433, self_signed: true }, game, null, 5000).advice, /IPv/);
});

test("a page at localhost takes the family on which the server listens", () => {
  const page = { search: "", hostname: "localhost" };
  assert.equal(gameAddress({ port: 1, families: ["ipv6"] }, page).address, "https://[::1]:1/");
  assert.equal(gameAddress({ port: 1, families: ["ipv4", "ipv6"] }, page).address, "https://127.0.0.1:1/");
  assert.equal(gameAddress({ port: 1 }, page).address, "https://127.0.0.1:1/");
});

test("players are drawn as large as the map was compiled for", () => {
  const usual = playersOf([]);
  assert.deepEqual([usual.standing.figure, usual.standing.eyes, usual.crouching.eyes], [[1, 1, 1], 22, 10]);
  assert.deepEqual(usual.crouching.figure, [1, 1, 18 / 28]);
  const { standing, crouching } = playersOf([{ name: "standing", half_extents: [8, 8, 14] }]);
  assert.deepEqual([standing.figure, standing.eyes], [[0.5, 0.5, 0.5], 11]);
  assert.equal(crouching.eyes, 10);
});

// A prop at `x` units that moves along x at `speed` units a second.
function prop(x, speed = 0, more = {}) {
  const still = { generation: 0, kind: 1, model: 0, driven: false, largest: 3, components: [0, 0, 0] };
  const moved = { asleep: speed === 0, position: [(x + 100) * 32, 0, 0], velocity: [speed / 4, 0, 0] };
  return { ...still, ...moved, ...more };
}

function motionOf(...values) {
  const motion = new Motion();
  motion.reset(TERMS);
  for (const [tick, entity] of values) motion.take({ tick, records: [{ slot: 5, entity }] });
  return motion;
}

const xAt = (motion, tick) => motion.at(tick)[0]?.position[0];

test("a moving body is drawn between the states of two ticks", () => {
  const motion = motionOf([60, prop(0, 240)], [63, prop(12, 240)], [66, prop(24, 240)]);
  assert.equal(xAt(motion, 59.9), undefined);
  assert.equal(xAt(motion, 60), 0);
  assert.ok(Math.abs(xAt(motion, 64.5) - 18) < 1e-9);
  assert.equal(xAt(motion, 90), 24);
});

test("a late snapshot takes its place", () => {
  const motion = motionOf([60, prop(0, 240)], [66, prop(24, 240)], [63, prop(20, 240)]);
  assert.equal(xAt(motion, 63), 20);
});

test("a body at rest is drawn at rest until it can have begun to move", () => {
  const motion = motionOf([60, prop(0)], [600, prop(9, 240)]);
  assert.equal(xAt(motion, 590), 0);
  assert.ok(xAt(motion, 598) > 0);
});

test("a teleported body does not glide, and a removed body is gone", () => {
  const motion = motionOf([60, prop(0, 240)], [63, prop(900, 240)], [66, null]);
  assert.equal(xAt(motion, 62.9), 0);
  assert.equal(xAt(motion, 63), 900);
  assert.equal(xAt(motion, 66), undefined);
  const another = motionOf([60, prop(0)], [63, prop(50, 0, { generation: 1 })]);
  assert.equal(xAt(another, 62), 0);
  assert.equal(another.at(63)[0].generation, 1);
});

test("attitudes have length one and turn the shorter way", () => {
  const quarter = (sign) => ({ largest: 3, components: [0, 0, Math.round(sign * 1023 * Math.SQRT2 * Math.sin(Math.PI / 8))] });
  const motion = motionOf([60, prop(0, 4, quarter(-1))], [66, prop(0.4, 4, quarter(1))]);
  const { rotation } = motion.at(63)[0];
  assert.ok(Math.abs(Math.hypot(...rotation) - 1) < 1e-9);
  const [x, y] = rotate(rotation, [1, 0, 0]);
  assert.ok(Math.abs(x - 1) < 1e-3 && Math.abs(y) < 1e-2, `${x} ${y}`);
});

test("the clock goes on steadily, behind the newest snapshot, whatever the line does", () => {
  const clock = new MatchClock();
  let [last, random] = [null, 1];
  for (let frame = 0; frame < 1200; frame++) {
    const now = 100 + frame / 60;
    random = (random * 48271) % 2147483647;
    // A snapshot comes every third tick, up to 30 ms late.
    if (frame % 3 === 0) clock.arrived(5000 + frame, now + (random / 2147483647) * 0.03);
    const tick = clock.advance(now, 1 / 60);
    if (last !== null) assert.ok(tick >= last && tick - last < 2.5, `${last} to ${tick}`);
    if (frame > 300) assert.ok(Math.abs(5000 + frame - tick - 0.16 * 60) < 2, `${frame}: ${tick}`);
    last = tick;
  }
});

test("figures are differences between two states of the metrics", () => {
  const page = (count, sum) =>
    parseMetrics(`# HELP x\nx_sum ${sum}\nx_count ${count}\nsent{direction="sent"} ${sum * 1000}`);
  const interval = new Interval(page(10, 1), page(30, 2), 2);
  assert.equal(interval.mean("x"), 0.05);
  assert.equal(interval.rate('sent{direction="sent"}'), 500);
  assert.ok(Number.isNaN(interval.mean("none")));
});

test("a verdict says whether the match keeps its time", () => {
  const interval = ({ ticks, overruns = 0, dropped = 0, cpu = 1, age = 0.01 }) => {
    const page = (t, o, d, c) =>
      parseMetrics(`game_tick_age_seconds ${age}\ngame_tick_rate_hertz 60\ngame_ticks_total ${t}\ngame_tick_overruns_total ${o}\ngame_ticks_dropped_total ${d}\ngame_tick_duration_seconds_sum ${t / 600}\ngame_tick_duration_seconds_count ${t}\ngame_process_cpu_seconds ${c}\ngame_process_resident_memory_bytes 9e7`);
    return new Interval(page(0, 0, 0, 0), page(ticks, overruns, dropped, cpu), 2);
  };
  const good = verdict(interval({ ticks: 120 }));
  assert.deepEqual([good.state, good.word], ["good", "On time"]);
  assert.match(good.detail, /60 of 60 ticks a second.*10 % of its time.*0\.5 cores.*90 MB/);
  assert.equal(verdict(interval({ ticks: 119, overruns: 1 })).state, "good");
  assert.equal(verdict(interval({ ticks: 120, overruns: 20 })).state, "warn");
  assert.equal(verdict(interval({ ticks: 119, overruns: 1, dropped: 1 })).state, "warn");
  assert.deepEqual(verdict(interval({ ticks: 90, overruns: 30, dropped: 30 })).state, "bad");
  assert.equal(good.halted, null);
  // A tick thread that hangs, whether or not it still ticked in the interval.
  for (const ticks of [0, 40]) {
    const halted = verdict(interval({ ticks, age: 12.3 }));
    assert.deepEqual([halted.state, halted.word, halted.halted], ["bad", "No ticks", 12.3]);
    assert.match(halted.detail, /no tick for 12 s.*0\.5 cores.*90 MB/);
    assert.doesNotMatch(halted.detail, /NaN/);
  }
});

test("a verdict says that the recording failed, unless the ticks are worse", () => {
  const page = (ticks, failed) => parseMetrics(`game_tick_rate_hertz 60\ngame_ticks_total ${ticks}\ngame_tick_overruns_total 0\ngame_ticks_dropped_total ${ticks > 120 ? 60 : 0}\ngame_recording_failed ${failed}`);
  const after = (ticks, failed) => verdict(new Interval(page(0, 0), page(ticks, failed), 2));
  assert.deepEqual([after(120, 1).state, after(120, 1).word], ["warn", "Not recorded"]);
  assert.match(after(120, 1).detail, /recording failed/);
  assert.equal(after(120, 0).word, "On time");
  assert.equal(after(180, 1).word, "Slow");
});

test("a verdict tells the same faults beside the ticks as log, metric and alert", () => {
  const page = (ticks, more = "") => parseMetrics(`game_tick_rate_hertz 60\ngame_ticks_total ${ticks}\ngame_tick_overruns_total 0\ngame_ticks_dropped_total 0\n${more}`);
  const after = (before, now) => verdict(new Interval(page(0, before), page(120, now), 2));
  const counter = (series, at) => `${series} ${at}\n`;
  const grows = (series, by) => after(counter(series, 5), counter(series, 5 + by));
  const said = ({ state, word }) => [state, word];

  const lost = 'game_log_lines_lost_total{reason="unwritable"}';
  assert.deepEqual(said(grows(lost, 3)), ["warn", "Log incomplete"]);
  assert.match(grows(lost, 3).detail, /3 lines of the log are lost/);
  assert.equal(grows(lost, 0).word, "On time");
  // Lines dropped by a rate limit are dropped on purpose.
  assert.equal(grows('game_log_lines_lost_total{reason="rate_limited"}', 30).word, "On time");

  // A player who sends nothing has 60 such ticks a second.
  const neutral = 'game_command_ticks_total{source="neutral"}';
  assert.deepEqual(said(grows(neutral, 120)), ["warn", "Commands unused"]);
  assert.equal(grows(neutral, 60).word, "On time");

  assert.deepEqual(said(grows("game_udp_receive_drops_total", 50)), ["warn", "Datagrams dropped"]);
  assert.equal(grows("game_udp_receive_drops_total", 5).word, "On time");

  const ends = (days, source = "files") => {
    const series = `game_certificate_expiry_timestamp_seconds{source="${source}"} ${Date.now() / 1000 + days * 86400}`;
    return after(series, series);
  };
  assert.deepEqual(said(ends(3)), ["warn", "Certificate ends"]);
  assert.deepEqual(said(ends(-1)), ["warn", "Certificate ended"]);
  assert.equal(ends(30).word, "On time");
  assert.equal(ends(1, "self_signed").word, "On time");
});

test("the address of the game is from the page's address, the server or the page's host", () => {
  const at = (info, search = "", hostname = "192.0.2.7") => gameAddress(info, { search, hostname }).address;
  assert.equal(at({ port: 4433 }), "https://192.0.2.7:4433/");
  assert.equal(at({ host: null, port: 4433 }, "", "localhost"), "https://127.0.0.1:4433/");
  assert.equal(at({ host: "game.example.org", port: 7777 }), "https://game.example.org:7777/");
  assert.equal(at({ host: "2001:db8::1", port: 7777 }), "https://[2001:db8::1]:7777/");
  assert.equal(at({ host: "game.example.org", port: 7777 }, "?host=other&port=5000"), "https://other:5000/");
  assert.equal(at({ host: "game.example.org", port: 7777 }, "?port=5000"), "https://game.example.org:5000/");
  for (const port of ["", "0", "65536", "1.5", "no"]) {
    assert.equal(at({ port: 4433 }, `?port=${port}`), "https://192.0.2.7:4433/", port);
  }
});

test("a box has twelve edges, however its faces are cut", () => {
  const corner = (x, y, z) => [x * 64, y * 64, z * 64];
  const face = (fixed, value, flip) => {
    const at = (a, b) => corner(...[[value, a, b], [a, value, b], [a, b, value]][fixed]);
    // Each face is three pieces with a T-junction.
    const pieces = [
      [at(0, 0), at(1, 0), at(1, 0.5), at(0, 0.5)],
      [at(0, 0.5), at(0.5, 0.5), at(0.5, 1), at(0, 1)],
      [at(0.5, 0.5), at(1, 0.5), at(1, 1), at(0.5, 1)],
    ];
    return pieces.map((piece) => (flip ? [...piece].reverse() : piece));
  };
  const box = [0, 1, 2].flatMap((axis) => [...face(axis, 0, axis !== 1), ...face(axis, 1, axis === 1)]);
  const length = outline(box).reduce((sum, [a, b]) => sum + Math.hypot(...a.map((value, i) => value - b[i])), 0);
  assert.ok(Math.abs(length - 12 * 64) < 1e-6, `${length}`);
  assert.equal(triangles(box).length, 6 * 3 * 2 * 3 * VERTEX);
});

test("every view shows the whole map in the middle of the free part of the page", () => {
  const bounds = { min: [-400, -900, 0], max: [1000, 500, 300] };
  const free = { x: 0.2, y: -0.1, width: 0.6, height: 0.7 };
  // A house with a tower: its box is mostly air.
  const points = [[-400, -900, 0], [1000, -900, 0], [1000, 500, 0], [-400, 500, 0], [-400, -900, 300]];
  const camera = new Camera();
  camera.frame(bounds, [points]);
  // The views change there and back again.
  for (const mode of ["orbit", "top", "orbit"]) {
    camera.look(mode);
    const { matrix } = camera.view(1.6, 60, null, free);
    const seen = points.map((point) => project(matrix, point));
    for (const [axis, middle, share] of [[0, 0.2, 0.6], [1, -0.1, 0.7]]) {
      const along = seen.map((at) => at[axis]);
      const [least, most] = [Math.min(...along), Math.max(...along)];
      assert.ok(Math.abs((least + most) / 2 - middle) < 2e-3, `${mode}: ${least} to ${most}`);
      assert.ok(most - least <= share * 2, `${mode}: ${least} to ${most}`);
    }
    // The map is as large as it can be.
    const reach = [0, 1].map((axis) => Math.max(...seen.map((at) => at[axis])) - Math.min(...seen.map((at) => at[axis])));
    assert.ok(reach[0] > 0.6 * 2 * 0.85 || reach[1] > 0.7 * 2 * 0.85, `${mode}: only ${reach}`);
  }
});

test("no wall hides the followed player", () => {
  // A wall across X at -100, which faces the player, 200 wide and high.
  const wall = [[-100, -100, 0], [-100, 100, 0], [-100, 100, 200], [-100, -100, 200]];
  const sight = new Sight([wall]);
  assert.equal(sight.reach([0, 0, 50], [-200, 0, 50]), 0.5);
  assert.equal(sight.reach([-200, 0, 50], [0, 0, 50]), 1, "a face does not stop sight from behind");
  assert.equal(sight.reach([0, 0, 50], [-200, 0, 450]), 1, "over it");
  assert.equal(sight.reach([0, 0, 50], [-90, 0, 50]), 1, "in front of it");
  const camera = new Camera();
  camera.frame({ min: [-400, -400, 0], max: [400, 400, 400] }, [wall]);
  camera.look("follow");
  const followed = { position: [0, 0, 30], rotation: [0, 0, 0, 1] };
  const { eye } = camera.view(1.6, 10, followed, { x: 0, y: 0, width: 1, height: 1 });
  assert.ok(eye[0] > -100 && eye[0] < -40, `${eye}`);
});

test("a camera that has arrived shows the same picture again", () => {
  const camera = new Camera();
  camera.frame({ min: [0, 0, 0], max: [100, 100, 100] });
  const free = { x: 0, y: 0, width: 1, height: 1 };
  const view = () => [...camera.view(1.6, 1 / 60, null, free).matrix];
  view();
  camera.turn(1, 0.1);
  assert.notDeepEqual(view(), view());
  for (let frame = 0; frame < 120; frame++) view();
  assert.deepEqual(view(), view());
});

test("an inverse undoes its matrix", () => {
  const camera = new Camera();
  camera.frame({ min: [-2000, -900, 0], max: [1000, 500, 300] });
  for (const mode of ["orbit", "top"]) {
    camera.look(mode);
    const { matrix } = camera.view(1.3, 1 / 60, null, { x: 0.1, y: 0, width: 1, height: 1 });
    const product = multiply(inverse(matrix), matrix);
    product.forEach((value, i) => assert.ok(Math.abs(value - Number(i % 5 === 0)) < 0.02, `${mode}: ${product}`));
  }
});

test("fewer pixels are drawn where that helps, and only there", () => {
  // Simulates seconds of a machine whose frames take `fixed` seconds and `pixels` more at full
  // detail.
  const settle = (fixed, pixels, seconds = 60, screen = 60) => {
    const detail = new Detail();
    const shares = Array.from({ length: seconds }, () => {
      detail.note(Math.min(screen, 1 / (fixed + pixels * detail.share ** 2)));
      return detail.share;
    });
    return shares.slice(-20);
  };
  assert.deepEqual(new Set(settle(0.002, 0.008)), new Set([1]));
  // This machine draws all pixels in 1/25 s, so fewer pixels help.
  assert.ok(settle(0.002, 0.038).every((share) => share < 0.8));
  assert.ok(settle(0.01, 0.4).every((share) => share === COARSEST));
  // Fewer pixels do not help against another cause: they are tried only now and then.
  const other = settle(0.03, 0.001, 300);
  assert.ok(other.filter((share) => share === 1).length >= 18, `${other}`);
  // Fewer pixels do not help a screen that shows thirty frames a second.
  const slow = settle(0.002, 0.002, 300, 30);
  assert.ok(slow.filter((share) => share === 1).length >= 18, `${slow}`);
  // Detail recovers after a slow while.
  const detail = new Detail();
  for (let second = 0; second < 10; second++) detail.note(10);
  assert.ok(detail.share < 0.6);
  for (let second = 0; second < 60; second++) detail.note(60);
  assert.equal(detail.share, 1);
});

test("all texts are legible: contrasts of 4.5 and more (WCAG 2.2, 1.4.3)", () => {
  const sheet = ["style.css", "panels.css", "popovers.css"].map((name) => readFileSync(new URL(name, import.meta.url), "utf8")).join("\n");
  const variable = (name) => sheet.match(new RegExp(`--${name}: ([^;]+);`))[1];
  const parsed = (text) => {
    const digits = text.match(/^#(..)(..)(..)$/);
    if (digits) return [...digits.slice(1).map((pair) => parseInt(pair, 16)), 1];
    const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((value, i) => value * a + below[i] * (1 - a));
  const contrast = (a, b) => {
    const [dark, light] = [a, b].map((colour) => luminance(colour.map((value) => value / 255))).sort((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
  };
  // Panels are transparent: white below them is the worst case.
  const panel = over(parsed(variable("ground")), [255, 255, 255]);
  for (const name of ["ink", "dim", "good", "warn", "bad", "accent"]) {
    const ratio = contrast(parsed(variable(name)).slice(0, 3), panel);
    assert.ok(ratio >= 4.5, `--${name} on a panel: ${ratio.toFixed(1)}`);
  }
  const pressed = contrast(parsed("#0b1220").slice(0, 3), parsed(variable("accent")).slice(0, 3));
  assert.ok(pressed >= 4.5, `a pressed button: ${pressed.toFixed(1)}`);
  // Names have a dark rim. Discs, dots and bodies lie on the darkest and the lightest floor.
  const rim = [8, 11, 17];
  for (let slot = 0; slot < 64; slot++) {
    const name = hueColour(hueOf(slot), 0.8, 0.78).map((value) => value * 255);
    const ratio = contrast(name, rim);
    assert.ok(ratio >= 4.5, `the name of slot ${slot}: ${ratio.toFixed(1)}`);
    // Dots are graphics, not text: they need a contrast of 3 (WCAG 1.4.11).
    const dot = slotColour(slot).map((value) => value * 255);
    assert.ok(contrast(dot, panel) >= 3, `the dot of slot ${slot}: ${contrast(dot, panel).toFixed(1)}`);
  }
  // The hues of a full match differ from one another.
  const hues = Array.from({ length: 32 }, (_, slot) => hueOf(slot)).sort((a, b) => a - b);
  hues.forEach((hue, i) => assert.ok(i === 0 || hue - hues[i - 1] > 0.01, `${hue}`));
});

test("batches keep their memory and their content", () => {
  const frame = new Frame();
  for (let round = 0; round < 2; round++) {
    frame.clear();
    for (let i = 0; i < 100; i++) put(frame.bodies, "ball", [i, 0, 0], [0, 0, 0, 1], [1, 1, 1], [1, 0.5, 0], 0.5, 1);
    stroke(frame.strokes, [1, 2, 3], [4, 5, 6], [1, 1, 1], 0, 1, 2);
  }
  const { numbers, count, width } = frame.bodies.get("ball");
  assert.deepEqual([count, width, numbers[99 * width], numbers[99 * width + 13]], [100, 15, 99, 0.5]);
  assert.deepEqual([...frame.strokes.numbers.slice(0, frame.strokes.used)], [1, 2, 3, 4, 5, 6, 1, 1, 1, 0, 1, 2]);
  const before = frame.bodies.get("ball").numbers;
  frame.clear();
  assert.equal(frame.bodies.get("ball").numbers, before);
});

test("the answer to why names what a body touches, what stopped it and why it sleeps", async () => {
  const { lines } = await import("./replay/why.js");
  const touching = [{ other: null, solid: 7, normal: [0, 0, -1], gap: 0.1, impulse: 9.5, stage: "exact" }];
  const found = { asleep: true, because: "moves", sleeps: "at_rest", island: [3, 4], speed: 0, rests: [9, 9, 0], needed: 9, held: false, moves: false, stopped: null, touching };
  const said = lines({ tick: 180, slot: 2, found, last: { moved: 120, since: 120 } }, 60).join("\n");
  assert.ok(!said.includes("stopped"), said);
  for (const part of ["Body 2 at tick 180", "asleep, with body 3, body 4", "last moved at tick 120, 1.0 s before", "solid 7", "0.00 0.00 -1.00", "impulse 9.5", "by exact"]) {
    assert.ok(said.includes(part), `${part} in ${said}`);
  }
  const awake = { ...found, asleep: false, island: [], speed: 12, rests: [0, 0, 0], touching: [], moves: true };
  // Symptom: the panel said "two minutes or more" of a body that had not moved since the recording
  // began, 15 s before. Cause: a search without a result counted as long ago. Cure: the panel says
  // since which tick the body has not moved.
  for (const [last, part] of [[null, "looking back for the tick"], [{ moved: null, since: 0 }, "has not moved since tick 0, with which the recording begins"]]) {
    const told = lines({ tick: 180, slot: 2, found, last }, 60).join("\n");
    assert.ok(told.includes(part), told);
  }
  const moving = lines({ tick: 180, slot: 2, found: awake }, 60).join("\n");
  assert.ok(moving.includes("it moves in this tick") && moving.includes("awake: moves") && moving.includes("surface moves at 12.0") && moving.includes("touches nothing"), moving);
  assert.ok(moving.includes("still for 0 of 9 ticks"), moving);
  const stopped = { other: 12, solid: null, normal: [0, 0, -1], share: 0.4 };
  const name = (slot) => `crate ${slot}`;
  const of = (stop) => lines({ tick: 180, slot: 2, found: { ...awake, stopped: stop } }, 60, name);
  assert.ok(of(stopped).includes("stopped by crate 12 at 40 % of its motion: plane 0.00 0.00 -1.00"), of(stopped).join("\n"));
  assert.ok(of({ ...stopped, other: null, solid: 7 }).some((line) => line.startsWith("stopped by the world's solid 7 at")));
  assert.ok(of({ ...stopped, other: null }).some((line) => line.startsWith("stopped by something that has gone at")));
  // Symptom: the panel said "still for 0 of 9 ticks" of players. Cause: players do not sleep, so
  // nothing counts their ticks. Cure: the panel says that players do not sleep.
  for (const [sleeps, because] of [["never_player", "players do not sleep"], ["never_missile", "missiles do not sleep"], ["without_velocity", "its game moves it"]]) {
    const told = lines({ tick: 180, slot: 2, found: { ...awake, sleeps } }, 60).join("\n");
    assert.ok(told.includes(`awake: ${because}`) && told.includes("moves at 12.0") && !told.includes("still for"), told);
  }
  assert.deepEqual(lines({ tick: 5, slot: 1, found: null }, 60), ["Body 1 is not in the world at tick 5."]);
});

test("a page is about the match of its address, and about the first without one", () => {
  assert.equal(chosenMatch({ search: "" }), "");
  assert.equal(chosenMatch({ search: "?play=Ann&match=duel" }), "duel");
  assert.equal(ofMatch("/info", { search: "?play=Ann" }), onServer("/info"));
  assert.equal(ofMatch("/effects/7", { search: "?match=duel" }), `${onServer("/effects/7")}?match=duel`);
});

/** Case: behind a proxy at /arena/ the page asked for everything at the root. */
test("the server's paths are below the folder that the page came from", () => {
  const root = new URL("../", import.meta.url).href;
  assert.equal(onServer("/info"), `${root}info`);
  assert.equal(onServer("/"), root);
});

test("no file of the page has an address that begins at the root", () => {
  const folder = new URL("./", import.meta.url);
  for (const name of readdirSync(folder, { recursive: true })) {
    if (!/\.(js|css|html)$/.test(name)) continue;
    const text = readFileSync(new URL(name, folder), "utf8");
    for (const found of text.matchAll(/(?:src|href)="\/|url\(["']?\/|(?:fetch|Worker|import)\(["'`]\/|from "\//g)) {
      assert.fail(`${name}: ${text.slice(found.index, found.index + 40)}`);
    }
  }
});

test("the figures are of the match that the page shows", () => {
  const text = `x{match="main"} 1\nx{match="duel"} 2\ny{match="duel",quantile="0.99"} 3\nz 4`;
  const duel = parseMetrics(text, "duel");
  assert.deepEqual([duel.get("x"), duel.get('y{quantile="0.99"}'), duel.get("z")], [2, 3, 4]);
  assert.equal(parseMetrics(text).get("x"), 1);
});

test("another match is watched on the same page, whatever was played or replayed", () => {
  const page = { href: "https://game.example:8443/?match=main&play=Ann&replay=old.obsr&port=27500" };
  assert.equal(addressOf(page, "ring two"), "?match=ring+two&port=27500");
  assert.equal(addressOf({ href: "http://127.0.0.1:8080/" }, "main"), "?match=main");
});

// A replay at a tick, with one player in slot 3 and an event in each frame.
async function replayAt(at, recording = {}) {
  const { Replay } = await import("./replay/replay.js");
  const anything = new Proxy(() => {}, { get: () => anything, apply: () => anything, set: () => true });
  globalThis.document = anything;
  const told = { first: 0, ticks: 600, tickRate: 60, deaths: [], names: [], chat: [], ...recording };
  const replay = new Replay({ worker: { postMessage() {} }, recording: told }, () => {});
  delete globalThis.document;
  const numbers = new Float32Array(16).fill(1, 2, 3).fill(3, 0, 1);
  return Object.assign(replay, { at, told: at, frames: new Map(Array.from({ length: 601 }, (_, tick) => [tick, { tick, numbers, events: [{ tick }] }])) });
}

test("a step of a replay is from the tick that is shown to the next or the previous tick", async () => {
  for (const [at, ticks, then] of [[10, 1, 11], [10, -1, 9], [10.6, 1, 11], [10.6, -1, 9], [10.6, 20, 30], [0, -1, 0], [600, 1, 600]]) {
    const replay = await replayAt(at);
    assert.equal((replay.step(ticks), replay.at), then, `${ticks} from ${at}`);
  }
});

test("nothing that happens in a replay is lost, however many ticks a picture is late", async () => {
  const replay = Object.assign(await replayAt(10), { speed: 8 });
  const flat = ({ elsewhere, events }) => [elsewhere, ...events.map(({ tick }) => tick)];
  const happened = (passed = 0) => [replay.advance(passed), ...flat(replay.happened())];
  assert.deepEqual(happened(), [10, true]);
  // More than a second of the match, and still the same place.
  assert.deepEqual(happened(0.15), [82, false, ...Array.from({ length: 72 }, (_, i) => 11 + i)]);
  replay.seek(85);
  assert.deepEqual(happened(), [85, false, 83, 84, 85]);
  replay.seek(77);
  assert.deepEqual(happened(0.01), [81.8, true, 78, 79, 80, 81]);
});

// Symptom: a player who had just joined had died several times. Cause: deaths were counted by slot,
// and another player had the slot before.
test("a newcomer in a replay does not have the deaths of the slot's earlier player", async () => {
  const recording = { names: [[1, 3, "Ann"], [100, 3, "Bob"]], deaths: [20, 60, 100, 140].map((tick) => [tick, 3, 4]) };
  for (const [at, name, deaths] of [[50, "Ann", 1], [99, "Ann", 2], [100, "Bob", 1], [140, "Bob", 2]]) {
    assert.deepEqual((await replayAt(at, recording)).players().map((one) => [one.name, one.deaths]), [[name, deaths]], `at ${at}`);
  }
});

test("the badge of a replay says what is wrong, and the strip is red for every fault", () => {
  for (const [progress, state, text, title, incomplete = null] of [
    [{}, "good", "1,201 digests equal, 20 ticks audited", /^Each tick was played again/],
    [{}, "warn", "1,201 digests equal, 20 ticks audited; the file is cut short", /^it breaks off/, "it breaks off"],
    [{ finding: "tick 9" }, "bad", "audit: tick 9", /^1,201 digests are equal so far/],
    [{ difference: "tick 9" }, "bad", "tick 9", /^1,201 digests are equal before it/],
    [{ broken: "too large", verified: undefined }, "bad", "too large", /^0 digests are equal up to there/],
  ]) {
    const [badge, pen, marks] = [{ dataset: {} }, { fillRect() {} }, { getContext: () => pen }];
    for (const part of ["judge", "mark"]) Timeline.prototype[part].call({ badge, marks, replay: { deaths: [] } }, { first: 0, ticks: 600, incomplete }, { tick: 600, verified: 1201, audited: 20, ...progress });
    assert.deepEqual([badge.dataset.state, pen.fillStyle === "#ff8f7a", badge.textContent], [state, state === "bad", text]);
    assert.match(badge.title, title);
  }
});

test("the page has the name of its server", () => {
  const heading = {};
  const page = { querySelector: (what) => (what === "h1" ? heading : null) };
  const shown = () => [heading.textContent, page.title, heading.title];
  showTitle({ map: "warren", name: "Ann's <hall>", motd: "Be kind" }, page);
  assert.deepEqual(shown(), ["warren", "warren – Ann's <hall>", "Ann's <hall>: Be kind"]);
  showTitle({ map: "warren", name: null, motd: "Be kind" }, page);
  assert.deepEqual(shown(), ["warren", "warren – Arena", "Be kind"]);
  showTitle({ map: "warren" }, page);
  assert.deepEqual(shown(), ["warren", "warren – Arena", ""]);
});
