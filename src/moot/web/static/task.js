// One task with all that is known: what it needs, who holds it, how it was proven, what was noted on the way.

import * as api from "./api.js";
import { button, chip, link, state, time } from "./controls.js";
import { h } from "./elements.js";
import { known } from "./known.js";
import { markdown } from "./markdown.js";
import * as notices from "./notices.js";
import { person } from "./people.js";
import * as route from "./route.js";
import { value } from "./values.js";
import * as words from "./words.js";

export function details({ task, needs, dependants, checkpoints, checks }, { again, close }) {
  return [
    h("header", { class: "head" }, h("h2", null, task.name), button("×", close, { look: "quiet small", label: "Close" })),
    h("p", { class: "between" }, state(task.status), h("code", { class: "hint" }, task.id)),
    known.mayChange && task.status === "failed" && button("Try it again", () => retry(task, again), { look: "primary" }),
    task.error && h("p", { class: "is-bad" }, task.error),
    h("div", { class: "prose" }, markdown(task.description, { breaks: true })),
    facts(task),
    task.outcome && part("Outcome", h("div", { class: "prose" }, markdown(task.outcome, { breaks: true }))),
    task.approach && Object.keys(task.approach).length > 0 && part("How it is meant to be done", value(task.approach)),
    needs.length > 0 && part("Needs", edges(needs)),
    dependants.length > 0 && part("Needed by", edges(dependants)),
    checks.length > 0 && part("Checks", h("ul", { class: "plain" }, checks.map(check))),
    checkpoints.length > 0 && part("Noted on the way", h("ol", { class: "checkpoints" }, checkpoints.map(checkpoint))),
  ];
}

async function retry(task, again) {
  await api.post(`/api/tasks/${task.id}/retry`);
  notices.done(`${task.name} is tried again.`);
  await again();
}

function part(title, ...children) {
  return [h("h3", null, title), children];
}

function facts(task) {
  const lines = [
    ["Held by", task.holder && person(task.holder)],
    [task.status === "completed" ? "Done by" : "Ended by", task.done_by && person(task.done_by)],
    ["Meant for", task.assigned],
    ["Its lease ends", task.lease_until && [time(task.lease_until), task.is_lapsed && chip("ran out", "is-high")]],
    ["Begun", task.started_at && time(task.started_at)],
    ["Ended", task.ended_at && time(task.ended_at)],
    ["Files", task.files?.length > 0 && task.files.join(", ")],
    ["Group", task.group],
  ].filter(([, value]) => value);
  return lines.length > 0 && h("dl", { class: "facts" }, lines.map(([name, value]) => h("div", { key: name }, h("dt", null, name), h("dd", null, value))));
}

function edges(all) {
  return h("ul", { class: "plain" }, all.map((one) => h("li", { key: one.id, class: "between" }, link(one.name, route.address("tasks", one.id)), h("span", { class: "hint" }, one.kind !== "blocks" && `${words.plain(one.kind)} · `, state(one.status)))));
}

function check(one) {
  return h("li", null, h("span", { class: "between" }, h("code", null, one.what), state(one.state)), one.output && h("pre", { class: "exactly", tabindex: "0" }, one.output));
}

function checkpoint(one) {
  return h("li", { key: one.number }, h("p", { class: "hint" }, chip(words.plain(one.type)), ` ${one.by ?? ""} · `, time(one.at)), h("p", null, one.summary), one.detail && Object.keys(one.detail).length > 0 && value(one.detail));
}
