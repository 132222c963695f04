/**
 * The sounds of a match. Each is made of an oscillator or of noise at the moment when it is heard,
 * and comes from its place: fainter from afar, muffled behind walls and in liquids.
 */

/** Maximum number of sounds that are played at once. Further sounds are left out. */
const VOICES = 24;

/** Units within which a sound has its full loudness. */
const NEAR = 140;

/** Units beyond which nothing is heard. */
const FAR = 2600;

/** Hertz above which walls muffle a sound. */
const MUFFLED = 700;

/** Hertz above which nothing is heard in a liquid, and in air. */
const DROWNED = 450;
const CLEAR = 20_000;

/**
 * A sound.
 *
 * @typedef {object} Kind
 * @property {[OscillatorType, number, number]} [tone]
 * @property {[number, number]} [pass]
 * @property {number} seconds
 * @property {number} gain
 */

/**
 * The sounds. `tone` is the form of a wave, and its hertz at the beginning and the end. A sound
 * without `tone` is noise, of which only the part below `pass` is heard, also in hertz at the
 * beginning and the end. `seconds` is the length, and `gain` the loudness.
 *
 * @type {Record<string, Kind>}
 */
const SOUNDS = {
  ray: { tone: ["sawtooth", 1700, 240], seconds: 0.16, gain: 0.35 },
  launch: { pass: [1400, 300], seconds: 0.32, gain: 0.5 },
  blast: { pass: [1100, 60], seconds: 0.8, gain: 1 },
  step: { pass: [260, 120], seconds: 0.07, gain: 0.22 },
  jump: { tone: ["sine", 150, 260], seconds: 0.1, gain: 0.25 },
  land: { pass: [320, 70], seconds: 0.14, gain: 0.4 },
  splash: { pass: [2600, 240], seconds: 0.45, gain: 0.45 },
  pain: { tone: ["square", 190, 70], seconds: 0.18, gain: 0.3 },
  hit: { tone: ["triangle", 1250, 1250], seconds: 0.06, gain: 0.4 },
  kill: { tone: ["triangle", 620, 1240], seconds: 0.22, gain: 0.45 },
  died: { tone: ["sawtooth", 220, 45], seconds: 0.7, gain: 0.4 },
};

/** The sounds of one page. */
export class Sound {
  /** @param {() => number} volume from 0 to 1 */
  constructor(volume) {
    this.volume = volume;
    /** @type {?AudioContext} null until the user has touched the page, as browsers require */
    this.context = null;
    /** @type {?GainNode} through which all sounds go */
    this.master = null;
    /** @type {?BiquadFilterNode} which muffles all sounds while the ears are in a liquid */
    this.drowned = null;
    /** @type {?AudioBuffer} a second of noise */
    this.noise = null;
    this.voices = 0;
    this.ear = [0, 0, 0];
    /** @type {?import("../camera/sight.js").Sight} */
    this.sight = null;
    /** @type {string[]} names of the sounds so far, the latest last, for tests */
    this.made = [];
  }

  /** Starts the sound, once the user has touched the page. */
  wake() {
    if (this.context || !navigator.userActivation?.hasBeenActive || typeof AudioContext === "undefined") return;
    const context = new AudioContext({ latencyHint: "interactive" });
    this.master = new GainNode(context, { gain: 0 });
    // A compressor keeps many sounds at once from clipping.
    this.drowned = new BiquadFilterNode(context, { type: "lowpass", frequency: CLEAR });
    this.master.connect(this.drowned).connect(new DynamicsCompressorNode(context)).connect(context.destination);
    this.noise = context.createBuffer(1, context.sampleRate, context.sampleRate);
    const samples = this.noise.getChannelData(0);
    for (let i = 0; i < samples.length; i++) samples[i] = Math.random() * 2 - 1;
    this.context = context;
  }

  /**
   * Sets the place and the direction of the ears.
   *
   * @param {number[]} ear
   * @param {number[]} ahead
   * @param {import("../camera/sight.js").Sight} sight
   * @param {boolean} isUnder whether the ears are in a liquid
   */
  listen(ear, ahead, sight, isUnder) {
    [this.ear, this.sight] = [ear, sight];
    const { context, master, drowned } = this;
    if (!context || !master || !drowned) return;
    drowned.frequency.setTargetAtTime(isUnder ? DROWNED : CLEAR, context.currentTime, 0.05);
    master.gain.setTargetAtTime(this.volume(), context.currentTime, 0.05);
    const { listener } = context;
    const level = Math.hypot(ahead[0], ahead[1]);
    const up = [(-ahead[0] * ahead[2]) / level, (-ahead[1] * ahead[2]) / level, level];
    if (listener.positionX) {
      [listener.positionX.value, listener.positionY.value, listener.positionZ.value] = ear;
      [listener.forwardX.value, listener.forwardY.value, listener.forwardZ.value] = ahead;
      [listener.upX.value, listener.upY.value, listener.upZ.value] = up;
    } else {
      listener.setPosition(ear[0], ear[1], ear[2]);
      listener.setOrientation(ahead[0], ahead[1], ahead[2], up[0], up[1], up[2]);
    }
  }

  /**
   * Makes a sound.
   *
   * @param {string} name
   * @param {?number[]} [at] the place of the sound; by default the place of the ears
   */
  play(name, at = null) {
    const { context, master, noise, voices, ear } = this;
    if (at && Math.hypot(...at.map((value, axis) => value - ear[axis])) > FAR) return;
    // A game may name a sound that only another client has.
    if (!(name in SOUNDS) || !context || !master || !noise || voices >= VOICES || this.volume() === 0) return;
    this.made.push(name);
    if (this.made.length > 100) this.made.shift();
    const { tone, pass, seconds, gain } = SOUNDS[name];
    const now = context.currentTime;
    const level = new GainNode(context, { gain });
    level.gain.exponentialRampToValueAtTime(0.001, now + seconds);
    const [source, out] = tone ? sing(level, tone, seconds) : hiss(level, noise, pass ?? [MUFFLED, MUFFLED], seconds);
    out.connect(at ? this.place(context, at, master) : master);
    this.voices++;
    source.addEventListener("ended", () => {
      this.voices--;
      out.disconnect();
    });
    source.start(now);
    source.stop(now + seconds);
  }

  /**
   * Makes the audio nodes from a place to the ears.
   *
   * @param {AudioContext} context
   * @param {number[]} place
   * @param {GainNode} master
   */
  place(context, [positionX, positionY, positionZ], master) {
    const way = /** @type {const} */ ({ panningModel: "equalpower", distanceModel: "inverse", refDistance: NEAR, rolloffFactor: 1.3 });
    const panner = new PannerNode(context, { ...way, positionX, positionY, positionZ });
    panner.connect(master);
    const isOpen = !this.sight || this.sight.reach(this.ear, [positionX, positionY, positionZ]) > 0.97;
    if (isOpen) return panner;
    const wall = new BiquadFilterNode(context, { type: "lowpass", frequency: MUFFLED });
    wall.connect(panner);
    return wall;
  }

  /** Stops all sounds. */
  close() {
    this.context?.close();
    this.context = null;
  }
}

/**
 * Makes a tone that goes from one frequency to another.
 *
 * @param {GainNode} level
 * @param {[OscillatorType, number, number]} tone
 * @param {number} seconds
 * @returns {[AudioScheduledSourceNode, AudioNode]} the nodes that make and put out the sound
 */
function sing(level, [type, from, to], seconds) {
  const source = new OscillatorNode(level.context, { type, frequency: from });
  source.frequency.exponentialRampToValueAtTime(to, level.context.currentTime + seconds);
  source.connect(level);
  return [source, level];
}

/**
 * Makes noise that is heard below a frequency, which goes from one value to another.
 *
 * @param {GainNode} level
 * @param {AudioBuffer} buffer
 * @param {[number, number]} pass
 * @param {number} seconds
 * @returns {[AudioScheduledSourceNode, AudioNode]} the nodes that make and put out the sound
 */
function hiss(level, buffer, [from, to], seconds) {
  const source = new AudioBufferSourceNode(level.context, { buffer, loop: true });
  const filter = new BiquadFilterNode(level.context, { type: "lowpass", frequency: from });
  filter.frequency.exponentialRampToValueAtTime(to, level.context.currentTime + seconds);
  source.connect(filter).connect(level);
  return [source, level];
}
