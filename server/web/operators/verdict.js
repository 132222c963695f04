/**
 * The verdict on the server: a word that says whether the match keeps its time or what else is
 * wrong, and figures of the machine.
 */

import { find } from "../hud/find.js";

/**
 * Share of ticks that may be late without harm, because the server catches up. The alert has the
 * same limit.
 */
const HARMLESS = 0.05;

/** Share of dropped ticks from which the match is visibly slower than the clock. */
const SEEN = 0.01;

/** Seconds without a tick from which the server counts a stall and `/healthz` fails. */
const STALL = 1;

/**
 * Seconds before the end of a certificate from which the page warns of it. The alert has the same
 * limit.
 */
const CERTIFICATE_WARNING = 7 * 86400;

/**
 * Limits above which the page and the alerts warn: the number of players whose commands the server
 * does not use, and the number of datagrams a second that the kernel drops.
 */
const UNUSED = 0.9;
const DROPPED_DATAGRAMS = 5;

/**
 * The problems that do not stop the match, the worst first. Logs, metrics and alerts also report
 * them.
 *
 * @param {import("./metrics.js").Interval} interval
 * @returns {{word: string, detail: string}[]}
 */
function worries(interval) {
  const unused = interval.rate('game_command_ticks_total{source="neutral"}') / interval.value("game_tick_rate_hertz");
  const datagrams = interval.rate("game_udp_receive_drops_total");
  const lines = ["queue_full", "unwritable"].map((reason) => interval.growth(`game_log_lines_lost_total{reason="${reason}"}`) || 0);
  const left = interval.value('game_certificate_expiry_timestamp_seconds{source="files"}') - Date.now() / 1000;
  return [
    unused > UNUSED && { word: "Commands unused", detail: `the server uses no command of ${unused.toFixed(0)} players` },
    datagrams > DROPPED_DATAGRAMS && {
      word: "Datagrams dropped",
      detail: `the kernel drops ${datagrams.toFixed(0)} datagrams a second before the server reads them`,
    },
    interval.value("game_recording_failed") > 0 && {
      word: "Not recorded",
      detail: "the recording failed; the server's log says why",
    },
    left < CERTIFICATE_WARNING && {
      word: left > 0 ? "Certificate ends" : "Certificate ended",
      detail: left > 0 ? `the certificate expires in ${(left / 86400).toFixed(1)} days` : "the certificate has expired: nobody can join",
    },
    lines[0] + lines[1] > 0 && {
      word: "Log incomplete",
      detail: `${lines[0] + lines[1]} lines of the log are lost: a full disk, or a slow reader`,
    },
  ].filter((worry) => worry !== false);
}

/**
 * The verdict from the server's own figures. `halted` is the number of seconds without a tick if
 * the match stands still, else null.
 *
 * @param {import("./metrics.js").Interval} interval
 * @returns {{state: "good" | "warn" | "bad", word: string, detail: string, halted: ?number}}
 */
export function verdict(interval) {
  const cores = interval.rate("game_process_cpu_seconds");
  const memory = interval.value("game_process_resident_memory_bytes") / 1e6;
  const process = [`${cores.toFixed(1)} cores`, `${memory.toFixed(0)} MB`];
  const age = interval.value("game_tick_age_seconds");
  if (age >= STALL || interval.growth("game_ticks_total") === 0) {
    const detail = [`no tick for ${age.toFixed(0)} s`, ...process].join(" · ");
    return { state: "bad", word: "No ticks", detail, halted: age };
  }
  const wanted = interval.value("game_tick_rate_hertz");
  const rate = interval.rate("game_ticks_total");
  const late = interval.growth("game_tick_overruns_total") / interval.growth("game_ticks_total");
  const dropped = interval.growth("game_ticks_dropped_total");
  const share = interval.mean("game_tick_duration_seconds") * wanted * 100;
  const worried = worries(interval);
  const detail = [
    `${rate.toFixed(0)} of ${wanted} ticks a second`,
    `a tick takes ${share.toFixed(0)} % of its time`,
    late > 0 ? `${(late * 100).toFixed(1)} % late` : "none late",
    dropped > 0 ? `${dropped} dropped` : null,
    ...process,
    ...worried.map(({ detail }) => detail),
  ];
  const isSlow = dropped > SEEN * interval.growth("game_ticks_total");
  const isLate = late > HARMLESS || dropped > 0;
  const said = { detail: detail.filter(Boolean).join(" · "), halted: null };
  if (isSlow) return { state: "bad", word: "Slow", ...said };
  if (isLate) return { state: "warn", word: "Late", ...said };
  if (worried.length > 0) return { state: "warn", word: worried[0].word, ...said };
  return { state: "good", word: "On time", ...said };
}

/** Shows the verdict at the top and in the server's panel. */
export class VerdictView {
  constructor() {
    this.chip = find("#verdict", HTMLElement);
    this.line = find("#charts summary span", HTMLElement);
  }

  /** @param {ReturnType<typeof verdict>} verdict */
  show({ state, word, detail }) {
    this.chip.hidden = false;
    this.chip.dataset.state = state;
    this.chip.textContent = word;
    this.chip.title = detail;
    this.line.textContent = detail;
  }

  /** Hides the verdict, because no figures are known. */
  hide() {
    this.chip.hidden = true;
    this.line.textContent = "";
  }
}
