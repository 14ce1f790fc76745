// The conversation as it was heard: what the agent wrote but the caller did not hear is struck out.
// Owns which stretches of the caller's speech stand in one bubble: all that become one turn.

import { Follower } from "./scrolling.js";
import { clock, element, seconds } from "./words.js";

const MOST_UNHEARD = 90;   // characters of a struck-out rest that are shown before "more"
const NOTES = {
  cut: "✂ you interrupted here", ended: "✂ the call ended here", none: "✂ you heard none of this",
  failed: "✂ the voice failed here",
};

export class Transcript {
  constructor(list, box, empty) {
    this.list = list;
    this.empty = empty;
    this.follower = new Follower(box);
    this.reset();
  }

  reset() {
    this.list.replaceChildren();
    this.says = new Map();       // by say: its line
    this.started = new Set();    // says that were heard before their text was complete
    this.open = null;            // the caller's bubble that no turn has taken yet
    this.keys = null;
    this.turns = new Map();      // by turn: the caller's bubble
    this.replaced = [];          // bubbles whose words will come again with more
    this.ended = false;
    this.filler = "";
    this.empty.hidden = false;
    this.follower.restart();
  }

  line(who, label, t_ms) {
    this.empty.hidden = true;
    const item = element("li", who);
    const meta = element("span", "meta");
    const note = element("span");
    meta.append(element("b", "", label), ` · ${clock(t_ms)}`, note);
    const body = element("span", "body");
    item.append(meta, body);
    this.list.append(item);
    this.follower.follow();
    return { item, body, note };
  }

  // ------------------------------------------------------------------ the caller

  caller({ text, final, by, t_ms }) {
    if (by === "text") {
      this.line("caller", "You, typed", t_ms).body.textContent = text;
      return;
    }
    this.open ??= { ...this.line("caller", "You", t_ms), finals: [] };
    const { body, finals } = this.open;
    if (final) finals.push(text);
    body.textContent = [...finals, ...(final ? [] : [text])].join(" ");
    body.classList.toggle("partial", !final);
    this.follower.follow();
  }

  key({ text, t_ms }) {
    this.keys ??= this.line("caller", "You, on the keypad", t_ms);
    this.keys.body.textContent += text;
    this.follower.follow();
  }

  turnStarted({ turn, reason, text }) {
    if (reason === "keys") this.keys = null;
    if (reason !== "speech" && reason !== "eager_end") return;
    for (const bubble of this.replaced) if (bubble !== this.open) bubble.item.remove();
    this.replaced = [];
    if (!this.open) return;
    this.open.body.textContent = text;
    this.open.body.classList.remove("partial");
    this.turns.set(turn, this.open);
    this.open = null;
  }

  reopened({ turn }) {
    const bubble = this.turns.get(turn);
    if (!bubble) return;
    if (this.open) this.replaced.push(bubble);
    else this.open = { ...bubble, finals: [bubble.body.textContent] };
  }

  // Words that changed nothing.
  suppressed({ text, reason }) {
    if (!this.open || !text) return;
    const left = this.open.finals.filter((f) => !text.includes(f));
    if (left.length) return;
    const { item, note, body } = this.open;
    item.classList.add("aside");
    body.classList.remove("partial");
    note.textContent = reason === "backchannel" ? " · the agent went on" : " · set aside";
    this.open = null;
  }

  // ------------------------------------------------------------------ the agent

  // What is cut from now on was not interrupted.
  callEnds() { this.ended = true; }

  agent({ say, text, heard_chars: heard, state, t_ms }) {
    let entry = this.says.get(say);
    if (!entry) {
      entry = this.line("agent", say < 0 ? "Agent, meanwhile" : "Agent", t_ms);
      this.says.set(say, entry);
    }
    const { item, body } = entry;
    if (state === "written") {
      item.dataset.state = this.started.has(say) ? "speaking" : "written";
      body.textContent = text;
    } else {
      item.dataset.state = state;
      if (state === "heard") body.textContent = text;
      else this.cut(body, text, heard, state);
    }
    this.follower.follow();
  }

  cut(body, text, heard, state) {
    const rest = text.slice(heard).trim();
    const here = state === "failed" ? NOTES.failed : this.ended ? NOTES.ended : NOTES.cut;
    const note = element("span", "cut", heard ? here : NOTES.none);
    const unheard = element("s", "", rest);
    body.replaceChildren(text.slice(0, heard), " ", note, " ", unheard);
    if (rest.length <= MOST_UNHEARD * 1.5) return;
    const end = rest.indexOf(" ", MOST_UNHEARD);
    if (end < 0) return;
    unheard.textContent = `${rest.slice(0, end)} …`;
    const more = element("button", "more", "show the rest");
    more.type = "button";
    more.addEventListener("click", () => { unheard.textContent = rest; more.remove(); });
    body.append(" ", more);
  }

  // A filler's words come before it has a number.
  fills({ text }) { if (text) this.filler = text; }

  heard({ say, t_ms }, waited) {
    this.started.add(say);
    if (say < 0 && this.filler && !this.says.has(say)) this.agent({ say, text: this.filler, state: "written", t_ms });
    if (say < 0) this.filler = "";
    const entry = this.says.get(say);
    if (!entry) return;
    if (entry.item.dataset.state === "written") entry.item.dataset.state = "speaking";
    if (waited !== null) entry.note.textContent = ` · answered after ${seconds(waited)}`;
  }
}
