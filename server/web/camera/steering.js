/** Mouse, fingers and arrow keys move the camera. */

const TURN = 0.005;
const WHEEL = 1.0015;

/** Share of the screen's height that an arrow key moves the view in a second. */
const KEY_PAN = 0.5;

/** Units by which a key moves the cut through the map in the view from above. */
const CUT = { PageUp: 32, PageDown: -32 };

const KEYS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
  a: [-1, 0],
  d: [1, 0],
  w: [0, 1],
  s: [0, -1],
};

/** Steers a camera by mouse, touch and keys. */
export class Steering {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {import("./camera.js").Camera} camera
   * @param {(x: number, y: number) => void} clicked called when a point is clicked, in pixels
   */
  constructor(canvas, camera, clicked) {
    this.canvas = canvas;
    this.camera = camera;
    this.clicked = clicked;
    this.fingers = new Map();
    this.held = new Set();
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, (event) => this.up(event));
    }
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      camera.zoom(WHEEL ** event.deltaY);
    }, { passive: false });
    addEventListener("keydown", (event) => this.key(event, true));
    addEventListener("keyup", (event) => this.key(event, false));
    addEventListener("blur", () => this.held.clear());
  }

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY, moved: 0 });
  }

  move(event) {
    const finger = this.fingers.get(event.pointerId);
    if (!finger) return;
    const [x, y] = [event.clientX - finger.x, event.clientY - finger.y];
    const before = this.spread();
    Object.assign(finger, { x: event.clientX, y: event.clientY, moved: finger.moved + Math.abs(x) + Math.abs(y) });
    const { camera } = this;
    const height = this.canvas.clientHeight;
    if (this.fingers.size > 1) {
      camera.zoom(before / this.spread());
      camera.pan(-x / height / 2, y / height / 2);
    } else if (camera.mode === "top" || event.buttons & 6 || event.shiftKey) {
      camera.pan(-x / height, y / height);
    } else {
      camera.turn(-x * TURN, y * TURN);
    }
  }

  up(event) {
    const finger = this.fingers.get(event.pointerId);
    this.fingers.delete(event.pointerId);
    if (finger && finger.moved < 6 && event.type === "pointerup") this.clicked(event.clientX, event.clientY);
  }

  /** The distance between two fingers, in pixels. */
  spread() {
    const [a, b] = [...this.fingers.values()];
    return b ? Math.max(Math.hypot(a.x - b.x, a.y - b.y), 1) : 1;
  }

  key(event, isDown) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.type === "text") return;
    if (isDown && event.key in CUT) this.camera.moveCut(CUT[event.key]);
    if (!(event.key in KEYS)) return;
    // A focused switch or list keeps the arrow keys.
    if (isDown && event.target !== document.body && event.key.startsWith("Arrow")) return;
    if (isDown) this.held.add(event.key);
    else this.held.delete(event.key);
    if (event.key.startsWith("Arrow")) event.preventDefault();
  }

  /** Moves the camera by the keys that are held. */
  advance(passed) {
    for (const key of this.held) {
      const [right, up] = KEYS[key];
      if (this.camera.mode === "follow") this.camera.turn(-right * passed * 2, up * passed);
      else this.camera.pan(right * KEY_PAN * passed, up * KEY_PAN * passed);
    }
  }
}
