// What was spent: by agent, model, run or task, and over time.

import * as api from "../api.js";
import { chart } from "../chart.js";
import { command, empty, link, meter, section, table } from "../controls.js";
import { h } from "../elements.js";
import { known } from "../known.js";
import * as route from "../route.js";
import { budget } from "../spending.js";
import * as words from "../words.js";

const BY = { agent: "Agent", model: "Model", task: "Task", run: "Run" };
const SPANS = [[3600, "1 hour"], [86_400, "1 day"], [7 * 86_400, "7 days"], [30 * 86_400, "30 days"]];

let chosen = null; // seconds

export const tab = {
  name: "cost",
  title: "Cost",
  kinds: /^(attempt_|operation_|run_|task_)/,
  async load([by = "agent"]) {
    const over = by === "model" ? "model" : "agent";
    const seconds = chosen ?? fitting();
    const [costs, time] = await Promise.all([api.get("/api/costs", { by }), api.get("/api/costs/time", { by: over, seconds })]);
    return { costs, time, seconds };
  },
  draw({ costs, time, seconds }, context) {
    const { overview } = known;
    const { lines, total, by } = costs;
    const isNothing = lines.length === 0;
    return [
      overview.exists && overview.budget.length > 0 && section("Against the budget of this run", { class: "panel", id: "against" }, budget(overview.budget, overview.usage)),
      section("Over time", { class: "panel", id: "over-time", aside: spans(seconds, context) }, time.points.length === 0
        ? h("p", { class: "hint" }, "Nothing was spent in this time.")
        : chart(time.points, { step: time.step, seconds, now: known.now(), label: `What was spent, by ${time.by}` })),
      section("Spent", { class: "panel", id: "by", aside: h("span", { class: "tabs" }, Object.entries(BY).map(([name, title]) => link(title, route.address("cost", name), { "aria-current": name === by ? "page" : null }))) },
        isNothing ? empty("Nothing was spent yet.", ["Whatever models and programs use is counted here, and against a budget: ", command("budget: {cost: 5}")]) : spent(lines, total, by)),
    ];
  },
};

// The shortest time in which the run has its place.
function fitting() {
  const begun = known.overview.run?.started_at;
  const past = begun ? (known.now() - Date.parse(begun)) / 1000 : Infinity;
  return SPANS.find(([span]) => past < span)?.[0] ?? SPANS[1][0];
}

function spans(seconds, { again }) {
  const choose = async (event) => {
    chosen = Number(event.target.value);
    await again();
  };
  return h("select", { "aria-label": "How far back", on: { change: choose } }, SPANS.map(([value, title]) => h("option", { key: value, value, selected: value === seconds }, title)));
}

function spent(lines, total, by) {
  const most = Math.max(1e-9, ...lines.map((one) => one.cost));
  const rows = [...lines].sort((a, b) => b.cost - a.cost).map((one) => [
    by === "task" ? link(one.name, route.address("tasks", one.id)) : one.name,
    meter(one.cost / most, `${one.name}: ${words.money(one.cost)}`),
    words.money(one.cost, one.is_estimated),
    tokens(one),
    one.attempts ?? one.calls ?? "",
  ]);
  return [
    table([BY[by], "Share", "Cost", "Tokens", by === "model" ? "Calls" : "Attempts"], rows),
    total && h("p", { class: "total" }, "Together ", h("strong", null, words.money(total.cost, total.is_estimated)), total.reserved > 0 && h("span", { class: "hint" }, `, and ${words.money(total.reserved)} set aside for calls that are under way`), total.unknown_cost > 0 && h("span", { class: "hint" }, `; of ${words.money(total.unknown_cost)} nobody knows how it ended`)),
  ];
}

function tokens(one) {
  return words.compact(one.tokens ?? (one.input_tokens ?? 0) + (one.output_tokens ?? 0));
}
