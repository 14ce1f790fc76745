// The moving strip: the caller's level above, the agent's as heard below, holds and interruptions
// as bands. Half a minute wide; redrawn each time a point is due while a call is live.

const SECONDS = 30;
export const STEP_MS = 50;
const POINTS = (SECONDS * 1000) / STEP_MS;
const LANES = [["caller", "you", 0.25], ["agent", "agent", 0.75]];
const FADE = 0.3;   // of a level, a step: reports of the worklets may come a little late

export class Strip {
  constructor(canvas) {
    this.canvas = canvas;
    this.reset();
    new ResizeObserver(() => this.draw()).observe(canvas);
    for (const query of ["(prefers-color-scheme: dark)", "(prefers-color-scheme: light)"]) {
      matchMedia(query).addEventListener("change", () => { this.colours = null; this.draw(); });
    }
  }

  reset() {
    this.points = { caller: new Float32Array(POINTS), agent: new Float32Array(POINTS) };
    this.levels = { caller: 0, agent: 0 };
    this.bands = [];
    this.started = performance.now();
    this.at = 0;
    this.draw();
  }

  level(who, rms) { this.levels[who] = Math.max(this.levels[who], rms); }

  hold() {
    this.endHold("release");   // one at a time
    this.bands.push({ from: performance.now(), to: null, kind: "hold" });
  }

  endHold(kind) {
    const now = performance.now();
    const band = this.bands.at(-1);
    if (band && band.to === null) { band.to = now; band.kind = kind; }
    else if (kind === "commit") this.bands.push({ from: now, to: now, kind });
  }

  tick() {
    const now = performance.now();
    const due = Math.floor((now - this.started) / STEP_MS);
    if (due === this.at) return;
    for (; this.at < due; this.at++) {
      for (const who of ["caller", "agent"]) this.points[who][this.at % POINTS] = this.levels[who];
    }
    this.levels = { caller: this.levels.caller * FADE, agent: this.levels.agent * FADE };
    this.bands = this.bands.filter((b) => (b.to ?? now) > now - SECONDS * 1000);
    this.draw();
  }

  end() {
    const band = this.bands.at(-1);
    if (band && band.to === null) band.to = performance.now();
    this.draw();
  }

  colour(name) {
    if (!this.colours) {
      const style = getComputedStyle(document.documentElement);
      this.colours = Object.fromEntries(["caller", "agent", "hold", "commit", "line", "soft"]
        .map((key) => [key, style.getPropertyValue(`--${key}`).trim()]));
      this.font = `12px ${style.fontFamily}`;
    }
    return this.colours[name];
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    const ratio = devicePixelRatio || 1;
    const [pixels, lines] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== pixels) this.canvas.width = pixels;
    if (this.canvas.height !== lines) this.canvas.height = lines;
    const c = this.canvas.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    const now = this.started + this.at * STEP_MS;
    this.drawBands(c, width, height, (t) => width * (1 - (now - t) / (SECONDS * 1000)));
    this.drawLevels(c, width, height);
    c.fillStyle = this.colour("soft");
    c.font = this.font;
    for (const [, label, middle] of LANES) c.fillText(label, 2, height * middle - height * 0.14);
    for (const ago of [20, 10]) {
      const x = width * (1 - ago / SECONDS);
      c.fillRect(x, height / 2 - 3, 1, 6);
      c.fillText(`${ago} s ago`, x + 4, height / 2 + 4);
    }
  }

  drawBands(c, width, height, x) {
    c.globalAlpha = 0.3;
    for (const { from, to, kind } of this.bands) {
      c.fillStyle = this.colour(kind === "commit" ? "commit" : "hold");
      c.fillRect(x(from), 0, Math.max(3, x(to ?? performance.now()) - x(from)), height);
    }
    c.globalAlpha = 1;
  }

  drawLevels(c, width, height) {
    const step = width / POINTS;
    for (const [who, , share] of LANES) {
      const middle = height * share;
      c.fillStyle = this.colour("line");
      c.fillRect(0, middle, width, 1);
      c.fillStyle = this.colour(who);
      for (let i = 0; i < POINTS; i++) {
        const half = Math.min(height * 0.23, Math.sqrt(this.points[who][(this.at + i) % POINTS]) * height * 0.4);
        if (half > 1) c.fillRect(i * step, middle - half, Math.max(1, step * 0.7), 2 * half);
      }
    }
  }
}
