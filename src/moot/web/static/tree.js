// What led to what, as a list of lists: each with what it took and cost.

import { state } from "./controls.js";
import { h } from "./elements.js";
import * as words from "./words.js";

export function tree(nodes) {
  const known = new Set(nodes.map((one) => one.id));
  const below = Map.groupBy(nodes, (one) => (known.has(one.parent) && one.parent !== one.id ? one.parent : null));
  return branch(below.get(null) ?? [], below, 0);
}

function branch(nodes, below, depth) {
  if (nodes.length === 0 || depth > 30) return null;
  return h("ul", { class: "tree" }, nodes.map((one) => h("li", { key: one.id }, node(one), branch(below.get(one.id) ?? [], below, depth + 1))));
}

function node(one) {
  const figures = [
    one.seconds !== null && words.duration(one.seconds),
    one.tokens > 0 && `${words.compact(one.tokens)} tokens`,
    one.cost > 0 && words.money(one.cost),
  ].filter(Boolean);
  return h("div", { class: "node" }, h("span", null, h("span", { class: "hint" }, `${words.plain(one.kind)} `), h("strong", null, one.name || one.agent)), state(one.state), h("span", { class: "hint" }, figures.join(" · ")), one.error && h("p", { class: "is-bad" }, one.error), one.text && h("p", { class: "hint" }, one.text.slice(0, 300)));
}
