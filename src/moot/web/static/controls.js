// Small parts that many views are made of: buttons that do one thing at a time, times, meters, chips, empty places.

import { h } from "./elements.js";
import { known } from "./known.js";
import * as notices from "./notices.js";
import * as words from "./words.js";

// `act` may take its time; until it is over the button does nothing more, and what is refused is told.
export function button(text, act, { look = "", label, ...more } = {}) {
  const click = (event) => once(event.currentTarget, act);
  return h("button", { type: "button", class: `button ${look}`, "aria-label": label, ...more, on: { click } }, text);
}

export async function once(element, act) {
  if (element.getAttribute("aria-busy") === "true") return;
  element.setAttribute("aria-busy", "true");
  try {
    await act(element);
  } catch (error) {
    notices.failed(error);
  } finally {
    element.removeAttribute("aria-busy");
  }
}

export function link(text, to, more = {}) {
  return h("a", { href: to, ...more }, text);
}

export function time(at, told = words.moment(at, known.now())) {
  return h("time", { datetime: at, title: words.exact(at) }, told);
}

// How long it has been, counted on every second.
export function since(at) {
  const own = (element) => {
    const tell = () => {
      element.textContent = words.span(Math.max(1, Math.floor((known.now() - Date.parse(at)) / 1000)));
    };
    tell();
    const ticking = setInterval(tell, 1000);
    return () => clearInterval(ticking);
  };
  return h("span", { class: "since", key: at, own });
}

export function chip(text, look = "") {
  return h("span", { class: `chip ${look}` }, text);
}

export function state(name) {
  return h("span", { class: `state is-${name}` }, h("span", { class: "dot" }), words.plain(name));
}

// How much of a whole, from 0 to 1.
export function meter(part, label, look = "") {
  const share = Math.max(0, Math.min(1, part || 0));
  const value = Math.round(share * 100);
  return h(
    "div",
    { class: `meter ${look}`, role: "meter", "aria-label": label, "aria-valuenow": value, "aria-valuemin": 0, "aria-valuemax": 100 },
    h("div", { class: "part", style: { width: `${share * 100}%` } }),
  );
}

export function empty(title, ...then) {
  return h("div", { class: "empty" }, h("p", { class: "what" }, title), then.map((one) => h("p", null, one)));
}

export function command(text) {
  return h("code", { class: "command" }, text);
}

export function problem(error, again) {
  return h(
    "div",
    { class: "problem", role: "alert" },
    h("p", null, h("strong", null, error.fact ?? error.message), error.remedy && ` ${error.remedy}`),
    again && button("Try again", again),
  );
}

export function waiting(what) {
  return h("div", { class: "waiting", role: "status" }, h("span", { class: "visually-hidden" }, `Loading ${what}…`), h("div", { class: "bone" }), h("div", { class: "bone" }), h("div", { class: "bone" }));
}

export function section(title, given, ...children) {
  const { aside, level = 2, id = `s-${title.toLowerCase().replaceAll(/\W+/g, "-")}`, ...more } = given ?? {};
  const head = h(`h${level}`, { id, tabindex: "-1" }, title);
  return h("section", { "aria-labelledby": id, ...more }, h("header", { class: "head" }, head, aside), children);
}

export function table(heads, rows) {
  return h("div", { class: "lines", tabindex: "0", role: "region", "aria-label": heads.join(", ") }, h("table", null, h("thead", null, h("tr", null, heads.map((one) => h("th", { scope: "col" }, one)))), h("tbody", null, rows.map((row) => h("tr", null, row.map((cell) => h("td", null, cell)))))));
}
