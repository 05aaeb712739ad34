// Who is here: what each does and has used, what it said last; and having it stop, hurry, or begin anew.

import * as api from "../api.js";
import { button, chip, command, empty, link, section, since, state, time } from "../controls.js";
import { stopping, words as asked } from "../dialogs.js";
import { h } from "../elements.js";
import { known } from "../known.js";
import { entry, prose } from "../message.js";
import * as notices from "../notices.js";
import { sign } from "../people.js";
import * as route from "../route.js";
import * as words from "../words.js";

const VERBS = ["release", "nudge", "interrupt", "retry", "stop"];

export const tab = {
  name: "agents",
  title: "Agents",
  kinds: /^(attempt_|agent_|message_posted|task_|claim_|run_)/,
  load: ([name]) => (name ? api.get(`/api/agents/${encodeURIComponent(name)}`) : api.get("/api/agents")),
  draw(seen, { place, again }) {
    if (seen.agent && place[0]) return one(seen, again);
    const all = (seen.agents ?? []).filter((agent) => agent.backend !== "human");
    const people = (seen.agents ?? []).filter((agent) => agent.backend === "human");
    if (all.length === 0) {
      return section("Agents", { class: "panel" }, empty("Nobody is here yet.", ["Start those of a workflow: ", command("moot run FILE")], ["Join with your own: ", command("moot mcp")]));
    }
    return [
      h("ul", { class: "cards" }, all.map((agent) => h("li", { key: agent.name }, card(agent, again)))),
      people.length > 0 && h("p", { class: "hint" }, `People: ${words.listed(people.map((agent) => agent.name))}.`),
    ];
  },
};

function card(agent, again, isWhole = false) {
  const { attempt } = agent;
  return h(
    "article",
    { class: "panel agent", "aria-label": agent.name },
    h("header", null,
      sign(agent.name),
      h("div", { class: "names-of" }, h("h2", null, isWhole ? agent.name : link(agent.name, route.address("agents", agent.name))), h("p", { class: "hint" }, [agent.label, agent.model ?? agent.backend].filter(Boolean).join(" · "))),
      h("span", { class: "when" }, state(agent.status), attempt && [" ", since(attempt.started_at)])),
    h("p", { class: "does" }, does(agent)),
    h("dl", { class: "figures" },
      figure("Attempts", attempt ? `${agent.attempts}, now try ${attempt.number}` : agent.attempts),
      figure("Turns", words.number(agent.turns)),
      figure("Tokens", words.compact(agent.tokens)),
      figure("Cost", words.money(agent.cost, agent.is_estimated))),
    agent.last_words && h("div", { class: "last-words" }, h("p", { class: "hint" }, "Last words, ", time(agent.last_words.timestamp)), prose({ ...agent.last_words, kind: "message", mentions: known.overview.agents.map((one) => one.name) })),
    known.mayChange && agent.may.length > 0 && h("div", { class: "row" }, VERBS.filter((verb) => agent.may.includes(verb)).map((verb) => control(verb, agent, again))),
  );
}

function does(agent) {
  const held = agent.tasks.map((task, index) => [index > 0 && ", ", link(task.name, route.address("tasks", task.id))]);
  const mail = [
    agent.unread > 0 && chip(words.counted(agent.unread, "unread message")),
    agent.parked > 0 && chip(`${words.counted(agent.parked, "message")} given up`, "is-high"),
  ];
  if (held.length === 0 && agent.unread + agent.parked === 0) return h("span", { class: "hint" }, agent.attempt ? "at work" : "has nothing to do");
  return [held.length > 0 && ["works on ", held, " "], mail];
}

function figure(name, value) {
  return h("div", null, h("dt", null, name), h("dd", null, value));
}

function control(verb, agent, again) {
  const act = async (body, told) => {
    await api.post(`/api/agents/${encodeURIComponent(agent.name)}/${verb}`, body);
    notices.done(told);
    await again();
  };
  const controls = {
    nudge: () => button("Nudge", () => act({}, `${agent.name} looks at its mail.`), { label: `Nudge ${agent.name} to look at its mail`, look: "small" }),
    interrupt: () => button("Interrupt", async () => {
      const message = await asked(`Interrupt ${agent.name}`, "It drops what it is doing and begins again with this, knowing what it had done.", "Interrupt", { label: "What it should know", lines: 3 });
      if (message) await act({ message }, `${agent.name} was interrupted.`);
    }, { label: `Interrupt ${agent.name}`, look: "small" }),
    stop: () => button("Stop", async () => {
      const how = await stopping(`Stop ${agent.name}?`, "It finishes what it is doing, keeps its mail, and is not woken until you let it work again.");
      if (how !== null) await act(how, `${agent.name} stops.`);
    }, { label: `Stop ${agent.name}`, look: "small danger" }),
    release: () => button("Let it work again", () => act({}, `${agent.name} works again.`), { label: `Let it work again: ${agent.name}`, look: "small primary" }),
    retry: () => button("Try given-up mail again", () => act({}, `${agent.name} gets its mail again.`), { label: `Try given-up mail again: ${agent.name}`, look: "small" }),
  };
  return controls[verb]();
}

function one({ agent, messages, attempts_made }, again) {
  return [
    h("p", null, link("← All agents", route.address("agents"))),
    card(agent, again, true),
    h("div", { class: "halves" },
      section("What it said and heard", { class: "panel" }, messages.length === 0 ? h("p", { class: "hint" }, "Nothing yet.") : h("ol", { class: "messages is-still" }, messages.map((message) => entry(message, { told: { open: (it) => route.go("conversation", it.id) } })))),
      section("Its attempts", { class: "panel" }, attempts_made.length === 0 ? h("p", { class: "hint" }, "None yet.") : h("ol", { class: "attempts" }, attempts_made.map(tried)))),
  ];
}

function tried(attempt) {
  const took = attempt.ended_at ? words.duration((Date.parse(attempt.ended_at) - Date.parse(attempt.started_at)) / 1000) : since(attempt.started_at);
  return h("li", { key: attempt.id }, h("span", { class: "between" }, h("span", null, `${words.sentence(words.attempt(attempt.number))} `, state(attempt.state)), h("span", { class: "hint" }, time(attempt.started_at), " · ", took)), attempt.error && h("p", { class: "is-bad" }, attempt.error));
}
