// Who has the floor right now, in one line, from the call's events.

import { plain } from "./words.js";

export class Floor {
  constructor(line) {
    this.line = line;
    this.reset("No call yet");
  }

  reset(text) {
    this.live = false;
    this.held = false;       // the agent's sound stands still
    this.hears = false;      // a voice while the agent is not to be heard
    this.taken = false;      // the caller's words count, no turn has started yet
    this.turn = false;
    this.says = new Set();   // that are being heard
    this.queued = new Set(); // that are written and not heard yet
    this.tools = new Map();
    this.write(text, "idle");
  }

  start(typing) {
    this.live = true;
    this.waiting = typing ? "Waiting for you to type" : "Listening";
    this.show();
  }

  add(event) {
    switch (event.event) {
      case "hold": if (event.audible) this.held = true; else this.hears = true; break;
      case "release": this.held = this.hears = false; break;
      case "commit": this.held = this.hears = false; this.taken = true; break;
      case "turn_started": this.held = this.hears = this.taken = false; this.turn = true; break;
      case "turn_ended": this.turn = false; break;
      case "interrupted": this.turn = false; break;
      case "agent_said": if (event.state === "written" && !this.says.has(event.say)) this.queued.add(event.say); break;
      case "say_started": this.says.add(event.say); this.queued.delete(event.say); break;
      case "say_settled": this.says.delete(event.say); this.queued.delete(event.say); break;
      case "suppressed": this.hears = false; break;
      case "tool_started": this.tools.set(event.call_id, event.tool); break;
      case "tool_settled": this.tools.delete(event.call_id); break;
      case "caller_said": if (!this.says.size && !event.final) this.hears = true; break;
      default: return;
    }
    this.show();
  }

  show() {
    if (!this.live) return;
    if (this.held) this.write("The agent paused: is that you?", "held");
    else if (this.taken || this.hears) this.write("Listening to you", "caller");
    else if (this.says.size) this.write("The agent is speaking", "speaking");
    else if (this.tools.size) this.write(`The agent is busy: ${plain(this.tools.values().next().value)}`, "busy");
    else if (this.turn) this.write("The agent is thinking", "busy");
    else if (this.queued.size) this.write("The agent is about to speak", "busy");
    else this.write(this.waiting, "listening");
  }

  write(text, state) {
    if (this.line.textContent !== text) this.line.textContent = text;
    this.line.dataset.state = state;
  }
}
