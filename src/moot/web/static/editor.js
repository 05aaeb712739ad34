// Where a document is changed. It is saved only onto the version it began with; if somebody was faster, both are shown
// and the visitor decides. What was written is kept until it is saved or thrown away.

import * as api from "./api.js";
import { button } from "./controls.js";
import { diff } from "./diff.js";
import { sure } from "./dialogs.js";
import { h } from "./elements.js";
import { markdown } from "./markdown.js";
import * as notices from "./notices.js";

const drafts = new Map(); // file: {text, base, clash}

addEventListener("beforeunload", (event) => {
  if ([...drafts.values()].some((one) => one.isChanged)) event.preventDefault();
});

export function hasDraft(file) {
  return drafts.get(file)?.isChanged ?? false;
}

// `document`: as it is now. `done` is called when it is saved or thrown away.
export function editor(document, { done, redraw }) {
  if (!drafts.has(document.file)) drafts.set(document.file, begun(document));
  const draft = drafts.get(document.file);
  const isBehind = document.version > draft.base && !draft.clash;
  return h(
    "div",
    { class: "editor", key: `editor ${document.file}` },
    isBehind && h("div", { class: "lost", role: "status" }, `${document.author} has saved version ${document.version} meanwhile. Yours began with version ${draft.base}; saving shows you both.`),
    draft.clash && clash(document, draft, { done, redraw }),
    h("div", { class: "halves" },
      h("label", null, h("span", { class: "hint" }, draft.base === 0 ? "A new document" : `Your text, from version ${draft.base}`),
        h("textarea", { class: "mono", rows: 24, spellcheck: "false", value: draft.text, "aria-label": `Text of ${document.file}`, on: { input: (event) => typed(draft, event.target.value, redraw) } })),
      h("div", null, h("span", { class: "hint" }, "How it will look"), h("div", { class: "prose preview", tabindex: "0", role: "region", "aria-label": "How it will look" }, markdown(draft.text, { top: 3 })))),
    h("div", { class: "row" },
      button("Save", () => save(document.file, draft, { done, redraw }), { look: "primary" }),
      button("Throw away", () => forget(document.file, draft, done), { look: "quiet" })),
  );
}

function begun({ content, version }) {
  return { text: content, base: version, isChanged: false, clash: null };
}

function typed(draft, text, redraw) {
  draft.text = text;
  draft.isChanged = true;
  redraw();
}

async function save(file, draft, { done, redraw }) {
  try {
    const written = await api.post("/api/document", { file, content: draft.text, base: draft.base });
    drafts.delete(file);
    notices.done(written.changed ? `${file} is saved as version ${written.version}.` : `${file} was like this already.`);
    await done();
  } catch (error) {
    if (error.code !== "DOCUMENT_CHANGED") throw error;
    const { current } = error.more;
    const compared = current ? await api.get("/api/document/diff", { file, from: draft.base, to: current.version }) : null;
    draft.clash = { current, compared };
    redraw();
    document.querySelector("#clash").focus();
  }
}

async function forget(file, draft, done) {
  if (draft.isChanged && !(await sure("Throw your text away?", `What you have written in ${file} is not kept.`, "Throw away"))) return;
  drafts.delete(file);
  await done();
}

function clash(seen, draft, { done, redraw }) {
  const { current, compared } = draft.clash;
  const version = current?.version ?? seen.version;
  const theirs = () => {
    Object.assign(draft, begun(current));
    redraw();
  };
  const mine = async () => {
    Object.assign(draft, { base: version, clash: null });
    await save(seen.file, draft, { done, redraw });
  };
  const both = () => {
    Object.assign(draft, { base: version, clash: null });
    redraw();
    notices.done("Put what is missing into your text, then save.");
  };
  return h(
    "section",
    { class: "clash", "aria-labelledby": "clash" },
    h("h3", { id: "clash", tabindex: "-1" }, current ? `${current.author} was faster: it is version ${version} now` : "Somebody has deleted it meanwhile"),
    h("p", null, "Nothing was saved. This is what changed since you began; your text stands below, unchanged."),
    compared && diff(compared),
    h("div", { class: "row" },
      current && button("Take theirs", theirs),
      current && button("I put both together", both, { look: "primary" }),
      button("Save mine over it", mine, { look: "danger" })),
  );
}
