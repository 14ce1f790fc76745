// The microphone's end: blocks of Float32 at the context's rate become 20 ms of PCM16 at the rate
// of the call. Where the rates differ (browsers that can't open the microphone at 16 kHz) a
// windowed-sinc filter interpolates; 32 taps keep what lies above the new Nyquist out.

const HALF_TAPS = 16;

class Capture extends AudioWorkletProcessor {
  constructor(options) {
    super();
    this.to = options.processorOptions.rate;
    this.frame = new Int16Array(this.to / 50);
    this.filled = 0;
    this.step = sampleRate / this.to;
    this.input = new Float32Array(0);
    this.at = HALF_TAPS;
    this.muted = false;
    this.port.onmessage = (e) => { this.muted = e.data.muted; };
  }

  sample(value) {
    const v = this.muted ? 0 : Math.max(-1, Math.min(1, value));
    this.frame[this.filled++] = Math.round(v * 32767);
    if (this.filled < this.frame.length) return;
    let sum = 0;
    for (const s of this.frame) sum += s * s;
    this.port.postMessage({ frame: this.frame.buffer, rms: Math.sqrt(sum / this.filled) / 32768 },
      [this.frame.buffer]);
    this.frame = new Int16Array(this.to / 50);
    this.filled = 0;
  }

  interpolate(position) {
    const cutoff = Math.min(1, 1 / this.step);
    const centre = Math.floor(position);
    let sum = 0;
    for (let k = centre - HALF_TAPS + 1; k <= centre + HALF_TAPS; k++) {
      const x = position - k;
      const sinc = x === 0 ? 1 : Math.sin(Math.PI * x * cutoff) / (Math.PI * x * cutoff);
      const window = 0.5 + 0.5 * Math.cos(Math.PI * x / HALF_TAPS);
      sum += this.input[k] * cutoff * sinc * window;
    }
    return sum;
  }

  process(inputs) {
    const block = inputs[0][0];
    if (!block) return true;
    if (this.step === 1) {
      for (const v of block) this.sample(v);
      return true;
    }
    const joined = new Float32Array(this.input.length + block.length);
    joined.set(this.input);
    joined.set(block, this.input.length);
    this.input = joined;
    while (this.at + HALF_TAPS < this.input.length) {
      this.sample(this.interpolate(this.at));
      this.at += this.step;
    }
    const drop = Math.max(0, Math.floor(this.at) - HALF_TAPS);
    this.input = this.input.slice(drop);
    this.at -= drop;
    return true;
  }
}

registerProcessor("capture", Capture);
