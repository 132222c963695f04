/**
 * Chooses how many pixels are drawn: all, unless that is too slow. If it is, the page tries fewer
 * pixels, and stays with them if the frame rate rises. The frame rate does not rise if something
 * else takes the time, or if the screen itself shows fewer frames.
 */

/** Frames a second below which fewer pixels are tried, and from which on more are tried. */
const SMOOTH = 50;
const WITH_EASE = 56;

/** Frames a second below which fewer pixels are kept even without a gain. */
const BARELY = 15;

/** Factor by which a step to fewer pixels must raise the frame rate to be kept. */
const WORTH = 1.08;

/** Factor of the pixels along each side in a step. */
const STEP = 0.8;

/** Smallest share of the pixels along each side. */
export const COARSEST = 0.5;

/** Seconds to wait after a step that did not help: after the first such step, and at most. */
const PATIENCE = 8;
const LONGEST_PATIENCE = 120;

/** The share of the pixels that is drawn, second by second. */
export class Detail {
  constructor() {
    /** Share of the pixels along each side. */
    this.share = 1;
    this.tried = null;
    this.wait = 0;
    this.patience = PATIENCE;
  }

  /** Draws all pixels from now on. */
  reset() {
    [this.share, this.tried, this.wait] = [1, null, 0];
  }

  /**
   * Notes that a second has passed.
   *
   * @param {number} rate frames that were drawn in that second
   */
  note(rate) {
    const tried = this.tried;
    this.tried = null;
    if (tried && !this.helped(tried, rate)) {
      this.share = tried.share;
      this.wait = this.patience;
      this.patience = Math.min(this.patience * 2, LONGEST_PATIENCE);
      return;
    }
    if (tried?.coarser) this.patience = PATIENCE;
    if (this.wait > 0) {
      this.wait--;
      return;
    }
    // A rate that is far too low takes a larger step.
    if (rate < SMOOTH) this.change(rate, STEP ** (rate < SMOOTH / 2 ? 2 : 1));
    else if (rate >= WITH_EASE) this.change(rate, 1 / STEP);
  }

  helped({ rate: before, coarser }, rate) {
    if (!coarser) return rate >= SMOOTH;
    return rate >= SMOOTH || rate < BARELY || rate > before * WORTH;
  }

  change(rate, factor) {
    const share = Math.min(1, Math.max(COARSEST, this.share * factor));
    if (share === this.share) return;
    this.tried = { share: this.share, rate, coarser: share < this.share };
    this.share = share;
  }
}
