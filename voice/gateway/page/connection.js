// One call over the bargein.v1 protocol (docs/protocol.md). Owns the socket and the words for its
// end; sound is elsewhere.

const ENDED = {
  caller: "You hung up.",
  agent: "The agent hung up.",
  expired: "The agent hung up: nobody spoke.",
  drain: "The server is stopping; the call has ended.",
  slow_client: "The call has ended: this browser did not keep up with the sound.",
};
const CLOSED = {
  1001: "The server is stopping; the call has ended.",
  1003: "The server ended the call: it could not use what this page sent.",
  1008: "The server ended the call: it could not use what this page sent.",
  1011: "Something went wrong on the server; the call has ended.",
};
export const NO_ANSWER = "The server does not answer. Is it still running?";
const WAIT_FOR_END_MS = 1500;
const WAIT_FOR_ANSWER_MS = 3000;

async function whyRefused() {
  // A browser does not tell a page why an upgrade was refused.
  try {
    const answer = await fetch("readyz", { signal: AbortSignal.timeout(WAIT_FOR_ANSWER_MS) });
    if (answer.ok) return "The server took no call: open this page with its token (?token=…).";
    const reason = (await answer.text()).trim();
    return reason === "full" ? "All lines are busy. Try again in a moment."
      : "The server is stopping and takes no calls.";
  } catch {
    return NO_ANSWER;
  }
}

export class Connection {
  // handlers: onStarted, onSound(buffer), onMark(name), onClear, onEvent(event), onError(message),
  // onClose(clean, text) (once)
  constructor(rate, handlers) {
    const url = new URL("v1/call", location.href);
    url.protocol = url.protocol.replace("http", "ws");
    url.hash = "";
    const token = new URLSearchParams(location.search).get("token");
    if (token) url.searchParams.set("token", token);
    this.handlers = handlers;
    this.opened = false;
    this.reason = null;
    this.giveUp = 0;
    this.socket = new WebSocket(url, "bargein.v1");
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      this.opened = true;
      this.say({ type: "start", format: { encoding: "pcm16", rate_hz: rate },
        metadata: { client: "page" }, language: null, conversation: null });
    };
    this.socket.onmessage = (e) => {
      if (typeof e.data === "string") this.control(JSON.parse(e.data));
      else handlers.onSound(e.data);
    };
    this.socket.onclose = (e) => this.closed(e.code);
  }

  control(message) {
    switch (message.type) {
      case "started": this.handlers.onStarted(); break;
      case "mark": this.handlers.onMark(message.name); break;
      case "clear": this.handlers.onClear(); break;
      case "event": this.handlers.onEvent(message); break;
      case "error": this.handlers.onError(message); break;
      case "ended": this.reason = message.reason; break;
      default: break;   // newer servers may say more
    }
  }

  async closed(code) {
    clearTimeout(this.giveUp);
    if (!this.opened) {
      this.finish(false, await whyRefused());
    } else if (this.reason in ENDED) {
      this.finish(this.reason !== "slow_client", ENDED[this.reason]);
    } else if (code === 1000) {
      this.finish(true, "The call has ended.");
    } else {
      this.finish(false, CLOSED[code] ?? "The connection to the server was lost.");
    }
  }

  finish(clean, text) {
    const { onClose } = this.handlers;
    this.handlers.onClose = () => {};
    onClose(clean, text);
  }

  get live() { return this.socket.readyState === WebSocket.OPEN; }

  say(message) { if (this.live) this.socket.send(JSON.stringify(message)); }

  sound(frame) { if (this.live) this.socket.send(frame); }

  // Hang up; the server then tells what was heard at that moment, and closes.
  stop() {
    if (!this.live) { this.drop(); return; }
    this.say({ type: "stop" });
    this.giveUp = setTimeout(() => this.drop(), WAIT_FOR_END_MS);
  }

  // Hang up and wait for nothing.
  drop() {
    this.say({ type: "stop" });
    this.socket.onclose = null;
    this.socket.close(1000);
    this.finish(true, ENDED.caller);
  }
}
