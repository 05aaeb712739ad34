// Markdown as descriptions of elements: paragraphs, headings, lists, tables, code, quotes. It makes no markup from
// text, so whatever stands in a document is shown and never run.

import { h } from "./elements.js";
import { inline } from "./inline.js";

const DEEPEST = 10;
const FENCE = /^ {0,3}(```+|~~~+)\s*([\w+#.-]*)/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$/;
const RULE = /^ {0,3}([-*_])([ \t]*\1){2,}[ \t]*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+|$)/;
const TABLE_RULE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const CHECK = /^\[([ xX])\][ \t]+/;

// `top`: the level of its first headings; 0 shows headings as strong lines. `breaks`: whether every line begins anew.
export function markdown(text, options = {}) {
  return blocks(text.replaceAll("\r\n", "\n").split("\n"), { top: 0, breaks: false, depth: 0, ...options });
}

function blocks(lines, options) {
  const found = [];
  let at = 0;
  while (at < lines.length) {
    if (lines[at].trim() === "") {
      at += 1;
      continue;
    }
    const [block, next] = readBlock(lines, at, options);
    found.push(block);
    at = next;
  }
  return found;
}

function readBlock(lines, at, options) {
  const line = lines[at];
  if (FENCE.test(line)) return fenced(lines, at);
  if (HEADING.test(line)) return [heading(line, options), at + 1];
  if (RULE.test(line)) return [h("hr"), at + 1];
  if (options.depth < DEEPEST && QUOTE.test(line)) return quote(lines, at, options);
  if (options.depth < DEEPEST && ITEM.test(line)) return list(lines, at, options);
  if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "")) return table(lines, at, options);
  return paragraph(lines, at, options);
}

function fenced(lines, at) {
  const [, fence, language] = lines[at].match(FENCE);
  let end = at + 1;
  while (end < lines.length && !lines[end].trimStart().startsWith(fence)) end += 1;
  const code = h("code", language ? { "data-language": language } : null, lines.slice(at + 1, end).join("\n"));
  return [h("pre", { tabindex: "0" }, code), end + 1];
}

function heading(line, options) {
  const [, marks, words] = line.match(HEADING);
  if (options.top === 0) return h("p", { class: "heading" }, h("strong", null, inline(words, options)));
  return h(`h${Math.min(6, options.top + marks.length - 1)}`, null, inline(words, options));
}

function quote(lines, at, options) {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end])) end += 1;
  const inner = lines.slice(at, end).map((one) => one.replace(QUOTE, ""));
  return [h("blockquote", null, blocks(inner, { ...options, depth: options.depth + 1 })), end];
}

function list(lines, at, options) {
  const isOrdered = /\d/.test(lines[at].match(ITEM)[2]);
  const items = [];
  let end = at;
  while (end < lines.length) {
    const begun = lines[end].match(ITEM);
    if (!begun || /\d/.test(begun[2]) !== isOrdered || RULE.test(lines[end])) break;
    const [inner, next] = itemLines(lines, end, begun[0].length);
    items.push(item(inner, options));
    end = next;
  }
  return [h(isOrdered ? "ol" : "ul", null, items), end];
}

// What is indented under an item belongs to it, and lines that simply go on.
function itemLines(lines, at, indent) {
  const inner = [lines[at].slice(indent)];
  let end = at + 1;
  while (end < lines.length) {
    const line = lines[end];
    const depth = line.length - line.trimStart().length;
    const isBlank = line.trim() === "";
    const goesOn = isBlank ? /^\s{2,}\S/.test(lines[end + 1] ?? "") : depth >= 2 || isLazy(lines, end);
    if (!goesOn) break;
    inner.push(line.slice(Math.min(depth, indent)));
    end += 1;
  }
  while (end < lines.length && lines[end].trim() === "" && ITEM.test(lines[end + 1] ?? "")) end += 1;
  return [inner, end];
}

function isLazy(lines, at) {
  const isBlock = [FENCE, HEADING, RULE, QUOTE, ITEM].some((one) => one.test(lines[at]));
  return !isBlock && lines[at - 1].trim() !== "";
}

function item(lines, options) {
  const check = lines[0].match(CHECK);
  const inner = check ? [lines[0].slice(check[0].length), ...lines.slice(1)] : lines;
  const found = blocks(inner, { ...options, depth: options.depth + 1 });
  const isTight = found.length > 0 && found[0].tag === "p" && !found[0].attributes.class;
  const parts = isTight ? [found[0].children, found.slice(1)] : found;
  if (!check) return h("li", null, parts);
  const state = check[1] === " " ? "not done" : "done";
  const box = h("span", { class: `checkbox ${check[1] === " " ? "" : "is-done"}`, role: "img", "aria-label": state });
  return h("li", { class: "has-checkbox" }, box, parts);
}

function table(lines, at, options) {
  let end = at + 2;
  while (end < lines.length && lines[end].includes("|") && lines[end].trim() !== "") end += 1;
  const head = cells(lines[at]);
  const rows = lines.slice(at + 2, end).map(cells);
  const columns = head.map((_, index) => index);
  const made = h(
    "table",
    null,
    h("thead", null, h("tr", null, head.map((one) => h("th", { scope: "col" }, inline(one, options))))),
    h("tbody", null, rows.map((row) => h("tr", null, columns.map((i) => h("td", null, inline(row[i] ?? "", options)))))),
  );
  return [h("div", { class: "table", tabindex: "0" }, made), end];
}

function cells(line) {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map((one) => one.trim().replaceAll("\\|", "|"));
}

function paragraph(lines, at, options) {
  let end = at + 1;
  while (end < lines.length && lines[end].trim() !== "" && isLazy(lines, end)) end += 1;
  const words = lines.slice(at, end).map((one) => one.trimStart()).join("\n").trimEnd();
  return [h("p", null, inline(words, options)), end];
}
