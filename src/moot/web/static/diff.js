// What two versions of a text differ in, line by line.

import { h } from "./elements.js";
import * as words from "./words.js";

const SIGNS = { added: "+", removed: "−", same: " " };
const SAID = { added: "added: ", removed: "removed: " };

export function diff({ lines, is_too_long }) {
  if (is_too_long) return h("p", { class: "hint" }, "The two are too long to be compared here. Compare them with: moot doc history");
  if (lines.length === 0) return h("p", { class: "hint" }, "Nothing is different.");
  return h("div", { class: "diff", tabindex: "0", role: "region", "aria-label": "What changed" }, h("table", null, h("tbody", null, lines.map(line))));
}

function line({ kind, text, old, new: now, count }) {
  if (kind === "skipped") return h("tr", { class: "is-skipped" }, h("td", { colspan: 4 }, `${words.counted(count, "line")} that did not change`));
  const said = SAID[kind] && h("span", { class: "visually-hidden" }, SAID[kind]);
  const tag = { added: "ins", removed: "del" }[kind] ?? "span";
  return h("tr", { class: `is-${kind}` }, h("td", { class: "no" }, old ?? ""), h("td", { class: "no" }, now ?? ""), h("td", { class: "sign-of", "aria-hidden": "true" }, SIGNS[kind]), h("td", null, said, h(tag, null, text)));
}
