// Flows: where the engine is, what it waits for, its state and what follows from what, the steps it took, the traces.

import * as api from "../api.js";
import { button, chip, command, empty, link, section, since, state, table, time } from "../controls.js";
import { h } from "../elements.js";
import { known } from "../known.js";
import * as notices from "../notices.js";
import { picture } from "../picture.js";
import * as route from "../route.js";
import { value } from "../values.js";
import * as words from "../words.js";

const VIEWS = ["steps", "state", "traces"];
let looks = 0;

export const tab = {
  name: "steps",
  title: "Steps",
  kinds: /^(flow_|step_|request_answered)/,
  async load([id]) {
    const { flows } = await api.get("/api/flows");
    const chosen = id ?? flows[0]?.workflow_id;
    looks += 1;
    return { flows, seen: chosen ? await api.get(`/api/flows/${chosen}`) : null, looks };
  },
  draw({ flows, seen, looks: version }, context) {
    if (!seen) {
      return section("Steps", { class: "panel" }, empty("No workflow with steps has been run here.", ["Steps stand in a workflow under ", h("code", null, "steps:"), "; moot takes one after the other, and keeps every one."], ["See one: ", command("moot run FILE --step")]));
    }
    const [, view = "steps"] = context.place;
    return [where(flows, seen.flow, view, context), VIEWED[view]?.(seen, version)];
  },
};

const VIEWED = { steps, state: fields, traces };

function where(flows, flow, view, { again }) {
  const choose = (event) => route.go("steps", event.target.value);
  const took = flow.ended_at ? words.duration((Date.parse(flow.ended_at) - Date.parse(flow.started_at)) / 1000) : since(flow.started_at);
  return h(
    "section",
    { class: "panel plan", "aria-label": "Flow" },
    h("div", { class: "between" },
      flows.length > 1 ? h("select", { "aria-label": "Flow", on: { change: choose } }, flows.map((one) => h("option", { key: one.workflow_id, value: one.workflow_id, selected: one.workflow_id === flow.workflow_id }, `${one.name}, ${words.moment(one.started_at)}`))) : h("h2", null, flow.name),
      state(flow.status),
      h("span", { class: "tabs" }, VIEWS.map((one) => link(words.sentence(one), route.address("steps", flow.workflow_id, one), { "aria-current": one === view ? "page" : null })))),
    h("p", { class: "hint" }, `${words.counted(flow.steps_taken, "step")} taken · `, took, ` · driven by ${flow.driven_by}`),
    flow.error && h("p", { class: "is-bad" }, flow.error),
    flow.at.length > 0 && h("ul", { class: "plain" }, flow.at.map(spot)),
    flow.waits_for === "credit" && known.mayChange && h("div", { class: "row" }, button("Take the next step", () => step(flow, again), { look: "primary" })),
  );
}

async function step(flow, again) {
  await api.post(`/api/flows/${flow.workflow_id}/step`, { steps: 1 });
  notices.done(`${flow.name} takes a step.`);
  await again();
}

function spot(one) {
  return h("li", { key: one.task_id ?? "main" }, one.task_id && [chip(one.task_id), " "], h("code", null, one.step_id ?? "begins"), one.type && ` ${words.plain(one.type)}`, about(one) && h("span", { class: "hint" }, ` · ${about(one)}`));
}

// What it waits for may have what it is about in it.
function about({ about: what, waits }) {
  if (!waits) return what;
  return what && !waits.includes(what) ? `${what} · waits ${waits}` : `waits ${waits}`;
}

function steps({ flow, steps: taken }, version) {
  const marked = flow.at.map((one) => one.step_id).filter(Boolean);
  return [
    section("How they follow each other", { class: "panel", id: "drawn" }, picture({ path: `/api/flows/${flow.workflow_id}/graph.svg`, query: { of: "steps" }, label: `Steps of ${flow.name}`, version: marked.join(" ") || version, marked })),
    section("Taken, the last first", { class: "panel", id: "taken" }, taken.length === 0 ? h("p", { class: "hint" }, "None yet.") : table(["No.", "Step", "By", "When", "Took", "What came of it"], [...taken].sort((a, b) => b.number - a.number).map(stepRow))),
  ];
}

function stepRow(one) {
  const took = (Date.parse(one.completed_at) - Date.parse(one.started_at)) / 1000;
  const came = one.error ? h("span", { class: "is-bad" }, one.error) : Object.keys(one.detail).length > 0 ? value(one.detail) : words.plain(one.status);
  return [one.number, [one.task_id && chip(one.task_id), " ", h("code", null, one.step_id), h("span", { class: "hint" }, ` ${words.plain(one.type)}`)], one.by, time(one.started_at, words.instant(one.started_at)), words.duration(took), came];
}

function fields({ flow, state: all }) {
  return [
    section("What follows from what", { class: "panel", id: "drawn" }, picture({ path: `/api/flows/${flow.workflow_id}/graph.svg`, query: { of: "state" }, label: `State of ${flow.name}` })),
    section("The state", { class: "panel", id: "fields" }, all.length === 0 ? h("p", { class: "hint" }, "It has none.") : table(["Section", "Field", "Value"], all.map((one) => [chip(one.section), h("code", null, one.name), one.is_cut ? [h("code", { class: "value" }, `${one.value}…`), h("span", { class: "hint" }, ` ${words.counted(one.length, "character")}`)] : value(one.value)]))),
  ];
}

// As it was noted, in JSON.
function text(noted) {
  if (!noted) return null;
  return noted.length <= 120 ? h("code", { class: "value" }, noted) : h("details", { class: "value" }, h("summary", null, h("code", null, `${noted.slice(0, 80)}…`)), h("code", null, noted));
}

function traces({ traces: all }) {
  return section("What was computed, the last first", { class: "panel", id: "traces" }, all.length === 0 ? h("p", { class: "hint" }, "Nothing was computed.") : table(["Field", "When", "Because of", "Took", "From", "What came of it"], [...all].sort((a, b) => b.timestamp.localeCompare(a.timestamp)).map((one) => [h("code", null, one.field), time(one.timestamp, words.instant(one.timestamp)), one.trigger && h("code", null, one.trigger), h("span", { class: "told" }, `${one.duration_ms.toFixed(1)} ms`), text(one.input), one.error ? h("span", { class: "is-bad" }, one.error) : text(one.output)])));
}
