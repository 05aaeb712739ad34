// Where the visitor writes: it grows with the text, completes @names, answers a message, and interrupts who is busy if
// that is wanted. What was not sent is kept.

import * as api from "./api.js";
import { Completion } from "./completion.js";
import { button, once } from "./controls.js";
import { draw, h } from "./elements.js";
import { known } from "./known.js";
import * as notices from "./notices.js";
import * as words from "./words.js";

const draft = { text: "", answers: null, interrupts: false };
let shown = null;
let people = null;

export function composer() {
  if (!known.mayChange) return h("p", { class: "watching", key: "watching" }, "You are watching. Nothing can be changed from here.");
  return h("form", { class: "composer", key: "composer", "aria-label": "Say something", own: (form) => new Composer(form).begin() });
}

// From now on what is written answers this message.
export function reply(message) {
  draft.answers = message;
  shown?.show();
  focus();
}

export function focus() {
  if (shown === null) return false;
  shown.field.focus();
  return true;
}

// Somebody has come or gone.
export function forgetPeople() {
  people = null;
}

async function names() {
  people ??= api.get("/api/people").then((found) => found.names);
  people.catch(forgetPeople);
  return people;
}

class Composer {
  constructor(form) {
    this.form = form;
  }

  begin() {
    shown = this;
    draw(
      this.form,
      h("div", { class: "answers" }),
      h("div", { class: "field" },
        h("textarea", { rows: 1, "aria-label": "Message", placeholder: "Say something. @ calls somebody.", on: { input: () => this.#typed(), keydown: (event) => this.#key(event) } }),
        h("ul", { class: "names", role: "listbox", "aria-label": "Names" }),
      ),
      h("div", { class: "row" },
        h("label", { class: "check" }, h("input", { type: "checkbox", checked: draft.interrupts, on: { change: (event) => { draft.interrupts = event.target.checked; } } }), "Interrupt who is busy"),
        h("span", { class: "hint" }, "Enter sends, Shift+Enter begins a new line"),
        button("Send", () => this.#send(), { look: "primary", type: "submit" }),
      ),
    );
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.field = this.form.querySelector("textarea");
    this.completion = new Completion(this.field, this.form.querySelector(".names"), names);
    this.field.value = draft.text;
    queueMicrotask(() => this.show()); // once it is in the document and has a size
    return () => {
      if (shown === this) shown = null;
    };
  }

  show() {
    const { answers } = draft;
    draw(this.form.querySelector(".answers"), answers && [
      h("span", { class: "to" }, "Answering ", h("strong", null, answers.from), ": ", answers.message.replaceAll(/\s+/g, " ").slice(0, 80)),
      button("×", () => this.#forget(), { look: "quiet small", label: "Do not answer it" }),
    ]);
    this.#grow();
  }

  #typed() {
    draft.text = this.field.value;
    this.#grow();
  }

  #grow() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight + 2, 240)}px`;
  }

  #forget() {
    draft.answers = null;
    this.show();
    this.field.focus();
  }

  #key(event) {
    if (this.completion.typed(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      once(this.form.querySelector("[type=submit]"), () => this.#send());
    }
    if (event.key === "Escape" && draft.answers) this.#forget();
  }

  async #send() {
    const text = this.field.value.trim();
    if (text === "") return this.field.focus();
    const body = { message: text };
    if (draft.answers) body.reply_to = draft.answers.id;
    if (draft.interrupts) body.interrupt = true;
    const sent = await api.post("/api/messages", body);
    await answered(draft.answers);
    Object.assign(draft, { text: "", answers: null });
    this.field.value = "";
    this.show();
    this.field.focus();
    return told(sent);
  }
}

// Who has answered a message of theirs is done with it.
async function answered(message) {
  if (!known.overview.needs.mail.some((one) => one.id === message?.id)) return;
  await api.post("/api/mail/ack", { ids: [message.id] });
  await known.again();
}

function told({ told: sent, unknown, interrupted }) {
  const cut = interrupted?.length ? ` Interrupted: ${words.listed(interrupted)}.` : "";
  if (unknown?.length) {
    const names = words.listed(unknown.map((one) => `@${one}`));
    notices.failed({ fact: `Nobody here is called ${names}.`, remedy: `The message was ${sent}.` });
  } else {
    notices.done(`${words.sentence(sent)}.${cut}`);
  }
}
