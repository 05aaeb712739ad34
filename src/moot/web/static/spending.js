// What was used against what may be used.

import { h } from "./elements.js";
import { meter } from "./controls.js";
import * as words from "./words.js";

const NAMES = { cost: "Cost", time: "Time", attempts: "Attempts", tokens: "Tokens", turns: "Turns" };

export function budget(shares, usage) {
  const lines = shares.map((one) => share(one, usage));
  return lines.length > 0 ? h("dl", { class: "budget" }, lines) : used(usage);
}

function share({ kind, limit, used: spent }, usage) {
  const part = limit > 0 ? spent / limit : 1;
  const told = `${amount(kind, spent, usage.is_estimated)} of ${amount(kind, limit)}`;
  const look = part >= 1 ? "is-over" : part >= 0.8 ? "is-near" : "";
  return [h("dt", null, NAMES[kind] ?? kind), h("dd", null, h("span", { class: "told" }, told), meter(part, `${NAMES[kind] ?? kind}: ${told}`, look))];
}

function used({ cost, tokens, attempts, is_estimated }) {
  const told = [words.money(cost, is_estimated), `${words.compact(tokens)} tokens`, words.counted(attempts, "attempt")];
  return h("p", { class: "hint" }, told.join(" · "));
}

export function amount(kind, value, isEstimated = false) {
  if (kind === "cost") return words.money(value, isEstimated);
  return kind === "time" ? words.duration(value) : words.compact(value);
}
