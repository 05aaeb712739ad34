// The conversation on the screen: a list that stays at its end while it grows, that loads what is above and below when
// it is scrolled there, and that keeps what is being read where it is.

import { button, waiting } from "./controls.js";
import { draw, h } from "./elements.js";
import { hear, known } from "./known.js";
import { entry, isContinued } from "./message.js";
import * as notices from "./notices.js";
import * as words from "./words.js";

const NEAR = 600; // pixels from an end at which more is loaded
const AT_END = 60;

let lists = 0;

export class ConversationList {
  #list = null;
  #scroller = null;
  #foot = null;
  #frame = null;
  #isAtEnd = true;
  #kept = new WeakMap(); // message: how it was described

  // `told`: what can be done with a message.
  constructor(talk, told = {}) {
    lists += 1;
    this.key = `conversation ${lists}`;
    this.talk = talk;
    this.told = told;
  }

  description() {
    return h("div", { class: "conversation", key: this.key, own: (element) => this.#begin(element) });
  }

  #begin(element) {
    draw(
      element,
      h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "What was said", on: { scroll: () => this.#scrolled(), keydown: (event) => this.#typed(event) } }, h("ol", { class: "messages" })),
      h("div", { class: "to-end" }),
    );
    this.#scroller = element.firstChild;
    this.#list = this.#scroller.firstChild;
    this.#foot = element.lastChild;
    this.#isAtEnd = !this.talk.hasNewer;
    this.draw();
    const deaf = hear((event) => this.#heard(event));
    const growing = new ResizeObserver(() => this.#isAtEnd && this.#toEnd());
    growing.observe(this.#scroller);
    growing.observe(this.#list);
    return () => {
      deaf();
      growing.disconnect();
      cancelAnimationFrame(this.#frame);
      this.#list = null;
    };
  }

  draw() {
    if (this.#list === null) return;
    const held = this.#isAtEnd ? null : this.#held();
    draw(this.#list, this.#entries());
    draw(this.#foot, this.#ending());
    if (held) this.#scroller.scrollTop += held.element.getBoundingClientRect().top - held.top;
    else if (this.#isAtEnd) this.#toEnd();
  }

  // Brings a message to the middle, and points at it.
  reveal(seq) {
    this.#isAtEnd = false;
    this.draw();
    const found = [...this.#list.querySelectorAll("[data-seq]")].find((one) => Number(one.dataset.seq) >= seq);
    found?.scrollIntoView({ block: "center" });
    found?.focus({ preventScroll: true });
    found?.classList.add("is-pointed-at");
  }

  async toLast() {
    if (this.talk.hasNewer) await this.talk.last();
    this.talk.missed = 0;
    this.#isAtEnd = true;
    this.draw();
  }

  #entries() {
    const { messages, hasOlder } = this.talk;
    const byId = new Map(messages.map((one) => [one.id, one]));
    const found = [];
    if (messages.length === 0) return [this.#nothing()];
    if (hasOlder) found.push(h("li", { class: "more", key: "older" }, button("Earlier messages", () => this.#older(), { look: "quiet small" })));
    messages.forEach((message, index) => {
      const before = messages[index - 1];
      const isNewDay = words.dayKey(message.timestamp) !== words.dayKey(before?.timestamp ?? 0);
      if (isNewDay) found.push(h("li", { class: "day", key: `day ${words.dayKey(message.timestamp)}` }, h("span", null, words.day(message.timestamp))));
      const isContinuation = !isNewDay && isContinued(message, before);
      const answered = message.reply_to && message.reply_to !== before?.id ? byId.get(message.reply_to) : null;
      found.push(this.#entry(message, isContinuation, answered ?? null));
    });
    return found;
  }

  // The same description for the same message, so that nothing is compared that cannot have changed.
  #entry(message, isContinuation, answered) {
    const kept = this.#kept.get(message);
    if (kept?.isContinuation === isContinuation && kept.answered === answered) return kept.description;
    const description = entry(message, { isContinuation, answered, told: this.told });
    this.#kept.set(message, { isContinuation, answered, description });
    return description;
  }

  #nothing() {
    if (!this.talk.isBegun) return h("li", { key: "waiting" }, waiting("messages"));
    if (this.talk.isSifted) return h("li", { class: "nothing", key: "nothing" }, "Nothing of this kind has been said.");
    const then = known.mayChange ? " Say something below; @ calls somebody." : "";
    return h("li", { class: "nothing", key: "nothing" }, `Nothing has been said yet.${then}`);
  }

  #ending() {
    const { missed, hasNewer } = this.talk;
    if (this.#isAtEnd && !hasNewer) return null;
    const text = missed > 0 ? `${words.counted(missed, "new message")} ↓` : "To the end ↓";
    return button(text, () => this.toLast(), { look: "small" });
  }

  #heard(event) {
    if (!event.message || !this.talk.takes(event.message)) return;
    const { missed } = this.talk;
    const isShown = this.talk.heard(event.message, this.#isAtEnd);
    this.talk.missed = isShown && this.#isAtEnd ? 0 : missed + 1;
    if (event.message.from !== known.me) notices.announce(`${event.message.from}: ${event.message.message.slice(0, 120)}`);
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null;
      this.draw();
    });
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    const below = scrollHeight - clientHeight - scrollTop;
    const wasAtEnd = this.#isAtEnd;
    this.#isAtEnd = below < AT_END && !this.talk.hasNewer;
    if (this.#isAtEnd) this.talk.missed = 0;
    if (wasAtEnd !== this.#isAtEnd) draw(this.#foot, this.#ending());
    if (scrollTop < NEAR) this.#older();
    if (below < NEAR) this.#newer();
  }

  async #older() {
    await this.#grow(() => this.talk.older());
  }

  async #newer() {
    await this.#grow(() => this.talk.newer());
  }

  async #grow(load) {
    try {
      if (await load()) this.draw();
    } catch (error) {
      notices.failed(error);
    }
  }

  // The first message that is seen, and where.
  #held() {
    const edge = this.#scroller.getBoundingClientRect().top;
    const seen = [...this.#list.children].find((one) => "seq" in one.dataset && one.getBoundingClientRect().bottom > edge);
    return seen ? { element: seen, top: seen.getBoundingClientRect().top } : null;
  }

  #toEnd() {
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }

  // Up and down by messages.
  #typed(event) {
    const step = { j: 1, k: -1 }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    const all = [...this.#list.querySelectorAll("[data-seq]")];
    const at = all.indexOf(document.activeElement.closest("[data-seq]"));
    const next = all[at === -1 ? all.length - 1 : at + step];
    next?.focus();
    event.preventDefault();
  }
}
