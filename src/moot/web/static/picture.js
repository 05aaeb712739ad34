// A picture that the server draws: boxes that can be pointed at and opened, looked at again without losing the place.

import * as api from "./api.js";
import { h } from "./elements.js";
import * as notices from "./notices.js";

const pictures = new WeakMap(); // element: its picture

// `path`: where it comes from. `marked`: keys of boxes that stand out. `open`: called with the key of a box. It is
// loaded again under another `version`.
export function picture({ path, query, label, version, marked = [], open }) {
  const given = { path, query, version, marked, open };
  const own = (element) => new Picture(element, given).begin();
  const changed = (element) => pictures.get(element).change(given);
  return h("div", { class: "picture", key: `${path} ${JSON.stringify(query ?? {})}`, tabindex: "0", role: "region", "aria-label": label, own, changed });
}

class Picture {
  constructor(element, given) {
    this.element = element;
    this.given = given;
  }

  begin() {
    pictures.set(this.element, this);
    this.element.addEventListener("click", (event) => this.#open(event));
    this.element.addEventListener("keydown", (event) => event.key === "Enter" && this.#open(event));
    this.#load();
  }

  change(given) {
    const isOther = given.version !== this.given.version;
    this.given = given;
    if (isOther) this.#load();
  }

  async #load() {
    const { path, query, marked, open } = this.given;
    try {
      const drawn = await api.picture(path, query);
      const focused = document.activeElement?.closest("[data-key]")?.dataset.key;
      drawn.setAttribute("role", "group");
      for (const box of drawn.querySelectorAll("g[data-key]")) dress(box, marked, open);
      this.element.replaceChildren(drawn);
      if (focused) this.element.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    } catch (error) {
      notices.failed(error);
    }
  }

  #open(event) {
    const box = event.target.closest("[data-key]");
    if (box && this.given.open) this.given.open(box.dataset.key);
  }
}

function dress(box, marked, open) {
  const texts = [...box.querySelectorAll("text")].map((one) => one.textContent);
  box.querySelector("text + text")?.before(" "); // or both would be read as one word
  if (marked.includes(box.dataset.key)) box.classList.add("is-marked");
  if (!open) return;
  box.setAttribute("tabindex", "0");
  box.setAttribute("role", "button");
  const about = box.querySelector("title");
  box.setAttribute("aria-label", `${texts.join(" ")}. ${about?.textContent ?? ""}`);
  about?.remove();
}
