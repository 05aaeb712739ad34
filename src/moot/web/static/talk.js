// A window on the conversation: so many messages as can be looked at, and whether there are more on either side. It
// moves along what was said, and grows at its end with what is being said; it never holds the whole.

import * as api from "./api.js";

export const MOST = 300;
const PAGE = 100;

export class Talk {
  messages = [];
  hasOlder = false;
  hasNewer = false;
  missed = 0; // said while the window was elsewhere
  isLoading = false;
  isBegun = false; // whether anything is known of it
  #heard = []; // last; an answer of the server may be older than these

  // `filter`: kinds and from, as the server takes them.
  constructor(filter = {}) {
    this.filter = filter;
  }

  begin(messages, hasOlder) {
    this.#show(messages, { has_older: hasOlder, has_newer: false });
  }

  async last() {
    const found = await this.#ask({});
    this.#show(found.messages, found);
  }

  // Around a message, by its number, or from a time on. Returns the number of the first from there on.
  async around(place) {
    const half = Math.floor(PAGE / 2);
    const after = "at" in place ? { at: place.at } : { after: place.seq - 1 };
    const newer = await this.#ask({ ...after, limit: half });
    const first = newer.messages[0]?.seq;
    if (first === undefined) return this.last();
    const older = await this.#ask({ before: first, limit: half });
    this.#show([...older.messages, ...newer.messages], { has_older: older.has_older, has_newer: newer.has_newer });
    return first;
  }

  async older() {
    if (!this.hasOlder || this.isLoading) return false;
    const found = await this.#ask({ before: this.messages[0]?.seq });
    const all = [...found.messages, ...this.messages];
    this.hasOlder = found.has_older;
    this.hasNewer ||= all.length > MOST;
    this.messages = all.slice(0, MOST);
    return true;
  }

  async newer() {
    if (!this.hasNewer || this.isLoading) return false;
    const found = await this.#ask({ after: this.messages.at(-1)?.seq ?? 0 });
    this.#show([...this.messages, ...found.messages], { has_older: this.hasOlder, has_newer: found.has_newer });
    return true;
  }

  // Whether the window shows it. `isAtEnd`: whether its end is being looked at, so that its beginning may go.
  heard(message, isAtEnd) {
    this.#heard = [...this.#heard.slice(1 - PAGE), message];
    if (!this.hasNewer && this.messages.length >= MOST && !isAtEnd) this.hasNewer = true;
    if (this.hasNewer || message.seq <= this.#end) return false;
    this.#show([...this.messages, message], { has_older: this.hasOlder, has_newer: false });
    return true;
  }

  get #end() {
    return this.messages.at(-1)?.seq ?? 0;
  }

  #show(messages, { has_older, has_newer }) {
    this.isBegun = true;
    this.messages = messages;
    if (!has_newer) this.messages = [...messages, ...this.#heard.filter((one) => one.seq > this.#end)];
    this.hasNewer = has_newer;
    this.hasOlder = has_older || this.messages.length > MOST;
    this.messages = this.messages.slice(-MOST);
    if (!has_newer) this.missed = 0;
  }

  get isSifted() {
    return Boolean(this.filter.kinds || this.filter.from);
  }

  // Whether it is one of those that are wanted.
  takes(message) {
    const { kinds, from } = this.filter;
    return (!kinds || kinds.split(",").includes(message.kind)) && (!from || message.from === from);
  }

  async #ask(place) {
    this.isLoading = true;
    try {
      return await api.get("/api/messages", { limit: PAGE, ...this.filter, ...place });
    } finally {
      this.isLoading = false;
    }
  }
}
