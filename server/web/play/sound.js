/**
 * The sounds of a match. Each is made of an oscillator or of noise at the moment when it is heard,
 * and comes from its place: fainter from afar, muffled behind walls.
 */

/** Maximum number of sounds that are played at once. Further sounds are left out. */
const VOICES = 24;

/** Units within which a sound has its full loudness. */
const NEAR = 140;

/** Units beyond which nothing is heard. */
const FAR = 2600;

/** Hertz above which walls muffle a sound. */
const MUFFLED = 700;

/**
 * The sounds. `tone` is the form of a wave, and its hertz at the beginning and the end. A sound
 * without `tone` is noise, of which only the part below `pass` is heard, also in hertz at the
 * beginning and the end. `seconds` is the length, and `gain` the loudness.
 */
const SOUNDS = {
  ray: { tone: ["sawtooth", 1700, 240], seconds: 0.16, gain: 0.35 },
  launch: { pass: [1400, 300], seconds: 0.32, gain: 0.5 },
  blast: { pass: [1100, 60], seconds: 0.8, gain: 1 },
  step: { pass: [260, 120], seconds: 0.07, gain: 0.22 },
  jump: { tone: ["sine", 150, 260], seconds: 0.1, gain: 0.25 },
  land: { pass: [320, 70], seconds: 0.14, gain: 0.4 },
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
    this.voices = 0;
    this.ear = [0, 0, 0];
    this.sight = null;
    /** Names of the sounds so far, the latest last, for tests. */
    this.made = [];
  }

  /** Starts the sound, once the user has touched the page. */
  wake() {
    if (this.context || !navigator.userActivation?.hasBeenActive || typeof AudioContext === "undefined") return;
    const context = new AudioContext({ latencyHint: "interactive" });
    this.master = new GainNode(context, { gain: 0 });
    // A compressor keeps many sounds at once from clipping.
    this.master.connect(new DynamicsCompressorNode(context)).connect(context.destination);
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
   */
  listen(ear, ahead, sight) {
    Object.assign(this, { ear, sight });
    const { context } = this;
    if (!context) return;
    this.master.gain.setTargetAtTime(this.volume(), context.currentTime, 0.05);
    const { listener } = context;
    const level = Math.hypot(ahead[0], ahead[1]);
    const up = [(-ahead[0] * ahead[2]) / level, (-ahead[1] * ahead[2]) / level, level];
    if (listener.positionX) {
      [listener.positionX.value, listener.positionY.value, listener.positionZ.value] = ear;
      [listener.forwardX.value, listener.forwardY.value, listener.forwardZ.value] = ahead;
      [listener.upX.value, listener.upY.value, listener.upZ.value] = up;
    } else {
      listener.setPosition(...ear);
      listener.setOrientation(...ahead, ...up);
    }
  }

  /**
   * Makes a sound.
   *
   * @param {string} name
   * @param {?number[]} [at] where the sound is; without it, at the ears
   */
  play(name, at = null) {
    const { context, voices, ear } = this;
    if (at && Math.hypot(...at.map((value, axis) => value - ear[axis])) > FAR) return;
    if (!context || voices >= VOICES || this.volume() === 0) return;
    this.made.push(name);
    if (this.made.length > 100) this.made.shift();
    const { tone, pass, seconds, gain } = SOUNDS[name];
    const now = context.currentTime;
    const level = new GainNode(context, { gain });
    level.gain.exponentialRampToValueAtTime(0.001, now + seconds);
    const [source, out] = tone ? this.tone(tone, seconds, level) : this.hiss(pass, seconds, level);
    out.connect(at ? this.place(at) : this.master);
    this.voices++;
    source.addEventListener("ended", () => {
      this.voices--;
      out.disconnect();
    });
    source.start(now);
    source.stop(now + seconds);
  }

  tone([type, from, to], seconds, level) {
    const source = new OscillatorNode(this.context, { type, frequency: from });
    source.frequency.exponentialRampToValueAtTime(to, this.context.currentTime + seconds);
    source.connect(level);
    return [source, level];
  }

  hiss([from, to], seconds, level) {
    const source = new AudioBufferSourceNode(this.context, { buffer: this.noise, loop: true });
    const filter = new BiquadFilterNode(this.context, { type: "lowpass", frequency: from });
    filter.frequency.exponentialRampToValueAtTime(to, this.context.currentTime + seconds);
    source.connect(filter).connect(level);
    return [source, level];
  }

  /** Makes the audio nodes from a place to the ears. */
  place([positionX, positionY, positionZ]) {
    const way = { panningModel: "equalpower", distanceModel: "inverse", refDistance: NEAR, rolloffFactor: 1.3 };
    const panner = new PannerNode(this.context, { ...way, positionX, positionY, positionZ });
    panner.connect(this.master);
    const isOpen = !this.sight || this.sight.reach(this.ear, [positionX, positionY, positionZ]) > 0.97;
    if (isOpen) return panner;
    const wall = new BiquadFilterNode(this.context, { type: "lowpass", frequency: MUFFLED });
    wall.connect(panner);
    return wall;
  }

  /** Stops all sounds. */
  close() {
    this.context?.close();
    this.context = null;
  }
}
