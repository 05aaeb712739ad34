// Everything that was said: threads, kinds, who has read what, search, a day to jump to.

import * as api from "../api.js";
import { button, chip, empty, link, time } from "../controls.js";
import { composer, reply } from "../composer.js";
import { ConversationList } from "../conversation_list.js";
import { h } from "../elements.js";
import { known } from "../known.js";
import { entry } from "../message.js";
import * as notices from "../notices.js";
import { person } from "../people.js";
import * as route from "../route.js";
import { Talk } from "../talk.js";
import * as words from "../words.js";

const KINDS = ["message", "broadcast", "task", "question", "answer", "status", "blocker", "system"];
const RECEIPTS = { queued: "not yet handed over", delivered: "handed over", acked: "read", parked: "given up", dead: "never to be read" };

let talk = new Talk();
let list = null;
let search = null; // {words, found}

export const tab = {
  name: "conversation",
  title: "Conversation",
  kinds: /^(message_posted|attempt_)/,
  begin(place) {
    talk = new Talk(talk.filter);
    list = listed();
    return place[0] ? jump(place) : talk.last().then(() => list.draw());
  },
  moved: (place) => (place[0] === "at" ? jump(place) : undefined),
  async load([id]) {
    if (!id?.startsWith("ms_")) return {};
    const [one, thread] = await Promise.all([api.get(`/api/messages/${id}`), api.get(`/api/threads/${id}`)]);
    return { ...one, thread: thread.messages };
  },
  draw(seen, context) {
    const side = seen.message ? details(seen) : search && results(context);
    return h(
      "div",
      { class: `with-side ${side ? "is-open" : ""}` },
      h("section", { class: "panel talk", "aria-label": "Conversation" }, bar(context), list.description(), composer()),
      side && h("aside", { class: "panel side-panel", "aria-label": seen.message ? "One message" : "What was found" }, side),
    );
  },
};

function listed() {
  return new ConversationList(talk, { reply, open: (one) => route.go("conversation", one.id) });
}

// To a message by its id or number.
async function jump([first, second]) {
  const seq = first === "at" ? Number(second) : (await api.get(`/api/messages/${first}`)).message.seq;
  await talk.around({ seq });
  list.reveal(seq);
}

function bar(context) {
  return h("div", { class: "bar" }, searching(context), sieve(context), day());
}

function searching(context) {
  const find = async (event) => {
    event.preventDefault();
    const wanted = event.target.querySelector("input").value.trim();
    search = wanted === "" ? null : { words: wanted, found: null };
    if (route.current().length > 1) route.go("conversation");
    context.redraw();
    if (search === null) return;
    try {
      const { found } = await api.get("/api/search", { words: wanted });
      if (search?.words === wanted) search = { words: wanted, found };
    } catch (error) {
      search = null;
      notices.failed(error);
    }
    context.redraw();
  };
  return h("form", { class: "search", role: "search", on: { submit: find } }, h("input", { type: "search", "aria-label": "Search messages and documents", placeholder: "Search" }));
}

function sieve(context) {
  const choose = (name) => async (event) => {
    talk = new Talk({ ...talk.filter, [name]: event.target.value || undefined });
    list = listed();
    await talk.last();
    context.redraw();
    list.draw();
  };
  const names = (known.overview.agents ?? []).map((one) => one.name);
  return [
    chooser("Kind", ["", ...KINDS], talk.filter.kinds, "Every kind", choose("kinds")),
    chooser("From", ["", ...names, "system"], talk.filter.from, "From everybody", choose("from")),
  ];
}

function chooser(label, values, chosen, none, change) {
  return h("select", { "aria-label": label, on: { change } }, values.map((one) => h("option", { key: one, value: one, selected: one === (chosen ?? "") }, one === "" ? none : words.plain(one))));
}

function day() {
  const go = async (event) => {
    if (!event.target.value) return;
    const at = new Date(`${event.target.value}T00:00`).toISOString();
    try {
      const first = await talk.around({ at });
      if (first === undefined) list.toLast();
      else list.reveal(first);
    } catch (error) {
      notices.failed(error);
    }
  };
  return h("label", { class: "jump" }, h("span", null, "Go to"), h("input", { type: "date", "aria-label": "Go to a day", on: { change: go } }));
}

function close() {
  search = null;
  route.go("conversation");
}

function head(title) {
  return h("header", { class: "head" }, h("h2", null, title), button("×", close, { look: "quiet small", label: "Close" }));
}

function details({ message, receipts, thread }) {
  const others = thread.filter((one) => one.id !== message.id);
  return [
    head("One message"),
    h("ol", { class: "messages is-still" }, entry(message)),
    h("p", { class: "hint" }, chip(words.plain(message.kind)), " ", time(message.timestamp, words.exact(message.timestamp)), message.task_id && [" · ", link("its task", route.address("tasks", message.task_id))]),
    h("h3", null, "Who has read it"),
    receipts.length === 0 ? h("p", { class: "hint" }, "It was sent to nobody in particular.") : h("ul", { class: "receipts" }, receipts.map(receipt)),
    h("h3", null, "Its thread"),
    others.length === 0
      ? h("p", { class: "hint" }, "Nobody has answered it.")
      : h("ol", { class: "messages is-still" }, thread.map((one) => entry(one, { told: { open: one.id === message.id ? null : (it) => route.go("conversation", it.id) } }))),
  ];
}

function receipt({ agent, state, delivered_at, acked_at }) {
  const when = acked_at ?? delivered_at;
  return h("li", { key: agent }, person(agent), h("span", { class: `receipt is-${state}` }, RECEIPTS[state] ?? state), when && time(when, words.clock(when)));
}

function results() {
  const { found } = search;
  return [
    head(found === null ? "Searching…" : `${words.counted(found.length, "place")} found`),
    found?.length === 0 && empty(`Nothing has the words “${search.words}”.`, "All of the words have to be in it."),
    h("ul", { class: "found" }, (found ?? []).map(result)),
  ];
}

function result(one) {
  const to = one.file ? route.address("documents", one.file) : route.address("conversation", "at", one.seq);
  const name = one.file ?? one.from;
  return h("li", { key: one.id ?? `${one.file} ${one.version}` }, link([h("span", { class: "between" }, h("strong", null, name), time(one.timestamp)), h("span", { class: "snippet" }, one.snippet)], to));
}
