// What was done, when, and how long it took: who was at work in lanes, each call in lines, and what led to what.

import * as api from "../api.js";
import { button, command, empty, link, section, since, state, table, time } from "../controls.js";
import { h } from "../elements.js";
import { known } from "../known.js";
import { lanes } from "../lanes.js";
import * as route from "../route.js";
import { tree } from "../tree.js";
import * as words from "../words.js";

const PAGE = 100;
const MOST = 1000;
const EARLIER = 200;

let agent = "";
let earlier = { operations: [], next: null };

export const tab = {
  name: "timeline",
  title: "Timeline",
  kinds: /^(attempt_|operation_|step_|run_)/,
  begin: () => forget(),
  async load([id]) {
    if (id) return { trace: await api.get(`/api/trace/${id}`), id };
    return api.get("/api/timeline", { limit: PAGE, agent });
  },
  draw(seen, context) {
    if (seen.trace && context.place[0] === seen.id) return traced(seen);
    if (!seen.operations) return null;
    const ids = new Set(seen.operations.map((one) => one.id));
    const all = [...seen.operations, ...earlier.operations.filter((one) => !ids.has(one.id))];
    if (all.length === 0 && agent === "") {
      return section("Timeline", { class: "panel" }, empty("Nothing was done yet.", ["What agents do is noted here: each attempt, each call of a model or a tool. Of a run: ", command("moot trace")]));
    }
    const next = earlier.operations.length > 0 ? earlier.next : seen.next;
    return [
      h("div", { class: "bar" }, chooser(context)),
      section("Who was at work", { class: "panel", id: "lanes" }, lanes(all.filter((one) => one.kind === "attempt"), (id) => route.go("timeline", id))),
      section("What was done, the last first", { class: "panel", id: "operations" }, table(["When", "Who", "What", "Took", "How it went"], all.map(row)),
        next && all.length < MOST && button("Earlier", () => more(next, context)),
        next && all.length >= MOST && h("p", { class: "hint" }, "What is still older: ", command("moot trace"))),
    ];
  },
};

function forget() {
  earlier = { operations: [], next: null };
}

async function more(before, { redraw }) {
  const found = await api.get("/api/timeline", { limit: EARLIER, agent, before });
  earlier = { operations: [...earlier.operations, ...found.operations], next: found.next };
  redraw();
}

function chooser({ again }) {
  const choose = async (event) => {
    agent = event.target.value;
    forget();
    await again();
  };
  const names = (known.overview.agents ?? []).filter((one) => one.backend !== "human").map((one) => one.name);
  return h("select", { "aria-label": "Of whom", on: { change: choose } }, ["", ...names].map((one) => h("option", { key: one, value: one, selected: one === agent }, one || "Of everybody")));
}

function row(one) {
  const took = one.ended_at ? words.duration((Date.parse(one.ended_at) - Date.parse(one.started_at)) / 1000) : since(one.started_at);
  const what = one.kind === "attempt" ? [link(words.attempt(one.number), route.address("timeline", one.id))] : [h("span", { class: "hint" }, `${words.plain(one.kind)} `), h("code", null, one.name)];
  return [time(one.started_at, words.instant(one.started_at)), one.agent, what, took, [state(one.state), one.error && h("span", { class: "is-bad" }, ` ${one.error.slice(0, 300)}`)]];
}

function traced({ trace, id }) {
  return [
    h("p", null, link("← The timeline", route.address("timeline"))),
    section(`What led to what: ${id}`, { class: "panel", id: "trace" }, tree(trace.nodes), trace.is_cut && h("p", { class: "hint" }, "There is more: ", command(`moot trace ${id}`))),
  ];
}
