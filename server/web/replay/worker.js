/**
 * Runs a recorded match in a worker. It sends the ticks that the page asks for, and verifies the
 * recording while there is nothing else to do.
 */

import { ofMatch } from "../link/match.js";
import { Engine } from "./engine.js";

/** @typedef {import("./engine.js").Recording} Recording */

/**
 * Milliseconds of verification at a stretch. A request of the page may have to wait for this long.
 */
const STRETCH = 10;

/** @type {?Engine} */
let engine = null;
/** @type {number[]} */
let wanted = [];
/**
 * The body that the page asks about: its slot, and the tick.
 *
 * @type {?{slot: number, tick: number}}
 */
let question = null;
/**
 * The search for the last motion of a body: the slot of the body, and the tick from which the
 * search goes back.
 *
 * @type {?{slot: number, tick: number}}
 */
let search = null;
/**
 * The request for a branch; its `branch` is `null` to end the branch.
 *
 * @type {?{branch: ?import("./engine.js").Asked}}
 */
let parting = null;
/** Whether frames hold the work of the cascade. */
let hot = false;
/**
 * The height of the requested cut through the onion.
 *
 * @type {?number}
 */
let height = null;
let left = 0;
/** Whether the page shows the recording. It is not verified before that. */
let isShown = false;
let scheduled = false;

/** The worker goes on by messages to itself, so that messages of the page come in between. */
const turns = new MessageChannel();
turns.port1.onmessage = () => {
  scheduled = false;
  work();
};

function schedule() {
  if (scheduled) return;
  scheduled = true;
  turns.port2.postMessage(null);
}

function work() {
  if (!engine) return;
  if (parting) {
    begin(engine, parting.branch);
    parting = null;
  } else if (question) {
    const { slot, tick } = question;
    question = null;
    const found = engine.why(slot, tick);
    // A body that moves in this tick needs no search.
    search = found && !found.moves ? { slot, tick } : null;
    postMessage({ why: { slot, tick, found } });
  } else if (height !== null) {
    postMessage({ cut: engine.cut(height) });
    height = null;
  } else if (wanted.length > 0) {
    const [next] = wanted.splice(0, 1);
    const frame = engine.show(next, hot);
    frame.other = engine.showBranch(frame.tick);
    const buffers = [frame.numbers, frame.other].flatMap((numbers) => (numbers ? [numbers.buffer] : []));
    postMessage({ frame }, { transfer: buffers });
  } else if (search) {
    const found = engine.lastMoved(search.slot, search.tick);
    if (found !== undefined) {
      postMessage({ lastMoved: { ...search, found } });
      search = null;
    }
  } else if (isVerifying()) {
    const begin = performance.now();
    let progress;
    do {
      progress = engine.verify(1);
      left--;
    } while (left > 0 && performance.now() - begin < STRETCH);
    if (progress.broken) left = 0;
    postMessage({ progress });
  }
  if (parting || question || height !== null || wanted.length > 0 || search || isVerifying()) schedule();
}

function isVerifying() {
  return isShown && left > 0;
}

/**
 * Begins a branch, or ends it. Frames from now on show the result.
 *
 * @param {Engine} engine
 * @param {?import("./engine.js").Asked} branch
 */
function begin(engine, branch) {
  wanted = [];
  try {
    if (branch) engine.branch(branch);
    else engine.endBranch();
    postMessage({ branched: { branch } });
  } catch (error) {
    engine.endBranch();
    postMessage({ branched: { branch: null, refused: /** @type {Error} */ (error).message } });
  }
}

/**
 * @param {object} match
 * @param {Uint8Array} match.recording
 * @param {(told: Recording) => Promise<Uint8Array>} match.map fetches the map of the recording
 */
async function open({ recording, map }) {
  const fresh = await Engine.load().catch((error) => {
    throw new Error(`The simulation that plays recordings cannot be loaded (${error.message}). Reload the page when the server answers.`);
  });
  const told = fresh.openRecording(recording);
  postMessage({ recording: told });
  fresh.openMap(await map(told));
  [engine, left] = [fresh, told.ticks - told.first];
  postMessage({ isReady: true });
  // Handles the requests that came while the simulation was loaded: the page does not repeat them.
  schedule();
}

/** @param {Recording} recording */
async function fetchMap({ hash, map }) {
  // The address of this worker names the match of the page, as the page's own address does.
  const address = ofMatch(`/maps/${hash}`, { search: globalThis.location?.search ?? "" });
  const answer = await fetch(address).catch(() => {
    throw new Error(`The server does not answer, so the map ${map} of the recording cannot be fetched. Open the file again when the server is back.`);
  });
  if (!answer.ok) throw new Error(`The recording was made on the map ${map} (${hash.slice(0, 8)}), which this server does not have.`);
  return new Uint8Array(await answer.arrayBuffer());
}

onmessage = ({ data }) => {
  if (data.open) {
    open({ recording: data.open, map: fetchMap }).catch((error) => postMessage({ failed: error.message }));
  } else if ("branch" in data) {
    parting = data;
  } else if ("why" in data) {
    [question, search] = [data.why, null];
  } else if (data.layers) {
    hot = data.layers.hot;
    height = data.layers.height ?? height;
  } else {
    [wanted, isShown] = [data.wanted, true];
  }
  schedule();
};
