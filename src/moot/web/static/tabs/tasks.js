// Plans: how far they are, their tasks by state or drawn as what needs what, and one task with all that is known.

import * as api from "../api.js";
import { button, chip, command, empty, link, meter, section, state } from "../controls.js";
import { h } from "../elements.js";
import { picture } from "../picture.js";
import * as route from "../route.js";
import { details } from "../task.js";
import * as words from "../words.js";

const PAGE = 20;

const TITLES = { blocked: "Waiting for others", ready: "Ready", planning: "Planning", in_progress: "At work", verifying: "Being checked", failed: "Failed", completed: "Done" };
let longer = {}; // by column, how many cards are wanted
let looks = 0;

export const tab = {
  name: "tasks",
  title: "Tasks",
  kinds: /^(workflow_|task_|claim_|checkpoint_|check_)/,
  begin() {
    longer = {};
  },
  async load(place) {
    const [{ plans }, opened] = await Promise.all([api.get("/api/plans"), task(place)]);
    const id = opened?.task.plan_id ?? place.find((one) => one.startsWith("wf_")) ?? plans[0]?.id;
    looks += 1;
    return { plans, board: id ? await board(id) : null, opened, looks };
  },
  draw({ plans, board: seen, opened, looks: version }, context) {
    if (!seen) {
      return section("Plans", { class: "panel" }, empty("There is no plan yet.", ["Tasks stand in a workflow under ", h("code", null, "tasks:"), ", or in a file: ", command("moot plan apply FILE")]));
    }
    const { plan } = seen;
    const isGraph = context.place.includes("graph");
    const open = (id) => route.go("tasks", plan.id, ...(isGraph ? ["graph"] : []), id);
    const isOpen = opened && context.place.includes(opened.task.id);
    return [
      head(plans, plan, isGraph),
      h("div", { class: `with-side ${isOpen ? "is-open" : ""}` },
        isGraph
          ? h("section", { class: "panel", "aria-label": "What needs what" }, picture({ path: `/api/plans/${plan.id}/graph.svg`, label: `What needs what in ${plan.name}`, version, open }))
          : h("div", { class: "board" }, seen.columns.filter((one) => one.total > 0).map((one) => column(one, open, context))),
        isOpen && h("aside", { class: "panel side-panel", "aria-label": "One task" }, details(opened, { ...context, close: () => route.go("tasks", plan.id, ...(isGraph ? ["graph"] : [])) }))),
    ];
  },
};

async function task(place) {
  const id = place.find((one) => one.startsWith("tk_"));
  return id ? api.get(`/api/tasks/${id}`) : null;
}

// With as many cards of a column as the visitor has asked for.
async function board(id) {
  const seen = await api.get(`/api/plans/${id}/board`, { limit: PAGE });
  const wanted = seen.columns.filter((one) => (longer[one.status] ?? 0) > PAGE && one.next !== null);
  await Promise.all(wanted.map(async (one) => {
    while (one.next !== null && one.tasks.length < longer[one.status]) {
      const found = await api.get(`/api/plans/${id}/tasks`, { status: one.status, after: one.next, limit: 100 });
      one.tasks.push(...found.tasks);
      one.next = found.next;
    }
  }));
  return seen;
}

function head(plans, plan, isGraph) {
  const told = `${plan.done} of ${words.counted(plan.total, "task")} done`;
  const choose = (event) => route.go("tasks", event.target.value);
  return h(
    "section",
    { class: "panel plan", "aria-label": "Plan" },
    h("div", { class: "between" },
      plans.length > 1 ? h("select", { "aria-label": "Plan", on: { change: choose } }, plans.map((one) => h("option", { key: one.id, value: one.id, selected: one.id === plan.id }, one.name))) : h("h2", null, plan.name),
      state(plan.status),
      h("span", { class: "tabs" },
        link("Board", route.address("tasks", plan.id), { "aria-current": isGraph ? null : "page" }),
        link("Graph", route.address("tasks", plan.id, "graph"), { "aria-current": isGraph ? "page" : null }))),
    meter(plan.total ? plan.done / plan.total : 0, told),
    h("p", { class: "hint" }, [told, plan.at_work > 0 && `${plan.at_work} at work`, plan.blocked > 0 && `${plan.blocked} waiting`, plan.failed > 0 && `${plan.failed} failed`, `${plan.max_parallel} at a time`].filter(Boolean).join(" · "), plan.reason && h("span", { class: "is-bad" }, ` ${plan.reason}`)),
  );
}

function column({ status, total, tasks, next }, open, { again }) {
  const more = async () => {
    longer[status] = Math.min(200, tasks.length + 100);
    await again();
  };
  const title = TITLES[status] ?? words.plain(status);
  return h(
    "section",
    { class: `column is-${status}`, key: status, "aria-label": title },
    h("header", { class: "between" }, h("h2", null, title), h("span", { class: "count" }, words.number(total))),
    h("ul", null, tasks.map((one) => card(one, open))),
    next !== null && (tasks.length < 200 ? button("More", more, { look: "quiet small", label: `More of: ${title}` }) : h("p", { class: "hint" }, `The other ${words.number(total - tasks.length)}: moot task ls`)),
  );
}

function card(one, open) {
  const who = one.holder ?? one.done_by ?? one.assigned;
  const about = one.error ?? one.outcome;
  return h(
    "li",
    { key: one.id, class: "task" },
    h("button", { type: "button", on: { click: () => open(one.id) } },
      h("span", { class: "name" }, one.name),
      one.status === "skipped" && chip("left out"),
      one.is_lapsed && chip("lease ran out", "is-high"),
      about && h("span", { class: one.error ? "about is-bad" : "about" }, about),
      h("span", { class: "hint" }, [who, one.waits_for > 0 && one.status === "blocked" && `waits for ${one.waits_for}`, one.complexity].filter(Boolean).join(" · ")),
    ),
  );
}
