/**
 * Opens a recording while the page still shows a match or another replay. A worker reads the
 * recording and sets up its match. Only then is the earlier one closed, so a file that cannot be
 * played ends nothing.
 */

import { withMatch } from "../link/match.js";

/** Limit in bytes of a recording that is opened. The simulation needs memory of its own. */
export const LARGEST = 64 << 20;

/** The first bytes of every recording, and the number of bytes up to the end of the version. */
const MAGIC = "OBSR";
const START = MAGIC.length + 2;

/**
 * @typedef {object} Opened a recording that can be played
 * @property {string} name of the file
 * @property {Worker} worker which plays it
 * @property {import("./engine.js").Recording} recording
 */

/** @param {number} bytes */
export function sizeOf(bytes) {
  return bytes < 1e5 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/**
 * Looks at a file without reading all of it.
 *
 * @param {Blob} file
 * @returns {Promise<?string>} the reason why it cannot be a recording that the page plays; null if
 *   it may be one
 */
export async function fault(file) {
  if (file.size > LARGEST) {
    return `It has ${sizeOf(file.size)}, and the page plays recordings of up to ${sizeOf(LARGEST)}. Play it with \`server replay\`.`;
  }
  const start = new Uint8Array(await file.slice(0, START).arrayBuffer());
  const isCalled = [...MAGIC].every((letter, at) => start[at] === letter.charCodeAt(0));
  if (start.length < MAGIC.length || !isCalled) {
    return `It is not a recording: it does not begin with ${MAGIC}. A server with --record writes recordings.`;
  }
  return start.length < START ? "It is cut short: it ends before anything is recorded. Copy the file again." : null;
}

/** A message of the simulation about "the recording", with "It" as its subject. */
const said = (/** @type {string} */ message) => message.replace(/^the recording /, "It ");

/**
 * Reads a recording and sets up its match in a worker.
 *
 * @param {Blob} file
 * @param {string} name of the file
 * @returns {Promise<Opened>}
 * @throws {Error} with the reason, if the recording cannot be played
 */
export async function openRecording(file, name) {
  const why = await fault(file);
  if (why) throw new Error(why);
  const bytes = new Uint8Array(await file.arrayBuffer());
  const worker = new Worker(withMatch(new URL("worker.js", import.meta.url).href), { type: "module" });
  try {
    return { name, worker, recording: await prepared(worker, bytes) };
  } catch (error) {
    worker.terminate();
    throw error;
  }
}

/**
 * @param {Worker} worker
 * @param {Uint8Array} bytes
 * @returns {Promise<import("./engine.js").Recording>} the recording, once its match is set up
 */
function prepared(worker, bytes) {
  return new Promise((resolve, reject) => {
    /** @type {import("./engine.js").Recording} */
    let told;
    worker.onmessage = ({ data }) => {
      if (data.recording) told = data.recording;
      if (data.failed) reject(new Error(said(data.failed)));
      if (data.isReady) resolve(told);
    };
    worker.onerror = (event) => reject(new Error(event.message || "The simulation cannot be loaded. Reload the page."));
    worker.postMessage({ open: bytes }, [bytes.buffer]);
  });
}
