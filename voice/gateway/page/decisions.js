// What the floor and the agent decided, newest first, and how long each turn took.

const SHOWN = new Set(["hold", "release", "commit", "flush", "interrupted", "reopened", "suppressed",
  "turn_started", "turn_ended", "tool_started", "tool_settled", "late_outcome", "send_dropped",
  "memory_set", "silence", "filler", "apology", "key", "hang_up", "transfer", "problem"]);
const HIDDEN_FIELDS = new Set(["type", "event", "t_ms"]);
const MOST = 200;

function detail(event) {
  const parts = [];
  for (const [key, value] of Object.entries(event)) {
    if (HIDDEN_FIELDS.has(key) || value === null || value === "") continue;
    const shown = typeof value === "object" ? JSON.stringify(value) : String(value);
    parts.push(key === "reason" ? shown : key === "text" ? `“${shown}”` : `${key.replaceAll("_", " ")} ${shown}`);
  }
  return parts.join(" · ");
}

export class Decisions {
  constructor(list, table) {
    this.list = list;
    this.table = table;
    this.reset();
  }

  reset() {
    this.list.replaceChildren();
    this.table.replaceChildren();
    this.turn = null;
  }

  add(event) {
    if (event.event === "turn_started") this.startTurn(event);
    if (event.event === "say_started" && event.say >= 0) this.answered(event);
    if (!SHOWN.has(event.event)) return;
    const item = document.createElement("li");
    item.className = event.event;
    const time = document.createElement("time");
    time.textContent = event.t_ms === undefined ? "" : `${(event.t_ms / 1000).toFixed(2)} s`;
    const name = document.createElement("b");
    name.textContent = event.event.replaceAll("_", " ");
    const text = document.createElement("span");
    text.textContent = detail(event);
    item.append(time, name, text);
    this.list.prepend(item);
    while (this.list.children.length > MOST) this.list.lastChild.remove();
  }

  startTurn(event) {
    const row = this.table.insertRow(0);
    const spoken = typeof event.end_ms === "number" && event.cause === "input";
    const cells = [event.turn, event.cause ?? "", spoken ? `${event.t_ms - event.end_ms} ms` : "–", "…"];
    for (const cell of cells) row.insertCell().textContent = cell;
    this.turn = { row, from: spoken ? event.end_ms : event.t_ms, heard: false };
    while (this.table.rows.length > 8) this.table.deleteRow(-1);
  }

  answered(event) {
    if (!this.turn || this.turn.heard) return;
    this.turn.heard = true;
    this.turn.row.cells[3].textContent = `${event.t_ms - this.turn.from} ms`;
  }
}
