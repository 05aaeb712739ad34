// A line of Markdown as descriptions of elements: code, emphasis, links, mentions. Markup that it does not know, HTML
// too, stays the text that it is. In one pass from left to right, whatever the text.

import { h } from "./elements.js";

const LONGEST = 20_000; // what is longer is shown as it is
const PARTS = [
  /\\([!-/:-@[-`{-~])/, // what is meant as it is
  /(`+)/,
  /!?\[([^\][\n]{0,1000})\]\(([^()\s]{1,2000})\)/, // a link
  /(https?:\/\/[^\s<>()`"]{1,2000})/,
  /(\*\*|__|~~|\*|_)/,
  /(@[\p{L}\p{N}][\p{L}\p{N}_.-]{0,63})/u,
  /( *\\?\n)/,
];
const TOKENS = new RegExp(PARTS.map((one) => one.source).join("|"), "gu");
const TAGS = { "**": "strong", __: "strong", "*": "em", _: "em", "~~": "s" };
const SAFE = /^(https?:|mailto:)/i;
const WORD = /[\p{L}\p{N}]/u;

// `mentions` are the names that are shown as such; `breaks`: whether every line begins anew.
export function inline(text, { mentions = [], breaks = false } = {}) {
  if (text.length > LONGEST) return [text];
  const known = new Set(mentions.map((one) => one.toLowerCase()));
  const open = [{ mark: "", parts: [] }];
  const add = (part) => open.at(-1).parts.push(part);
  let last = 0;
  for (const token of text.matchAll(TOKENS)) {
    if (token.index < last) continue; // within code
    add(text.slice(last, token.index));
    last = token.index + token[0].length;
    const [, escaped, ticks, label, target, bare, mark, name, end] = token;
    if (escaped !== undefined) add(escaped);
    else if (ticks !== undefined) last = addCode(text, token.index, ticks, add);
    else if (label !== undefined) add(link(target, label, token[0]));
    else if (bare !== undefined) last = token.index + addBare(bare, add);
    else if (mark !== undefined) addMark(text, token.index, mark, open);
    else if (name !== undefined) add(mention(text, token.index, name, known));
    else add(breaks || end.length > 2 || end.startsWith("\\") ? h("br") : " ");
  }
  add(text.slice(last));
  while (open.length > 1) unfold(open);
  return open[0].parts;
}

// Returns where the text goes on.
function addCode(text, start, ticks, add) {
  let end = start + ticks.length;
  do {
    end = text.indexOf(ticks, end);
    if (end === -1) {
      add(ticks);
      return start + ticks.length;
    }
    const after = runEnd(text, end);
    if (after - end === ticks.length) {
      const code = text.slice(start + ticks.length, end).replaceAll("\n", " ");
      add(h("code", null, /^ .*\S.* $/.test(code) ? code.slice(1, -1) : code));
      return after;
    }
    end = after;
  } while (true);
}

function runEnd(text, start) {
  let end = start;
  while (text[end] === "`") end += 1;
  return end;
}

// What follows a sentence is not part of an address.
function addBare(address, add) {
  const trimmed = address.replace(/[.,;:!?'*_~]+$/, "");
  add(link(trimmed, trimmed, trimmed));
  return trimmed.length;
}

function link(target, label, whole) {
  if (!SAFE.test(target)) return whole;
  return h("a", { href: target, rel: "noopener noreferrer nofollow", target: "_blank" }, label || target);
}

function addMark(text, start, mark, open) {
  const before = text[start - 1] ?? " ";
  const after = text[start + mark.length] ?? " ";
  const isInWord = mark.startsWith("_") && WORD.test(before) && WORD.test(after);
  const depth = open.findLastIndex((one) => one.mark === mark);
  if (depth > 0 && !/\s/.test(before) && !isInWord) {
    while (open.length > depth + 1) unfold(open);
    const { parts } = open.pop();
    open.at(-1).parts.push(h(TAGS[mark], null, parts));
  } else if (!/\s/.test(after) && !isInWord && open.length < 20) {
    open.push({ mark, parts: [] });
  } else {
    open.at(-1).parts.push(mark);
  }
}

// What was never closed is text.
function unfold(open) {
  const { mark, parts } = open.pop();
  open.at(-1).parts.push(mark, ...parts);
}

function mention(text, start, name, known) {
  const isOfWord = start > 0 && WORD.test(text[start - 1]);
  const called = name.slice(1).replace(/[.-]+$/, "");
  if (isOfWord || !(known.has(called.toLowerCase()) || called === "all")) return name;
  return [h("span", { class: "mention" }, `@${called}`), name.slice(1 + called.length)];
}
