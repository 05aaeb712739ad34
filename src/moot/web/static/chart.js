// Columns over time, one part for each name; the same numbers stand in a table for who does not see them.

import { h } from "./elements.js";
import * as words from "./words.js";

const WIDTH = 1000;
const HEIGHT = 220;
const MOST_NAMES = 9;

export function chart(points, { step, seconds, now, label }) {
  const sums = new Map();
  for (const one of points) sums.set(one.name, (sums.get(one.name) ?? 0) + one.cost);
  const names = [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a));
  const shown = names.slice(0, MOST_NAMES);
  const columns = summed(points, shown, { step, seconds, now });
  const most = Math.max(1e-9, ...columns.map((one) => one.total));
  return h(
    "figure",
    { class: "chart" },
    h("figcaption", null, h("ul", { class: "legend" }, shown.map((name, index) => h("li", { key: name }, h("span", { class: `patch series-${index}` }), name, h("span", { class: "hint" }, ` ${words.money(sums.get(name))}`))), names.length > shown.length && h("li", null, h("span", { class: "patch series-rest" }), "others"))),
    h("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + 24}`, role: "img", "aria-label": label, preserveAspectRatio: "none" },
      [0.25, 0.5, 0.75, 1].map((part) => h("line", { class: "grid", x1: 0, x2: WIDTH, y1: HEIGHT * (1 - part), y2: HEIGHT * (1 - part) })),
      columns.map((one, index) => column(one, index, columns.length, most))),
    h("div", { class: "between hint", "aria-hidden": "true" }, h("span", null, words.moment(now - seconds * 1000)), h("span", null, `highest: ${words.money(most)} in ${words.duration(step)}`), h("span", null, words.moment(now))),
  );
}

function summed(points, shown, { step, seconds, now }) {
  const first = Math.floor((now / 1000 - seconds) / step) * step;
  const count = Math.max(1, Math.ceil((now / 1000 - first) / step));
  const columns = Array.from({ length: count }, (_, index) => ({ at: (first + index * step) * 1000, parts: Array(shown.length + 1).fill(0), total: 0 }));
  for (const one of points) {
    const column = columns[Math.floor((Date.parse(one.at) / 1000 - first) / step)];
    if (!column) continue;
    const place = shown.indexOf(one.name);
    column.parts[place === -1 ? shown.length : place] += one.cost;
    column.total += one.cost;
  }
  return columns;
}

function column({ at, parts, total }, index, count, most) {
  if (total === 0) return null;
  const wide = WIDTH / count;
  let top = HEIGHT;
  const rects = parts.map((part, place) => {
    const high = (part / most) * HEIGHT;
    top -= high;
    const series = place === parts.length - 1 ? "rest" : place;
    return part > 0 && h("rect", { class: `series-${series}`, x: index * wide + wide * 0.1, y: top, width: Math.max(1, wide * 0.8), height: high });
  });
  return h("g", { key: at }, h("title", null, `${words.moment(at)}: ${words.money(total)}`), rects);
}
