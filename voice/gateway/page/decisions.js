// What the floor and the agent decided, one line each, newest last. Owns which events share a line:
// an interruption is told by up to four of them, a tool by its start and its end.

import { Follower } from "./scrolling.js";
import { phrase, settled, tool } from "./phrases.js";
import { clock, element, plain, seconds } from "./words.js";

const MOST = 300;

export class Decisions {
  constructor(list, box) {
    this.list = list;
    this.follower = new Follower(box);
    this.reset();
  }

  reset() {
    this.list.replaceChildren();
    this.tools = new Map();   // by call id: {text, words, t_ms, since}
    this.interruption = null;   // the line of one, and its turn
    this.ignored = null;
    this.follower.restart();
  }

  add(event) {
    const last = this.interruption;
    switch (event.event) {
      case "tool_started": this.toolStarted(event); return;
      case "tool_settled": if (this.toolSettled(event)) return; break;
      case "commit":
        this.interruption = { line: this.line(event, phrase(event)), t_ms: event.t_ms };
        return;
      case "interrupted":
        if (last && event.t_ms - last.t_ms < 500) { this.tellTools(last.line, event); return; }
        if (event.cause !== undefined) return;   // the agent's account of what stands there already
        this.interruption = { line: this.line(event, phrase(event)), t_ms: event.t_ms };
        return;
      case "reopened":
        if (last && event.t_ms - last.t_ms < 500) {   // it came too early to interrupt anything
          const { badge, text } = phrase(event);
          last.line.className = "reopened";
          last.line.children[1].textContent = badge;
          last.line.children[2].textContent = text;
          return;
        }
        break;
      case "release":
        if (this.ignored && this.ignored.event.text === event.text && event.t_ms - this.ignored.event.t_ms < 500) {
          this.ignored.line.remove();
        }
        break;
      default: break;
    }
    const told = phrase(event);
    if (!told) return;
    const line = this.line(event, told);
    this.ignored = event.event === "suppressed" ? { line, event } : null;
  }

  line(event, { badge, text, quiet }) {
    const item = element("li", event.event + (quiet ? " quiet" : ""));
    item.append(element("time", "", event.t_ms === undefined ? "" : clock(event.t_ms)),
      element("b", "", badge), element("span", "", text));
    this.list.append(item);
    while (this.list.children.length > MOST) this.list.firstChild.remove();
    this.follower.follow();
    return item;
  }

  tellTools(line, { cancelled = [], finishing = [] }) {
    const text = line.children[2];
    if (cancelled.length) text.textContent += `; cancelled: ${cancelled.map(plain).join(", ")}`;
    if (finishing.length) text.textContent += `; still finishing: ${finishing.map(plain).join(", ")}`;
    this.follower.follow();
  }

  toolStarted(event) {
    const words = tool(event);
    const line = this.line(event, { badge: "tool", text: words });
    this.tools.set(event.call_id, { text: line.children[2], words, t_ms: event.t_ms, since: performance.now() });
    this.tick();
  }

  toolSettled(event) {
    const running = this.tools.get(event.call_id);
    if (!running) return false;
    this.tools.delete(event.call_id);
    running.text.textContent = `${running.words} ran ${seconds(event.t_ms - running.t_ms)} → ${settled(event.outcome)}`;
    return true;
  }

  // Shows how long open tools have been running.
  tick() {
    for (const { text, words, since } of this.tools.values()) {
      text.textContent = `${words} running, ${((performance.now() - since) / 1000).toFixed(1)} s`;
    }
  }

  ended() {
    for (const { text, words } of this.tools.values()) text.textContent = `${words} was running when the call ended`;
    this.tools.clear();
  }
}
