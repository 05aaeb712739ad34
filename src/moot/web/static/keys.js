// Shortcuts: one key each, shown by ?, and switched off by whoever needs the keys for something else.

import { draw, h } from "./elements.js";

const STORED = "moot-keys";

export class Keys {
  // `every`: [key, what it does, how].
  constructor(every) {
    this.every = every;
  }

  begin() {
    document.addEventListener("keydown", (event) => this.#typed(event));
  }

  help() {
    const dialog = document.querySelector("#keys");
    const rows = this.every.map(([key, what]) => h("div", { class: "key" }, h("dt", null, h("kbd", null, key)), h("dd", null, what)));
    draw(
      dialog.querySelector(".inner"),
      h("h2", { id: "keys-title" }, "Keys"),
      h("dl", null, rows),
      h("label", { class: "check" }, h("input", { type: "checkbox", checked: areOn(), on: { change: (event) => localStorage.setItem(STORED, event.target.checked ? "on" : "off") } }), "Take these keys"),
      h("form", { method: "dialog" }, h("button", { class: "button primary" }, "Close")),
    );
    dialog.showModal();
  }

  #typed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const isWriting = event.target.closest?.("input, textarea, select, dialog");
    const found = this.every.find(([key]) => key === event.key);
    if (!found || isWriting || (!areOn() && event.key !== "?")) return;
    event.preventDefault();
    found[2]();
  }
}

function areOn() {
  return localStorage.getItem(STORED) !== "off";
}
