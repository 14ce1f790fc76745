// What the agent may do now: every declared tool with its gate, and the buttons of the latest
// response. Owns both lists; each is replaced whole when it changes.

import { element, plain } from "./words.js";

const GATES = {
  open: "open",
  shut: "shut",
  inactive: "its skill is not active",
  engine_only: "the engine's own",
};

export class Inspector {
  constructor(tools, buttons, onTap) {
    this.tools = tools;
    this.buttons = buttons;
    this.onTap = onTap;
    this.reset();
  }

  reset() {
    this.tools.replaceChildren();
    this.offer([]);
  }

  add(event) {
    switch (event.event) {
      case "gates": this.show(event.tools ?? []); break;
      case "response_given": this.offer(read(event.text)); break;
      case "turn_started": this.offer([]); break;
      default: break;
    }
  }

  show(tools) {
    const rows = tools.map(({ skill, tool, gate, requires }) => {
      const row = document.createElement("tr");
      row.dataset.gate = gate;
      const words = gate === "shut" && requires ? `shut: needs ${requires}` : GATES[gate] ?? plain(gate);
      for (const text of [plain(skill), tool, words]) row.append(element("td", "", text));
      return row;
    });
    this.tools.replaceChildren(...rows);
  }

  offer(buttons) {
    this.buttons.replaceChildren(...buttons.map(([title, payload]) => {
      const button = element("button", "", title);
      button.type = "button";
      button.addEventListener("click", () => { this.offer([]); this.onTap(payload); });
      return button;
    }));
    this.buttons.hidden = !buttons.length;
  }
}

function read(text) {
  try {
    const found = JSON.parse(text ?? "[]");
    return Array.isArray(found) ? found.filter((b) => Array.isArray(b) && b.length === 2) : [];
  } catch { return []; }
}
