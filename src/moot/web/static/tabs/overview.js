// The first view: what needs the visitor, who works on what, what it costs, what is being said.

import { chip, command, empty, link, meter, section, since, state } from "../controls.js";
import { composer, reply } from "../composer.js";
import { ConversationList } from "../conversation_list.js";
import { h } from "../elements.js";
import { known } from "../known.js";
import { needsYou } from "../needs.js";
import { person } from "../people.js";
import * as route from "../route.js";
import { runLine } from "../run.js";
import { budget } from "../spending.js";
import { Talk } from "../talk.js";
import * as words from "../words.js";

const MOST_AGENTS = 12;

let list = null;

export const tab = {
  name: "overview",
  title: "Overview",
  begin() {
    const talk = new Talk();
    const { messages } = known.overview;
    if (messages?.length > 1) talk.begin([...messages], true);
    list = new ConversationList(talk, { reply, open: (one) => route.go("conversation", one.id) });
    return talk.last().then(() => list.draw());
  },
  draw(_, { again }) {
    const { overview } = known;
    if (!overview.exists) return [needsYou(overview.needs, again), nothingYet()];
    return [
      needsYou(overview.needs, again),
      h(
        "div",
        { class: "columns" },
        section("Conversation", { class: "panel talk", id: "talk" }, list.description(), composer()),
        h("div", { class: "beside" }, working(overview), spent(overview), plans(overview), flows(overview), stuck(overview)),
      ),
    ];
  },
  head: ({ again }) => (known.overview?.exists ? runLine(known.overview, again) : null),
};

function nothingYet() {
  return section("Begin", { class: "panel", id: "begin" }, empty(
    `Nothing has happened in ${known.instance} yet.`,
    ["See scripted agents work together: ", command("moot demo")],
    ["Set up this project, then run what it wrote: ", command("moot init"), " and ", command("moot run review")],
    "What happens is shown here as it happens.",
  ));
}

function working({ agents }) {
  const shown = agents.filter((one) => one.backend !== "human");
  const busy = shown.filter((one) => one.status === "running");
  const others = shown.filter((one) => one.status !== "running");
  const rows = [...busy, ...others].slice(0, MOST_AGENTS);
  const more = shown.length - rows.length;
  return section(
    "Who works on what",
    { class: "panel", id: "working", aside: h("span", { class: "hint" }, busy.length > 0 ? `${busy.length} of ${shown.length} at work` : "") },
    rows.length === 0 ? empty("Nobody is here yet.", ["Join from your own agent: ", command("moot mcp")]) : h("ul", { class: "roster" }, rows.map(row)),
    more > 0 && link(`${words.counted(more, "more agent", "more agents")}`, route.address("agents")),
  );
}

function row(one) {
  const does = one.tasks.length > 0 ? one.tasks.join(", ") : one.unread > 0 ? words.counted(one.unread, "unread message") : "";
  const started = one.seconds === null ? null : new Date(known.now() - one.seconds * 1000).toISOString();
  return h(
    "li",
    { key: one.name },
    link(person(one.name), route.address("agents", one.name), { class: "who" }),
    h("span", { class: "does" }, does, one.parked > 0 && chip(`${one.parked} given up`, "is-high")),
    h("span", { class: "when" }, state(one.status), started && [" ", elapsed(one, started)]),
  );
}

// Seconds that are counted from one look to the next would jump; the attempt tells whether it is the same.
const begun = new Map();
function elapsed(one, started) {
  const key = `${one.name} ${one.attempt}`;
  if (!begun.has(key)) begun.set(key, started);
  return since(begun.get(key));
}

function spent({ budget: shares, usage }) {
  const aside = link("All costs", route.address("cost"), { class: "hint" });
  return section("Cost against budget", { class: "panel", id: "spent", aside }, budget(shares, usage));
}

function plans({ plans: open }) {
  if (!open?.length) return null;
  return section("Plans", { class: "panel", id: "plans" }, h("ul", { class: "plain" }, open.map((one) => {
    const told = `${one.completed_tasks} of ${words.counted(one.total_tasks, "task")} done`;
    return h("li", { key: one.workflow_id, class: "progress" },
      h("span", { class: "between" }, link(one.name, route.address("tasks", one.workflow_id)), h("span", { class: "hint" }, told)),
      meter(one.total_tasks ? one.completed_tasks / one.total_tasks : 0, `${one.name}: ${told}`),
      one.failed > 0 && h("span", { class: "is-bad" }, `${one.failed} failed`));
  })));
}

function flows({ flows: open }) {
  if (!open?.length) return null;
  return section("Steps", { class: "panel", id: "steps" }, h("ul", { class: "plain" }, open.map((one) =>
    h("li", { key: one.workflow_id },
      h("span", { class: "between" }, link(one.name, route.address("steps", one.workflow_id)), state(one.status)),
      one.step && h("span", { class: "hint" }, "at ", h("code", null, one.step)),
      one.waits && h("span", { class: "hint" }, ` waits ${one.waits}`)))));
}

// Without what stands under "Needs you" already.
function stuck({ reasons, needs }) {
  const told = [...needs.requests, ...needs.votes].map((one) => one.id);
  const others = reasons.filter((one) => !told.some((id) => one.includes(id)) && !one.startsWith(`${known.me} has `));
  if (others.length === 0) return null;
  return section("Why something waits", { class: "panel", id: "stuck" }, h("ul", { class: "reasons" }, others.map((one) => h("li", { key: one }, one))));
}
