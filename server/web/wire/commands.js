/** PROTOCOL.md, "Commands". A spectator sends an acknowledgement and a command of all zeros. */

const KIND = 1;

/** Writes bits, the lowest of each byte first. */
class BitWriter {
  constructor() {
    /** @type {number[]} */
    this.bytes = [];
    this.used = 0;
  }

  /**
   * Writes the `width` low bits of a number, the lowest first.
   *
   * @param {number} value
   * @param {number} width
   */
  unsigned(value, width) {
    for (let i = 0; i < width; i++, this.used++) {
      if (this.used % 8 === 0) this.bytes.push(0);
      if (Math.floor(value / 2 ** i) % 2 === 1) {
        this.bytes[this.bytes.length - 1] |= 1 << this.used % 8;
      }
    }
  }
}

/**
 * A datagram with an idle command.
 *
 * @param {number} tick that the command is for
 * @param {?{latest: number, before: number}} acknowledgement as `History.acknowledgement` returns
 *   it
 * @returns {Uint8Array}
 */
export function idleCommand(tick, acknowledgement) {
  const writer = new BitWriter();
  writer.unsigned(KIND, 2);
  writer.unsigned(acknowledgement ? 1 : 0, 1);
  writer.unsigned(0, 3);
  writer.unsigned(0, 2);
  writer.unsigned(tick % 65536, 16);
  if (acknowledgement) {
    writer.unsigned(acknowledgement.latest % 65536, 16);
    writer.unsigned(acknowledgement.before, 32);
  }
  // Each of these five bits says that a field is zero.
  writer.unsigned(0, 5);
  return Uint8Array.from(writer.bytes);
}
