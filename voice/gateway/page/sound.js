// Microphone and loudspeaker of one call. Owns the two audio contexts; knows nothing of the protocol.

export const RATE = 16000;
const MOST_LATENCY_MS = 500;

// The speech recognizer hears a clean voice best: browsers' noise suppression and gain control cost
// it short words ("no" becomes "low"). The echo of the agent has to go.
const MICROPHONE = { echoCancellation: true, noiseSuppression: false, autoGainControl: false, channelCount: 1 };

async function load(context, module) {
  try {
    await context.audioWorklet.addModule(module);
  } catch (error) {
    throw new DOMException(error.message, "NetworkError");   // browsers say "AbortError" for all
  }
}

async function openMicrophone(stream, onFrame) {
  // Not every browser connects a microphone to a context of another rate: then its own rate is
  // taken and the worklet resamples.
  for (const options of [{ sampleRate: RATE }, {}]) {
    const context = new AudioContext(options);
    try {
      await load(context, "capture-worklet.js");
      const source = context.createMediaStreamSource(stream);
      const node = new AudioWorkletNode(context, "capture", {
        numberOfOutputs: 0, channelCount: 1, channelCountMode: "explicit", processorOptions: { rate: RATE },
      });
      node.port.onmessage = (e) => onFrame(e.data.frame, e.data.rms);
      source.connect(node);
      await context.resume();
      return { context, node };
    } catch (error) {
      await context.close();
      if (!("sampleRate" in options)) throw error;
    }
  }
}

async function openLoudspeaker(onMark, onLevel) {
  const context = new AudioContext({ sampleRate: RATE });
  try {
    await load(context, "playback-worklet.js");
    const node = new AudioWorkletNode(context, "playback", { outputChannelCount: [1] });
    let due = 0;
    node.port.onmessage = (e) => {
      if (!e.data.mark) { onLevel(e.data.rms); return; }
      if (e.data.cleared) { onMark(e.data.mark, true); return; }
      // What has left the worklet still has to get through the device.
      const latency = Math.min(MOST_LATENCY_MS, (context.outputLatency || context.baseLatency || 0) * 1000);
      const now = performance.now();
      due = Math.max(due, now + latency);
      setTimeout(() => onMark(e.data.mark, false), due - now);
    };
    node.connect(context.destination);
    await context.resume();
    return { context, node };
  } catch (error) {
    await context.close();
    throw error;
  }
}

export class Sound {
  // onFrame(frame, rms), onMark(name, cleared), onLevel(rms), onLost() when the microphone is gone
  static async open({ microphone, onFrame, onMark, onLevel, onLost }) {
    const sound = new Sound();
    try {
      if (microphone) {
        sound.stream = await navigator.mediaDevices.getUserMedia({ audio: MICROPHONE });
        for (const track of sound.stream.getTracks()) track.onended = onLost;
      }
      sound.speaker = await openLoudspeaker(onMark, onLevel);
      if (microphone) sound.microphone = await openMicrophone(sound.stream, onFrame);
    } catch (error) {
      sound.close();
      throw error;
    }
    return sound;
  }

  play(buffer) {
    const pcm = new Int16Array(buffer, 0, buffer.byteLength >> 1);
    const samples = new Float32Array(pcm.length);
    for (let i = 0; i < pcm.length; i++) samples[i] = pcm[i] / 32768;
    this.speaker.node.port.postMessage({ sound: samples }, [samples.buffer]);
  }

  mark(name) { this.speaker.node.port.postMessage({ mark: name }); }

  clear() { this.speaker.node.port.postMessage({ clear: true }); }

  mute(muted) { this.microphone?.node.port.postMessage({ muted }); }

  close() {
    for (const track of this.stream?.getTracks() ?? []) { track.onended = null; track.stop(); }
    this.microphone?.context.close();
    this.speaker?.context.close();
    this.stream = this.microphone = this.speaker = null;
  }
}
