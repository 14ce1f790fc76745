// The moving strip: the caller's level above, the agent's as heard below, holds and interruptions
// as bands. Half a minute wide; redrawn on animation frames while a call is live.

const SECONDS = 30;
const STEP_MS = 50;
const POINTS = (SECONDS * 1000) / STEP_MS;

export class Strip {
  constructor(canvas) {
    this.canvas = canvas;
    this.reset();
    this.draw();
    addEventListener("resize", () => this.draw());
  }

  reset() {
    this.caller = new Float32Array(POINTS);
    this.agent = new Float32Array(POINTS);
    this.bands = [];
    this.started = performance.now();
    this.at = 0;
    this.levels = { caller: 0, agent: 0 };
  }

  level(who, rms) { this.levels[who] = Math.max(this.levels[who], rms); }

  hold() { this.bands.push({ from: performance.now(), to: null, kind: "hold" }); }

  endHold(kind) {
    const band = this.bands.at(-1);
    if (band && band.to === null) { band.to = performance.now(); band.kind = kind; }
  }

  tick() {
    const due = Math.floor((performance.now() - this.started) / STEP_MS);
    for (; this.at < due; this.at++) {
      this.caller[this.at % POINTS] = this.levels.caller;
      this.agent[this.at % POINTS] = this.levels.agent;
    }
    this.levels = { caller: this.levels.caller * 0.6, agent: this.levels.agent * 0.6 };
    const oldest = performance.now() - SECONDS * 1000;
    this.bands = this.bands.filter((b) => (b.to ?? Infinity) > oldest);
    this.draw();
  }

  draw() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const ratio = devicePixelRatio || 1;
    const width = this.canvas.clientWidth, height = 96;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const c = this.canvas.getContext("2d");
    c.scale(ratio, ratio);
    const now = performance.now();
    const x = (t) => width * (1 - (now - t) / (SECONDS * 1000));
    for (const band of this.bands) {
      c.globalAlpha = 0.25;
      c.fillStyle = colour(band.kind === "commit" ? "commit" : "hold");
      c.fillRect(x(band.from), 0, Math.max(2, x(band.to ?? now) - x(band.from)), height);
    }
    c.globalAlpha = 1;
    for (const [levels, name, middle] of [[this.caller, "caller", 24], [this.agent, "agent", 72]]) {
      c.fillStyle = colour("line");
      c.fillRect(0, middle, width, 1);
      c.fillStyle = colour(name);
      for (let i = 0; i < POINTS; i++) {
        const value = levels[(this.at + i) % POINTS];
        const h = Math.min(22, Math.sqrt(value) * 34);
        if (h > 1) c.fillRect((width * i) / POINTS, middle - h, Math.max(1, width / POINTS - 1), 2 * h);
      }
    }
  }
}
