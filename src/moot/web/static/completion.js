// Completes @names where somebody writes: a list that opens behind an @, walked with the arrows, taken with Tab or Enter.

import { draw, h } from "./elements.js";
import { sign } from "./people.js";

const NAME = /(^|[^\p{L}\p{N}_`])@([\p{L}\p{N}_.-]{0,64})$/u;
const MOST = 8;
let lists = 0;

export class Completion {
  #found = [];
  #chosen = 0;

  // `names`: an async function; asked when somebody begins a name.
  constructor(field, list, names) {
    lists += 1;
    this.field = field;
    this.list = list;
    this.names = names;
    this.id = `names-${lists}`;
    list.id = this.id;
    field.setAttribute("aria-autocomplete", "list");
    field.setAttribute("aria-controls", this.id);
    field.addEventListener("input", () => this.#look());
    field.addEventListener("blur", () => this.close());
    this.close();
  }

  get isOpen() {
    return this.#found.length > 0;
  }

  // Whether the key was for the list.
  typed(event) {
    if (!this.isOpen) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) this.#choose((this.#chosen + step + this.#found.length) % this.#found.length);
    else if (event.key === "Enter" || event.key === "Tab") this.#take(this.#found[this.#chosen].name);
    else if (event.key === "Escape") this.close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  close() {
    this.#found = [];
    this.#show();
  }

  async #look() {
    const begun = this.#begun();
    if (begun === null) return this.close();
    const every = await this.names().catch(() => []);
    if (this.#begun() !== begun) return undefined;
    const wanted = begun.toLowerCase();
    this.#found = every.filter((one) => one.name.toLowerCase().startsWith(wanted)).slice(0, MOST);
    if (this.#found.length === 1 && this.#found[0].name.toLowerCase() === wanted) this.#found = [];
    this.#chosen = 0;
    return this.#show();
  }

  #begun() {
    return this.field.value.slice(0, this.field.selectionStart).match(NAME)?.[2] ?? null;
  }

  #choose(index) {
    this.#chosen = index;
    this.#show();
  }

  #take(name) {
    const { selectionStart: end } = this.field;
    const begin = end - this.#begun().length;
    this.field.setRangeText(`${name} `, begin, end, "end");
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
    this.close();
  }

  #show() {
    this.list.hidden = !this.isOpen;
    draw(this.list, this.#found.map((one, index) => this.#option(one, index)));
    if (this.isOpen) this.field.setAttribute("aria-activedescendant", `${this.id}-${this.#chosen}`);
    else this.field.removeAttribute("aria-activedescendant");
  }

  #option({ name, kind, state }, index) {
    const about = kind === "everyone" ? "everybody" : kind === "person" ? "a person" : state;
    const take = (event) => {
      event.preventDefault();
      this.#take(name);
    };
    return h(
      "li",
      { key: name, id: `${this.id}-${index}`, role: "option", "aria-selected": String(index === this.#chosen), on: { mousedown: take } },
      sign(name), h("span", { class: "name" }, name), h("span", { class: "about" }, about),
    );
  }
}
