/**
 * Runs a recorded match beside the page: shows the ticks that the page asks for, and
 * verifies the rest while there is nothing to show.
 */

import { ofMatch } from "../link/match.js";
import { Engine } from "./engine.js";

/** Milliseconds that are verified at a stretch: what the page may have to wait. */
const STRETCH = 10;

let engine = null;
let wanted = [];
/** The body that somebody asks about: its slot, and the tick. */
let question = null;
/** The body of which it is not known yet when it last moved, and the tick. */
let search = null;
/** The other future that somebody asks for; `null` inside to end it. */
let parting = null;
/** Whether frames tell what the cascade is busy with. */
let hot = false;
/** The height at which the onion is to be cut. */
let height = null;
let left = 0;
let scheduled = false;

/** Lets messages come in between. */
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
    // What moves in this tick last moved in it.
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
  } else if (left > 0) {
    const begin = performance.now();
    let progress;
    do {
      progress = engine.verify(1);
      left--;
    } while (left > 0 && performance.now() - begin < STRETCH);
    if (progress.broken) left = 0;
    postMessage({ progress });
  }
  if (parting || question || height !== null || wanted.length > 0 || search || left > 0) schedule();
}

/** Begins another future, or ends the one that there is. Frames from now on are of it. */
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
  // Frames that were asked for meanwhile are not asked for again.
  schedule();
}

async function fetchMap({ hash, map }) {
  // Its address names the match that the page is about, as that of the page does.
  const answer = await fetch(ofMatch(`/maps/${hash}`, { search: globalThis.location?.search ?? "" }));
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
    wanted = data.wanted;
  }
  schedule();
};
