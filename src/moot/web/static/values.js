// Values of JSON, short where they are short, and unfolded where they are not.

import { h } from "./elements.js";
import * as words from "./words.js";

const SHORT = 80;
const MOST = 100;

export function value(given, depth = 0) {
  if (given === null || typeof given !== "object") return h("code", { class: `value is-${given === null ? "null" : typeof given}` }, JSON.stringify(given) ?? "nothing");
  const short = JSON.stringify(given);
  if (short.length <= SHORT || depth > 6) return h("code", { class: "value" }, short.slice(0, 2000));
  const isList = Array.isArray(given);
  const entries = Object.entries(given);
  const rest = entries.length - MOST;
  const told = isList ? words.counted(entries.length, "item") : words.counted(entries.length, "field");
  return h(
    "details",
    { class: "value" },
    h("summary", null, told),
    h("ul", null, entries.slice(0, MOST).map(([key, one]) => h("li", { key }, h("span", { class: "hint" }, `${key}: `), value(one, depth + 1))), rest > 0 && h("li", { class: "hint" }, `and ${words.number(rest)} more`)),
  );
}
