// What is put to the vote, with a live tally, and what was asked of people and agents.

import * as api from "../api.js";
import { button, chip, empty, link, section, since, state, time } from "../controls.js";
import { h } from "../elements.js";
import { known } from "../known.js";
import * as notices from "../notices.js";
import { sign } from "../people.js";
import * as words from "../words.js";

let earlier = []; // that were asked for, newest last
let hasMore = null;

export const tab = {
  name: "proposals",
  title: "Proposals",
  kinds: /^(proposal_|vote_|request_)/,
  begin() {
    earlier = [];
    hasMore = null;
  },
  async load() {
    const [{ proposals, has_older }, { requests }] = await Promise.all([api.get("/api/proposals", { limit: 20 }), api.get("/api/requests", { limit: 30 })]);
    return { proposals, requests, has_older };
  },
  draw({ proposals, requests, has_older }, context) {
    const newest = new Set(proposals.map((one) => one.id));
    const all = [...earlier.filter((one) => !newest.has(one.id)), ...proposals].reverse();
    const open = all.filter((one) => one.status === "active");
    const over = all.filter((one) => one.status !== "active");
    return [
      section("Put to the vote", { id: "open-votes" }, open.length === 0
        ? h("div", { class: "panel" }, empty("Nothing is put to the vote.", "Agents ask for one with proposal_create; who may vote is asked at once."))
        : h("ul", { class: "proposals" }, open.map((one) => card(one, context)))),
      over.length > 0 && section("Decided", { id: "decided" }, h("ul", { class: "proposals" }, over.map((one) => card(one, context)))),
      (hasMore ?? has_older) && h("p", null, button("Earlier ones", () => more(all, context))),
      requests.length > 0 && section("What was asked", { class: "panel", id: "asked" }, h("ul", { class: "plain" }, [...requests].reverse().map(asked))),
    ];
  },
};

async function more(all, { redraw }) {
  const found = await api.get("/api/proposals", { limit: 50, before: all.at(-1).id });
  earlier = [...found.proposals, ...earlier];
  hasMore = found.has_older;
  redraw();
}

function card(one, context) {
  const most = Math.max(1, ...one.options.map((option) => option.votes));
  const cast = one.electors.length - one.waits_for.length;
  const isOpen = one.status === "active";
  return h(
    "li",
    { class: "panel proposal", key: one.id, id: `p-${one.id}` },
    h("header", { class: "between" }, h("h3", null, one.title), state(one.status)),
    h("p", { class: "hint" }, `${one.createdBy} · ${one.type} · ${one.resolution.type}, ${one.resolution.quorum} of ${one.electors.length} decide`, one.binding && " · binding", isOpen ? [" · until ", time(one.expiresAt)] : one.result.resolvedAt && [" · ", time(one.result.resolvedAt)]),
    one.description && h("p", null, one.description),
    h("ul", { class: "tally" }, one.options.map((option) => line(one, option, most))),
    h("p", { class: "hint" }, `${cast} of ${words.counted(one.electors.length, "vote")} cast`, isOpen && one.waits_for.length > 0 && `; ${words.listed(one.waits_for)} ${one.waits_for.length === 1 ? "has" : "have"} not voted`, one.result.reason && `. ${one.result.reason}`),
    reasons(one),
    isOpen && known.mayChange && one.waits_for.includes(known.me) && voting(one, context),
  );
}

function line(one, option, most) {
  const isWinner = one.result.winner === option.id;
  return h(
    "li",
    { key: option.id, class: isWinner ? "is-winner" : "" },
    h("span", { class: "label" }, option.label, isWinner && chip("chosen", "is-good")),
    h("span", { class: "count" }, words.counted(option.votes, "vote")),
    h("span", { class: "bar-of", "aria-hidden": "true" }, h("span", { style: { width: `${(option.votes / most) * 100}%` } })),
    h("span", { class: "voters" }, option.voters.map((name) => h("span", { key: name, title: name }, sign(name), h("span", { class: "visually-hidden" }, name)))),
  );
}

function reasons(one) {
  const given = Object.entries(one.result.reasons ?? {});
  return given.length > 0 && h("ul", { class: "given" }, given.map(([name, why]) => h("li", { key: name }, h("strong", null, name), ` ${why}`)));
}

function voting(one, { again }) {
  const vote = (option) => async (element) => {
    const reason = element.closest(".proposal").querySelector("textarea").value.trim();
    await api.post(`/api/proposals/${one.id}/vote`, reason ? { choice: option.id, reason } : { choice: option.id });
    notices.done(`Voted for ${option.label}.`);
    await again();
  };
  return h("div", { class: "answer" }, h("textarea", { rows: 1, class: "note", "aria-label": "Why, if you like", placeholder: "Why, if you like" }), h("div", { class: "row" }, one.options.map((option) => button(`Vote for ${option.label}`, vote(option)))));
}

function asked(one) {
  return h(
    "li",
    { key: one.id, class: "asked" },
    h("span", { class: "between" }, h("span", null, h("strong", null, one.from), ` asked ${one.to}: ${one.title}`), state(one.state)),
    h("span", { class: "hint" }, words.plain(one.kind), " · ", time(one.created_at), one.answered_by && ` · answered by ${one.answered_by}`, one.state === "open" && [" · waits for ", since(one.created_at)], one.state === "open" && one.to === known.me && [" · ", link("answer it", "#/")]),
    one.answer && h("p", null, one.answer),
  );
}
