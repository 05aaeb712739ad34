// The frame of the page: the tabs, where the visitor is, and the view of the tab that was chosen, looked at again when
// something happens that concerns it.

import { button, problem, waiting } from "./controls.js";
import { draw, h } from "./elements.js";
import { icon } from "./icons.js";
import { hear, known, show } from "./known.js";
import { Look } from "./look.js";
import { count } from "./needs.js";
import * as notices from "./notices.js";
import * as route from "./route.js";
import { fetched } from "./tabs.js";

export class Frame {
  #tab = null;
  #look = null;
  #seen = null;
  #error = null;
  #place = [];

  // `help` shows the keys, `leave` ends the visit.
  constructor(tabs, { help, leave }) {
    this.tabs = tabs;
    this.tell = { help, leave };
  }

  begin() {
    addEventListener("hashchange", () => this.#arrive());
    show(() => this.draw());
    hear((event) => this.#tab?.kinds?.test(event.kind) && this.#look.soon());
    document.addEventListener("visibilitychange", () => this.#look?.shown());
    this.#arrive();
  }

  // Looks once more at what is shown.
  async look() {
    await Promise.all([known.again(), this.#tab?.load && this.#look.now()]);
  }

  // Begins the tab anew: what it shows has only now begun to be.
  renew() {
    this.#tab = null;
    this.#arrive();
  }

  async #arrive() {
    const [name = "overview", ...place] = route.current();
    const tab = this.tabs.find((one) => one.name === name) ?? this.tabs[0];
    if (tab.fetch) {
      await fetched(tab).catch(notices.failed);
      if (!tab.fetch) this.#arrive(); // wherever that is by now
      return;
    }
    const isNew = tab !== this.#tab;
    this.#place = place;
    this.#look?.end();
    if (isNew) {
      this.#tab?.end?.();
      this.#seen = null;
    }
    this.#error = null;
    this.#tab = tab;
    this.#look = new Look(() => tab.load?.(place, this.#seen), {
      seen: (found) => this.#saw(found),
      failed: (error) => this.#failed(error),
    });
    const begun = isNew ? tab.begin?.(place, this.#context()) : tab.moved?.(place, this.#context());
    begun?.catch?.((error) => this.#failed(error));
    if (tab.load) this.#look.now();
    this.draw();
    if (isNew) this.#enter();
  }

  #enter() {
    document.title = this.#title();
    document.querySelector("#main").scrollTop = 0;
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
    if (document.activeElement === document.body) document.querySelector("#title").focus({ preventScroll: true });
  }

  #saw(found) {
    this.#seen = found;
    this.#error = null;
    this.draw();
  }

  #failed(error) {
    this.#error = error;
    this.draw();
  }

  draw() {
    if (this.#tab === null) return;
    document.title = this.#title();
    draw(document.querySelector("#side"), this.#side());
    draw(document.querySelector("#main"), this.#main());
  }

  #title() {
    const needed = count(known.overview?.needs);
    return `${needed > 0 ? `(${needed}) ` : ""}${this.#tab?.title ?? "moot"} · ${known.instance} · moot`;
  }

  #main() {
    const tab = this.#tab;
    const context = this.#context();
    const isHere = !tab.load || this.#seen !== null;
    return [
      h("header", { class: "top", key: "top" }, h("h1", { id: "title", tabindex: "-1" }, tab.title), tab.head?.(context)),
      this.#lost(),
      this.#error && problem(this.#error, context.again),
      isHere ? h("div", { class: `tab tab-${tab.name}`, key: tab.name }, tab.draw(this.#seen, context)) : !this.#error && waiting(tab.title),
    ];
  }

  // What a tab is told: where in it the visitor is, how to look again, how to draw it again.
  #context() {
    return { place: this.#place, again: () => this.look(), redraw: () => this.draw() };
  }

  #lost() {
    if (known.connection === "over") {
      return h("div", { class: "lost is-over", role: "alert", key: "lost" }, "Your visit is over. Get a new link with: ", h("code", null, "moot ui"));
    }
    if (known.connection !== "lost") return null;
    return h("div", { class: "lost", role: "status", key: "lost" }, "The connection is lost; trying again. Nothing is missed: what happens meanwhile is shown when it is back. If moot ui was ended, start it again and open its link.");
  }

  #side() {
    const needed = count(known.overview?.needs);
    return [
      h("a", { class: "brand", href: "#/", "aria-label": "moot, to the overview" }, "moot"),
      h("div", { class: "place" }, known.instances?.length > 1 ? this.#instances() : h("span", { class: "instance" }, known.instance)),
      h("nav", { "aria-label": "Views" }, h("ul", null, this.tabs.map((tab) => this.#tabLink(tab, needed)))),
      h("div", { class: "foot" },
        h("span", { class: `connection is-${known.connection}`, role: "status" }, h("span", { class: "dot" }), CONNECTIONS[known.connection]),
        !known.mayChange && h("span", { class: "chip" }, "watching only"),
        h("span", { class: "row" },
          button("Keys", this.tell.help, { look: "quiet small", label: "Keys, shown by ?" }),
          button("Leave", this.tell.leave, { look: "quiet small", label: "Leave: end this visit" }))),
    ];
  }

  #tabLink(tab, needed) {
    const isHere = tab === this.#tab;
    const badge = tab.name === "overview" && needed > 0 && h("span", { class: "badge", "aria-label": `${needed} need you` }, needed);
    const to = tab.name === "overview" ? "#/" : route.address(tab.name);
    return h("li", { key: tab.name }, h("a", { href: to, "aria-current": isHere ? "page" : null }, icon(tab.name), h("span", null, tab.title), badge));
  }

  #instances() {
    const choose = (event) => location.assign(`/?instance=${encodeURIComponent(event.target.value)}`);
    return h("select", { "aria-label": "Instance", on: { change: choose } }, known.instances.map((one) => h("option", { key: one.name, value: one.name, selected: one.name === known.instance }, one.name)));
  }
}

const CONNECTIONS = { connecting: "Connecting", open: "Live", lost: "Reconnecting", over: "Visit over" };
