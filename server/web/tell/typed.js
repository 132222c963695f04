/**
 * Decides whether a line that a player types is a command of the page, a vote of the server, chat,
 * or nothing. A line that begins with `/` is never said to all by mistake.
 */

/** The commands of the page. */
const COMMANDS = [
  { verb: "help", usage: "/help", does: "lists these commands" },
  { verb: "name", usage: "/name NAME", does: "chooses the name under which you join next" },
  { verb: "again", usage: "/again", does: "joins again, under that name and with a score of 0" },
  { verb: "leave", usage: "/leave", does: "leaves the match" },
];

/** The commands of votes, each with the vote that the server must allow; `null` means any vote. */
const VOTES = [
  { verb: "votemap", usage: "/votemap MAP", does: "calls a vote for another map", needs: "map" },
  { verb: "votekick", usage: "/votekick PLAYER", does: "calls a vote to remove a player", needs: "kick" },
  { verb: "yes", usage: "/yes, /no", does: "answers a vote", needs: null },
  { verb: "no", needs: null },
];

/**
 * How many lines and bytes a player may say at once, and how many more in each second (PROTOCOL.md,
 * "Say"). A server drops the rest without an answer.
 */
const LINES = { atOnce: 5, each: 1 };
const BYTES = { atOnce: 1000, each: 100 };

/**
 * @typedef {{say: string} | {act: "help" | "name" | "again" | "leave", rest: string} | {refused: string}} Decision
 *   a line to send to the server, a command of the page, or the reason why it is neither
 */

/**
 * The commands of votes that a server with these votes knows.
 *
 * @param {string[]} votes
 */
const known = (votes) => VOTES.filter(({ needs }) => votes.length > 0 && (needs === null || votes.includes(needs)));

/**
 * Lists the commands, for `/help` and while a command is typed.
 *
 * @param {string[]} votes that the server allows
 * @param {string} [begun] what is typed already
 * @returns {string[]}
 */
export function commands(votes, begun = "/") {
  const all = [...COMMANDS, ...known(votes)].filter(({ usage }) => usage);
  const [verb] = begun.slice(1).split(" ");
  return all.filter((command) => command.verb.startsWith(verb)).map(({ usage, does }) => `${usage}: ${does}`);
}

/**
 * @param {string} line
 * @param {string[]} votes that the server allows
 * @returns {Decision}
 */
export function decide(line, votes) {
  if (!line.startsWith("/")) return { say: line };
  const [verb, ...rest] = line.slice(1).split(" ");
  const command = COMMANDS.find((one) => one.verb === verb);
  if (command) return { act: /** @type {any} */ (command.verb), rest: rest.join(" ").trim() };
  if (known(votes).some((one) => one.verb === verb)) return { say: line };
  return { refused: `The command /${verb} is unknown. /help lists the commands.` };
}

/** Counts lines and their bytes as the server does. */
export class Pace {
  constructor() {
    [this.lines, this.bytes] = [LINES.atOnce, BYTES.atOnce];
    /** The time of the last count, in milliseconds. */
    this.at = 0;
  }

  /**
   * Counts a line against the limits if it may be sent now.
   *
   * @param {string} line
   * @param {number} now milliseconds
   * @returns {?string} why the line has to wait; null if it may be sent now
   */
  take(line, now) {
    const [passed, length] = [(now - this.at) / 1000, new TextEncoder().encode(line).length];
    this.lines = Math.min(LINES.atOnce, this.lines + passed * LINES.each);
    this.bytes = Math.min(BYTES.atOnce, this.bytes + passed * BYTES.each);
    this.at = now;
    const wait = Math.ceil(Math.max((1 - this.lines) / LINES.each, (length - this.bytes) / BYTES.each));
    if (wait > 0) return `Too fast: the server drops so many words at once. Press Enter again in ${wait} s.`;
    this.lines -= 1;
    this.bytes -= length;
    return null;
  }
}
