// A view that is looked at again when something has happened: soon after the first event, then once a second at most,
// never twice at a time, seldom if it takes long, and not at all while nobody sees the page.

const SOON = 250;
const APART = 1000;
const LEAST_SHARE = 4; // of the time, how many times as long as looking takes nothing is asked

export class Look {
  #timer = null;
  #looking = null; // a promise, while it looks
  #isWanted = false;
  #isOver = false;
  #took = 0;
  #began = -APART;

  constructor(load, { seen, failed }) {
    this.load = load;
    this.tell = { seen, failed };
  }

  soon() {
    this.#isWanted = true;
    if (this.#isOver || this.#looking !== null || this.#timer !== null || document.hidden) return;
    const pause = Math.max(SOON, this.#took * LEAST_SHARE, this.#began + APART - performance.now());
    this.#timer = setTimeout(() => this.now(), pause);
  }

  // After the page was hidden.
  shown() {
    if (this.#isWanted) this.soon();
  }

  // What is seen afterwards is not older than this call.
  now() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#isWanted = false;
    const before = this.#looking ?? Promise.resolve();
    const looking = before.then(() => this.#look()).then(() => {
      if (this.#looking !== looking) return;
      this.#looking = null;
      if (this.#isWanted) this.soon();
    });
    this.#looking = looking;
    return looking;
  }

  async #look() {
    if (this.#isOver) return;
    this.#began = performance.now();
    try {
      const found = await this.load();
      if (!this.#isOver) this.tell.seen(found);
    } catch (error) {
      if (!this.#isOver) this.tell.failed(error);
    }
    this.#took = performance.now() - this.#began;
  }

  end() {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}
