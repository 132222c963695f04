/**
 * Runs a recorded match in a worker. It sends the ticks that the page asks for, and verifies the
 * recording while there is nothing else to do.
 */

import { ofMatch } from "../link/match.js";
import { Engine } from "./engine.js";

/**
 * Milliseconds of verification at a stretch. A request of the page may have to wait for this long.
 */
const STRETCH = 10;

let engine = null;
let wanted = [];
/** The body that the page asks about: its slot, and the tick. */
let question = null;
/**
 * The search for the last motion of a body: the slot of the body, and the tick from which the
 * search goes back.
 */
let search = null;
/** The request for a branch; its `branch` is `null` to end the branch. */
let parting = null;
/** Whether frames hold the work of the cascade. */
let hot = false;
/** The height of the requested cut through the onion. */
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
    begin(parting.branch);
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
    const frame = engine.show(wanted.shift(), hot);
    frame.other = engine.showBranch(frame.tick);
    postMessage({ frame }, [frame.numbers, frame.other].filter(Boolean).map(({ buffer }) => buffer));
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

/** Begins a branch, or ends it. Frames from now on show the result. */
function begin(branch) {
  wanted = [];
  try {
    if (branch) engine.branch(branch);
    else engine.endBranch();
    postMessage({ branched: { branch } });
  } catch (error) {
    engine.endBranch();
    postMessage({ branched: { branch: null, refused: error.message } });
  }
}

async function open({ recording, map }) {
  const fresh = await Engine.load();
  const told = fresh.openRecording(recording);
  postMessage({ recording: told });
  fresh.openMap(await map(told));
  [engine, left] = [fresh, told.ticks - told.first];
  postMessage({ isReady: true });
  // Handles the requests that came while the simulation was loaded: the page does not repeat them.
  schedule();
}

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
