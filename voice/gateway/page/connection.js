// One call over the bargein.v1 protocol (docs/protocol.md). Owns the socket; sound is elsewhere.

import { RATE } from "./sound.js";

const CLOSED = {
  1000: "The call has ended.",
  1001: "The server is going away.",
  1008: "The server refused the call: is the token missing?",
  1011: "Something went wrong on the server.",
  1013: "All lines are busy. Try again in a moment.",
};

export class Connection {
  constructor(handlers) {
    const url = new URL("v1/call", location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const token = new URLSearchParams(location.search).get("token");
    if (token) url.searchParams.set("token", token);
    this.opened = false;
    this.socket = new WebSocket(url, "bargein.v1");
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      this.opened = true;
      this.say({ type: "start", format: { encoding: "pcm16", rate_hz: RATE },
        metadata: { client: "page" }, language: null, conversation: null });
    };
    this.socket.onmessage = (e) => {
      if (typeof e.data === "string") this.control(JSON.parse(e.data), handlers);
      else handlers.onSound(e.data);
    };
    this.socket.onclose = (e) => handlers.onClose(e.code === 1000,
      this.opened ? CLOSED[e.code] ?? `The line was lost (${e.code}).`
        : "The server took no call: it is full, draining, or wants a token.");
  }

  control(message, handlers) {
    switch (message.type) {
      case "started": handlers.onStarted(message); break;
      case "mark": handlers.onMark(message.name); break;
      case "clear": handlers.onClear(); break;
      case "event": handlers.onEvent(message); break;
      case "error": handlers.onError(message); break;
      default: break;   // newer servers may say more
    }
  }

  get live() { return this.socket.readyState === WebSocket.OPEN; }

  say(message) { if (this.live) this.socket.send(JSON.stringify(message)); }

  sound(frame) { if (this.live) this.socket.send(frame); }

  close() {
    this.say({ type: "stop" });
    this.socket.close(1000);
  }
}
