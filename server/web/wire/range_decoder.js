/** PROTOCOL.md, "Range coding": the decoder. */

/** The least range. A smaller range is widened by a byte. */
const LEAST_RANGE = 2 ** 24;

/** Maximum number of bits of equal probability that are read at a time. */
const RAW_STEP = 16;

/** Data that break the protocol. */
export class Malformed extends Error {}

/** Reads bits with adaptive probabilities. */
export class RangeDecoder {
  /**
   * @param {number[]} priors the initial probabilities, in 256ths
   * @param {Uint8Array} bytes
   */
  constructor(priors, bytes) {
    this.probabilities = Uint16Array.from(priors, (prior) => prior << 8);
    this.bytes = bytes;
    this.next = 0;
    this.range = 0xffffffff;
    this.above = 0;
    for (let i = 0; i < 4; i++) this.above = (this.above * 256 + this.byte()) >>> 0;
  }

  /** Reads the next byte; zero after the end. */
  byte() {
    const byte = this.next < this.bytes.length ? this.bytes[this.next] : 0;
    this.next++;
    return byte;
  }

  /** Widens the range while it is too narrow. */
  shift() {
    while (this.range < LEAST_RANGE) {
      this.above = ((this.above << 8) | this.byte()) >>> 0;
      this.range = (this.range << 8) >>> 0;
    }
  }

  /**
   * Reads a bit that is coded with the probability at this index. The probability then adapts.
   *
   * @param {number} probability
   */
  bit(probability) {
    const likely = this.probabilities[probability];
    const share = (this.range >>> 16) * likely;
    const bit = this.above < share ? 1 : 0;
    if (bit) {
      this.range = share;
      this.probabilities[probability] = likely + ((65536 - likely) >> 5);
    } else {
      this.above -= share;
      this.range -= share;
      this.probabilities[probability] = likely - (likely >> 5);
    }
    this.shift();
    return bit;
  }

  /**
   * Reads a number of `width` bits, the lowest first. All its values are equally likely.
   *
   * @param {number} width
   */
  raw(width) {
    let value = 0;
    for (let done = 0; done < width; done += RAW_STEP) {
      const step = Math.min(RAW_STEP, width - done);
      this.range = this.range >>> step;
      const part = Math.min(Math.floor(this.above / this.range), 2 ** step - 1);
      this.above -= part * this.range;
      value += part * 2 ** done;
      this.shift();
    }
    return value;
  }

  /**
   * Reads a number of at most `most` bits. Its width is coded in unary, with the probabilities from
   * `chance` on.
   *
   * @param {number} chance
   * @param {number} most
   */
  number(chance, most) {
    let width = 0;
    while (width < most && this.bit(chance + width)) width++;
    return width < 2 ? width : 2 ** (width - 1) + this.raw(width - 1);
  }

  /**
   * Reads a number with a sign.
   *
   * @param {number} chance
   * @param {number} most
   */
  signed(chance, most) {
    const magnitude = this.number(chance, most);
    return magnitude !== 0 && this.raw(1) ? -magnitude : magnitude;
  }

  /**
   * Checks that everything was read. The decoder reads four bytes ahead, into `above`, and the
   * writer leaves out zeros at the end.
   *
   * @throws {Malformed} if bytes are left, or the last one is a zero
   */
  finish() {
    if (this.next < this.bytes.length) throw new Malformed("bytes after the last field");
    if (this.bytes.length > 0 && this.bytes[this.bytes.length - 1] === 0) {
      throw new Malformed("a last byte that is zero");
    }
  }
}
