// The events of an instance as they happen: each once, in order, from a place on. What was missed while the
// connection was lost is told after it, also by a server that has been started anew.

import * as api from "./api.js";

const AGAIN = 1000;
const SELDOM = 10_000;

export class Stream {
  #source = null;
  #waiting = null;
  #pause = AGAIN;

  // `heard` gets events, `begun` is called when there are some at last, `reset` when the instance is another than
  // before, `connection` with "open", "lost" or "over".
  constructor(place, { heard, begun, reset, connection }) {
    this.place = place;
    this.tell = { heard, begun, reset, connection };
  }

  get seq() {
    return Number((this.place ?? "").split(":").at(-1)) || 0;
  }

  open() {
    this.close();
    const source = new EventSource(api.address("/api/events", { after: this.place }));
    this.#source = source;
    source.onopen = () => {
      this.#pause = AGAIN;
      this.tell.connection("open");
    };
    source.addEventListener("hello", (event) => {
      const isFirst = !this.place;
      this.#keep(event);
      if (isFirst) this.tell.begun();
    });
    source.addEventListener("reset", () => this.tell.reset());
    source.onmessage = (event) => {
      this.#keep(event);
      this.tell.heard(JSON.parse(event.data));
    };
    source.onerror = () => this.#lost();
  }

  close() {
    clearTimeout(this.#waiting);
    this.#source?.close();
  }

  #keep(event) {
    if (event.lastEventId) this.place = event.lastEventId;
  }

  // The browser tries again by itself only as long as it gets no answer at all; we always do, from where we are.
  #lost() {
    this.close();
    this.tell.connection("lost");
    this.#waiting = setTimeout(() => this.#again(), this.#pause);
    this.#pause = Math.min(SELDOM, this.#pause * 1.5);
  }

  async #again() {
    try {
      await api.get("/api/session");
      this.open();
    } catch (error) {
      if (error.status === 401) this.tell.connection("over");
      else this.#lost();
    }
  }
}
