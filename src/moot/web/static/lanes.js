// Who was at work when: a lane for each agent, a bar for each attempt, on one line of time.

import { h } from "./elements.js";
import { known } from "./known.js";
import { sign } from "./people.js";
import * as words from "./words.js";

const TICKS = 5;

export function lanes(attempts, open) {
  if (attempts.length === 0) return h("p", { class: "hint" }, "No attempt yet.");
  const ends = attempts.map((one) => (one.ended_at ? Date.parse(one.ended_at) : known.now()));
  const first = Math.min(...attempts.map((one) => Date.parse(one.started_at)));
  const span = Math.max(1000, Math.max(...ends) - first);
  const names = [...new Set(attempts.map((one) => one.agent))].sort();
  return h(
    "div",
    { class: "lanes" },
    names.map((name) => h("div", { class: "lane", key: name, role: "group", "aria-label": name },
      h("span", { class: "who" }, sign(name), h("span", null, name)),
      h("div", { class: "track" }, attempts.filter((one) => one.agent === name).map((one) => bar(one, first, span, open))))),
    h("div", { class: "lane axis", "aria-hidden": "true" }, h("span"), h("div", { class: "track" }, ticks(first, span))),
  );
}

function bar(one, first, span, open) {
  const begin = Date.parse(one.started_at);
  const end = one.ended_at ? Date.parse(one.ended_at) : known.now();
  const label = `${one.agent}, ${words.attempt(one.number)}, ${words.plain(one.state)}, ${words.clock(begin)}, ${words.duration((end - begin) / 1000)}`;
  const style = { left: `${((begin - first) / span) * 100}%`, width: `${((end - begin) / span) * 100}%` };
  return h("button", { type: "button", key: one.id, class: `stretch is-${one.state}`, style, title: label, "aria-label": label, on: { click: () => open(one.id) } });
}

function ticks(first, span) {
  const isShort = span < 10 * 60_000;
  return Array.from({ length: TICKS }, (_, index) => {
    const at = first + (span * index) / (TICKS - 1);
    const told = isShort ? words.instant(at) : words.moment(at);
    return h("span", { class: "tick", style: { left: `${(index / (TICKS - 1)) * 100}%` } }, told);
  });
}
