// The conversation as it was heard: what the agent wrote but the caller did not hear is struck out.

const span = (className, text) => {
  const node = document.createElement("span");
  node.className = className;
  node.textContent = text;
  return node;
};

export class Transcript {
  constructor(list, empty) {
    this.list = list;
    this.empty = empty;
    this.reset();
  }

  reset() {
    this.list.replaceChildren();
    this.says = new Map();
    this.partial = null;
    this.empty.hidden = false;
  }

  line(who, label) {
    this.empty.hidden = true;
    const item = document.createElement("li");
    item.className = who;
    item.append(span("who", label));
    const body = document.createElement("span");
    item.append(body);
    this.list.append(item);
    this.list.scrollTop = this.list.scrollHeight;
    return { item, body };
  }

  caller(text, final) {
    this.partial ??= this.line("caller", "You");
    this.partial.body.textContent = text;
    this.partial.body.className = final ? "" : "partial";
    if (final) this.partial = null;
    this.list.scrollTop = this.list.scrollHeight;
  }

  agent({ say, text, heard_chars: heard, complete, state }) {
    let entry = this.says.get(say);
    if (!entry) {
      entry = this.line("agent", say < 0 ? "Agent (while you wait)" : "Agent");
      this.says.set(say, entry);
    }
    const { item, body } = entry;
    item.dataset.state = state;
    if (state === "written") {
      body.replaceChildren(span("waiting", text));
    } else if (complete) {
      body.replaceChildren(text);
    } else {
      const unheard = document.createElement("s");
      unheard.textContent = text.slice(heard);
      const note = heard ? " ✂ you stopped hearing it here" : " ✂ you heard none of this";
      body.replaceChildren(text.slice(0, heard), unheard, span("cut", note));
    }
    this.list.scrollTop = this.list.scrollHeight;
  }

  agentStarted(say) {
    const waiting = this.says.get(say)?.body.querySelector(".waiting");
    if (waiting) waiting.className = "";
  }
}
