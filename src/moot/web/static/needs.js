// What needs the visitor: requests with exactly what will be done, votes, mail. Each is answered where it stands.

import * as api from "./api.js";
import { button, chip, section, since } from "./controls.js";
import * as composer from "./composer.js";
import { h } from "./elements.js";
import { known } from "./known.js";
import { body as prose } from "./message.js";
import * as notices from "./notices.js";
import { sign } from "./people.js";
import * as words from "./words.js";

const KINDS = {
  permission: "wants to do this",
  plan_approval: "asks you to approve",
  shutdown: "wants to stop",
  mode_set: "wants other permissions",
  question: "asks",
};

export function count(needs) {
  return needs ? needs.requests.length + needs.votes.length + needs.mail.length : 0;
}

// `again` looks once more at what is needed.
export function needsYou(needs, again) {
  const all = count(needs);
  const aside = all > 0 && h("span", { class: "count" }, all);
  const cards = all === 0
    ? h("p", { class: "calm" }, "Nothing waits for you.")
    : h("ul", { class: "needs" },
        needs.requests.map((one) => request(one, again)),
        needs.votes.map((one) => vote(one, again)),
        needs.mail.map((one) => mail(one, again)));
  return section("Needs you", { class: `needs-you ${all > 0 ? "is-needed" : ""}`, id: "needs-you", aside }, cards);
}

function card(one, what, ...children) {
  const where = one.instance === known.instance ? null : chip(one.instance, "is-place");
  return h(
    "li",
    { class: "need", key: one.id, "data-id": one.id },
    h("p", { class: "who" }, sign(one.from), h("span", null, h("strong", null, one.from), ` ${what}`), where, h("span", { class: "when" }, since(one.created_at ?? one.timestamp), " ago")),
    children,
  );
}

function request(one, again) {
  const answer = answering(one, again);
  return card(
    one,
    KINDS[one.kind] ?? words.plain(one.kind),
    h("h3", null, one.title),
    one.body && h("pre", { class: "exactly", tabindex: "0", "aria-label": "Exactly what is asked" }, one.body),
    one.expires_at && h("p", { class: "hint" }, `Until ${words.moment(one.expires_at)}.`),
    known.mayChange && (one.kind === "question" ? question(one, answer) : approval(answer)),
  );
}

function answering(one, again) {
  return async (element, verdict, given) => {
    const body = { verdict, hash: one.hash };
    const text = given ?? element.closest(".need").querySelector("textarea")?.value.trim();
    if (text) body.answer = text;
    if (verdict === "answered" && !text) return element.closest(".need").querySelector("textarea").focus();
    try {
      await api.post(`/api/requests/${one.id}`, body, { instance: one.instance });
      notices.done(`${words.sentence(verdict)}: ${one.title}`);
    } finally {
      await left(element, again);
    }
    return undefined;
  };
}

function approval(answer) {
  return h(
    "div",
    { class: "answer" },
    h("textarea", { rows: 1, class: "note", "aria-label": "A word to it, if you like", placeholder: "A word to it, if you like" }),
    h("div", { class: "row" },
      button("Approve", (element) => answer(element, "approved"), { look: "primary" }),
      button("Deny", (element) => answer(element, "denied"), { look: "danger" })),
  );
}

function question(one, answer) {
  if (one.options.length > 0) {
    const options = one.options.map((option) => button(option, (element) => answer(element, "answered", option)));
    return h("div", { class: "answer" }, h("div", { class: "row" }, options));
  }
  return h(
    "div",
    { class: "answer" },
    h("textarea", { rows: 2, "aria-label": "Your answer", placeholder: "Your answer" }),
    h("div", { class: "row" }, button("Answer", (element) => answer(element, "answered"), { look: "primary" })),
  );
}

function vote(one, again) {
  const cast = async (element) => {
    const place = element.closest(".need");
    const choice = place.querySelector("input:checked")?.value;
    if (!choice) return place.querySelector("input").focus();
    const reason = place.querySelector("textarea").value.trim();
    try {
      await api.post(`/api/proposals/${one.id}/vote`, reason ? { choice, reason } : { choice }, { instance: one.instance });
      notices.done(`Voted: ${one.title}`);
    } finally {
      await left(element, again);
    }
    return undefined;
  };
  return card(
    one,
    "puts it to the vote",
    h("h3", null, one.title),
    one.description && h("p", null, one.description),
    h("p", { class: "hint" }, `Until ${words.moment(one.expires_at)}.`),
    known.mayChange && h(
      "div",
      { class: "answer" },
      h("fieldset", { class: "options" }, h("legend", { class: "visually-hidden" }, one.title), one.options.map((option) => choice(one, option))),
      h("textarea", { rows: 1, class: "note", "aria-label": "Why, if you like", placeholder: "Why, if you like" }),
      h("div", { class: "row" }, button("Vote", cast, { look: "primary" })),
    ),
  );
}

function choice(one, { id, label }) {
  return h("label", { class: "option", key: id }, h("input", { type: "radio", name: `vote-${one.id}`, value: id }), label);
}

function mail(one, again) {
  const read = async (element) => {
    await api.post("/api/mail/ack", { ids: [one.id] }, { instance: one.instance });
    await left(element, again);
  };
  return card(
    one,
    "wrote to you",
    prose(one),
    known.mayChange && h("div", { class: "row" },
      one.instance === known.instance && one.from !== "system" && button("Reply", () => composer.reply(one), { look: "primary" }),
      button("I have read it", read)),
  );
}

// Whoever has answered goes on with the next one, and not at the beginning of the page.
async function left(element, again) {
  const place = element.closest(".need");
  const next = place?.nextElementSibling ?? place?.previousElementSibling;
  const hadFocus = place?.contains(document.activeElement) ?? false;
  await again();
  if (hadFocus && !place.isConnected) (next?.querySelector("button, input, textarea") ?? document.querySelector("#needs-you"))?.focus();
}
