// The run that goes on in an instance: its name, its state, and stopping, pausing or going on with it.

import * as api from "./api.js";
import { button, since, state } from "./controls.js";
import { stopping } from "./dialogs.js";
import { h } from "./elements.js";
import { known } from "./known.js";
import * as notices from "./notices.js";
import * as words from "./words.js";

export function runLine(overview, again) {
  const { run } = overview;
  if (!run) return h("p", { class: "run" }, h("span", { class: "name" }, known.instance), h("span", { class: "hint" }, "No run yet"));
  const isLive = run.state === "live";
  const took = (Date.parse(run.ended_at ?? run.started_at) - Date.parse(run.started_at)) / 1000;
  return h(
    "div",
    { class: "run" },
    h("span", { class: "name" }, run.name),
    state(run.is_paused && isLive ? "paused" : run.state),
    isLive && run.phase && h("span", { class: "phase" }, words.plain(run.phase)),
    h("span", { class: "when" }, isLive ? since(run.started_at) : words.duration(took)),
    known.mayChange && isLive && h("span", { class: "row" }, controls(run, again)),
    !isLive && run.reason && h("span", { class: "reason" }, run.reason),
  );
}

function controls(run, again) {
  const act = (verb, told) => async () => {
    await api.post(`/api/run/${verb}`);
    notices.done(told);
    await again();
  };
  const stop = async () => {
    const how = await stopping(`Stop ${run.name}?`, "Who works finishes first. moot resume goes on with it.");
    if (how === null) return;
    await api.post("/api/run/stop", how);
    notices.done(`${run.name} stops.`);
    await again();
  };
  return [
    run.is_paused
      ? button("Go on", act("resume", `${run.name} goes on.`), { look: "small primary" })
      : button("Pause", act("pause", `${run.name} pauses: who works finishes, nobody is woken.`), { look: "small" }),
    button("Stop", stop, { look: "small danger" }),
  ];
}
