// Microphone and loudspeaker of one call. Owns the two audio contexts; knows nothing of the protocol.

export const RATE = 16000;

async function openMicrophone(stream, onFrame, rate) {
  // Not every browser connects a microphone to a context of another rate: then its own rate is
  // taken and the worklet resamples.
  for (const options of [{ sampleRate: rate }, {}]) {
    const context = new AudioContext(options);
    try {
      await context.audioWorklet.addModule("capture-worklet.js");
      const source = context.createMediaStreamSource(stream);
      const node = new AudioWorkletNode(context, "capture", {
        numberOfOutputs: 0, channelCount: 1, channelCountMode: "explicit", processorOptions: { rate },
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

async function openLoudspeaker(onMark, onLevel, rate) {
  const context = new AudioContext({ sampleRate: rate });
  await context.audioWorklet.addModule("playback-worklet.js");
  const node = new AudioWorkletNode(context, "playback", { outputChannelCount: [1] });
  node.port.onmessage = (e) => {
    if (e.data.mark) onMark(e.data.mark, Boolean(e.data.cleared));
    else onLevel(e.data.rms);
  };
  node.connect(context.destination);
  await context.resume();
  return { context, node };
}

export class Sound {
  static async open({ onFrame, onMark, onLevel }) {
    const stream = await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 },
    });
    const sound = new Sound();
    sound.stream = stream;
    try {
      sound.speaker = await openLoudspeaker(onMark, onLevel, RATE);
      sound.microphone = await openMicrophone(stream, onFrame, RATE);
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

  mute(muted) { this.microphone.node.port.postMessage({ muted }); }

  close() {
    for (const track of this.stream?.getTracks() ?? []) track.stop();
    this.microphone?.context.close();
    this.speaker?.context.close();
  }
}
