// One message as it stands in a conversation.

import { button, chip, time } from "./controls.js";
import { h } from "./elements.js";
import { known } from "./known.js";
import { markdown } from "./markdown.js";
import { sign } from "./people.js";
import * as route from "./route.js";
import * as words from "./words.js";

const LONG = 4000; // characters that are shown at first
const TOGETHER = 5 * 60_000;
const TABS = { TASK: "tasks", PROPOSAL: "proposals", VOTE: "proposals", RESOLVED: "proposals" };
const TAG = /^\[(TASK|PROPOSAL|VOTE|REQUEST|QUESTION|RESOLVED|APPROVED|DENIED|ANSWERED):([\w-]{1,64})\] ?/;

const rendered = new WeakMap(); // message: what it says, as elements

export function isContinued(message, before) {
  if (!before || before.from !== message.from || before.kind !== message.kind || message.reply_to) return false;
  const apart = Date.parse(message.timestamp) - Date.parse(before.timestamp);
  return apart < TOGETHER && words.dayKey(message.timestamp) === words.dayKey(before.timestamp);
}

// `told`: what can be done with it, by name: reply, open.
export function entry(message, { isContinuation = false, answered = null, told = {} } = {}) {
  const isMine = message.from === known.me;
  const look = ["message", isContinuation && "is-continued", isMine && "is-mine", message.from === "system" && "is-system"];
  return h(
    "li",
    { key: message.id, id: `m-${message.id}`, class: look.filter(Boolean).join(" "), tabindex: "-1", "data-seq": message.seq },
    h("div", { class: "gutter" }, isContinuation ? null : sign(message.from)),
    h("div", { class: "content" }, head(message, isContinuation), answered && quoted(answered), body(message), tools(message, told)),
  );
}

function head(message, isContinuation) {
  const kind = message.kind === "message" ? null : chip(words.plain(message.kind), `kind-${message.kind}`);
  const high = message.priority === "high" ? chip("high", "is-high") : null;
  const look = isContinuation ? "by visually-hidden" : "by";
  return h("p", { class: look }, h("span", { class: "name" }, message.from), kind, high, time(message.timestamp, words.clock(message.timestamp)));
}

function quoted(message) {
  const line = message.message.replace(TAG, "").slice(0, 300).replaceAll(/\s+/g, " ").slice(0, 120);
  return h("p", { class: "answered" }, h("span", { class: "visually-hidden" }, "In answer to "), h("span", { class: "name" }, message.from), " ", line);
}

export function body(message) {
  if (!rendered.has(message)) rendered.set(message, prose(message));
  return rendered.get(message);
}

// What somebody said, whether it is all of a message or its beginning.
export function prose(message) {
  const [tag, said] = tagged(message);
  const isLong = said.length > LONG;
  const text = isLong ? `${said.slice(0, LONG)}…` : said;
  const short = h("div", { class: "prose" }, tag, markdown(text, { mentions: message.mentions, breaks: true }));
  if (!isLong) return short;
  const rest = h("pre", { tabindex: "0" }, message.message);
  return h("div", null, short, h("details", null, h("summary", null, `All ${words.counted(message.message.length, "character")}, as they are`), rest));
}

// moot's own messages begin with what they are about: that becomes a link. Who imitates it makes a link, too.
function tagged({ message: text, kind: sort }) {
  const found = text.match(TAG);
  if (!found) return [null, text];
  const [whole, kind, id] = found;
  const said = text.slice(whole.length);
  const name = words.sentence(kind.toLowerCase());
  const tab = TABS[kind];
  if (!tab && sort !== "message") return [null, said]; // its kind is shown beside the name
  const tag = tab ? h("a", { class: "chip", href: route.address(tab, id) }, name) : h("span", { class: "chip", title: id }, name);
  return [h("span", { class: "tag" }, tag), said];
}

function tools(message, { reply, open }) {
  if (!reply && !open) return null;
  return h(
    "div",
    { class: "tools" },
    reply && known.mayChange && button("Reply", () => reply(message), { look: "quiet small", label: `Reply to ${message.from}` }),
    open && button("Details", () => open(message), { look: "quiet small", label: `Details: ${message.from}, ${words.clock(message.timestamp)}` }),
  );
}
