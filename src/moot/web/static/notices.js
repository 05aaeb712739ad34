// What the visitor is told in passing: that something was done, or was not, and what helps. Failures stay until they
// are dismissed. Who listens to the page instead of looking at it hears both, and news that are announced.

import { draw, h } from "./elements.js";

const STAYS = 6000;
const TOGETHER = 1200;
const MOST = 4;

let notices = [];
let number = 0;
let waiting = [];
let timer = null;

export function done(words) {
  const id = add({ words, kind: "done" });
  setTimeout(() => dismiss(id), STAYS);
}

// An error of ours, or what the server has refused.
export function failed(error) {
  const words = error.fact ?? error.message;
  if (notices.some((one) => one.words === words && one.kind === "failed")) return;
  add({ words, remedy: error.remedy, kind: "failed" });
}

// Only heard. What comes within a moment is told together.
export function announce(words) {
  waiting.push(words);
  timer ??= setTimeout(() => {
    const told = waiting.length > 3 ? [`${waiting.length} new messages.`, waiting.at(-1)] : waiting;
    document.querySelector("#heard").textContent = told.join(" ");
    waiting = [];
    timer = null;
  }, TOGETHER);
}

function add(notice) {
  number += 1;
  notices = [...notices.slice(1 - MOST), { ...notice, id: number }];
  show();
  return number;
}

function dismiss(id) {
  notices = notices.filter((one) => one.id !== id);
  show();
}

function show() {
  draw(document.querySelector("#done"), notices.filter((one) => one.kind === "done").map(card));
  draw(document.querySelector("#failed"), notices.filter((one) => one.kind === "failed").map(card));
}

function card({ id, words, remedy, kind }) {
  const close = h("button", { type: "button", class: "close", "aria-label": "Dismiss", on: { click: () => dismiss(id) } }, "×");
  const text = h("p", null, words, remedy && h("span", { class: "remedy" }, remedy));
  return h("div", { class: `notice is-${kind}`, key: id }, text, close);
}
