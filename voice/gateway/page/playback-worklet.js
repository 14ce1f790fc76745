// The loudspeaker's end: plays what it is sent in order, says when a mark is reached, and on a
// clear drops what is left (with a 5 ms fade, a hard stop clicks) and gives the marks back.

class Playback extends AudioWorkletProcessor {
  constructor() {
    super();
    this.queue = [];   // Float32Array sound, or {mark: name}
    this.offset = 0;
    this.sum = 0;
    this.count = 0;
    this.last = 0;
    this.port.onmessage = (e) => this.message(e.data);
  }

  message(data) {
    if (data.clear) {
      for (const item of this.queue) if (item.mark) this.port.postMessage({ mark: item.mark, cleared: true });
      const fade = Math.round(sampleRate * 0.005);
      const tail = new Float32Array(fade);
      for (let i = 0; i < fade; i++) tail[i] = this.last * (1 - i / fade);
      this.queue = this.last ? [tail] : [];
      this.offset = 0;
    } else if (data.mark) {
      this.queue.push({ mark: data.mark });
    } else {
      this.queue.push(data.sound);
    }
  }

  process(_inputs, outputs) {
    const out = outputs[0][0];
    let i = 0;
    while (this.queue.length && (i < out.length || this.queue[0].mark)) {
      const head = this.queue[0];
      if (head.mark) {
        this.port.postMessage({ mark: head.mark });
        this.queue.shift();
        continue;
      }
      const n = Math.min(out.length - i, head.length - this.offset);
      out.set(head.subarray(this.offset, this.offset + n), i);
      i += n;
      this.offset += n;
      if (this.offset === head.length) { this.queue.shift(); this.offset = 0; }
    }
    for (const v of out) this.sum += v * v;
    this.last = out[out.length - 1];
    this.count += out.length;
    if (this.count >= sampleRate / 20) {
      this.port.postMessage({ rms: Math.sqrt(this.sum / this.count) });
      this.sum = 0;
      this.count = 0;
    }
    return true;
  }
}

registerProcessor("playback", Playback);
