// How long each turn took, from the end of the caller's words. A turn's lines are its own until the
// next turn starts, so the first line heard after its start is its answer.

import { began } from "./phrases.js";
import { Follower } from "./scrolling.js";
import { seconds } from "./words.js";

const BY_VOICE = new Set(["speech", "eager_end"]);

export class Turns {
  constructor(body, box, typical) {
    this.body = body;
    this.typical = typical;
    this.follower = new Follower(box);
    this.reset();
  }

  reset() {
    this.body.replaceChildren();
    this.typical.textContent = "";
    this.turn = null;
    this.times = [];
    this.follower.restart();
  }

  started({ turn, reason, t_ms: at, silence_ms: pause = 0 }) {
    if (reason === "confirmed") return;   // the turn that an eager end had started
    this.missed();
    const spoken = BY_VOICE.has(reason);
    const row = this.body.insertRow();
    for (const cell of [turn, began(reason), spoken ? seconds(pause) : "–", "…"]) row.insertCell().textContent = cell;
    this.turn = { row, reason, from: spoken ? at - pause : at, filler: "" };
    this.follower.follow();
  }

  // The first sound of a line was heard; gives how long the caller waited, null if it is no answer.
  heard({ say, t_ms: at }) {
    if (!this.turn) return null;
    const waited = at - this.turn.from;
    const cell = this.turn.row.cells[3];
    if (say < 0) {   // a filler is no answer, but it is what broke the silence
      if (!this.turn.filler) this.turn.filler = ` (filler ${seconds(waited)})`;
      cell.title = "A filler was heard first";
      return null;
    }
    cell.textContent = seconds(waited);
    if (this.turn.filler) cell.title = `A filler was heard first${this.turn.filler}`;
    const answers = this.turn.reason !== "opened" && this.turn.reason !== "silence";
    if (answers) this.times.push(waited);
    this.turn = null;
    if (this.times.length > 1) {
      const sorted = [...this.times].sort((a, b) => a - b);
      this.typical.textContent = `typically ${seconds(sorted[Math.floor((sorted.length - 1) / 2)])}`;
    }
    return answers ? waited : null;
  }

  // Nothing was heard of a turn: it was interrupted before, or the call has ended.
  missed() {
    if (this.turn) this.turn.row.cells[3].textContent = "not heard";
    this.turn = null;
  }
}
