// Documents: what they say, what they said before, who changed what, and changing them.

import * as api from "../api.js";
import { button, chip, command, empty, link, section, time } from "../controls.js";
import { diff } from "../diff.js";
import { words as asked } from "../dialogs.js";
import { editor, hasDraft } from "../editor.js";
import { h } from "../elements.js";
import { known } from "../known.js";
import { markdown } from "../markdown.js";
import * as route from "../route.js";
import * as words from "../words.js";

const LONG = 300_000; // characters that are shown as they are

export const tab = {
  name: "documents",
  title: "Documents",
  kinds: /^document_/,
  async load(place) {
    const [shelf, opened] = await Promise.all([api.get("/api/documents"), open(place)]);
    return { shelf, ...opened };
  },
  head: ({ again }) => known.mayChange && button("New document", () => create(again)),
  draw({ shelf, document, versions, compared }, context) {
    const [file, mode, version] = context.place;
    if (shelf.documents.length === 0 && !document) {
      return section("Documents", { class: "panel" }, empty("There are no documents yet.", "Agents keep what they agree on in documents, with every version.", ["Write one yourself: ", command("moot doc edit notes.md")]));
    }
    const isOpen = document && (file === undefined || document.file === file);
    return h(
      "div",
      { class: "shelf-and-document" },
      h("nav", { class: "panel shelf", "aria-label": "Documents" }, h("ul", null, shelf.documents.map((one) => listed(one, document, shelf.owner)))),
      isOpen && h("article", { class: "panel document", "aria-labelledby": "document" }, head(document, mode), inside({ document, versions, compared, mode, version }, context)),
    );
  },
};

async function open([file, mode, version]) {
  const document = await read(file, mode);
  if (document === null || mode !== "history") return { document };
  const { versions } = await api.get("/api/document/history", { file: document.file });
  const shown = Number(version) || versions[0]?.version;
  const compared = shown ? await api.get("/api/document/diff", { file: document.file, from: shown - 1, to: shown }) : null;
  return { document, versions, compared };
}

// The one that is named, else the one that is read first. One that is not there, or not any more, can be begun, and
// has perhaps a history.
async function read(file, mode) {
  const isWanted = mode === "edit" || mode === "history";
  try {
    const found = await api.get("/api/document", { file });
    return found.version > 0 || isWanted ? found : null;
  } catch (error) {
    if (error.status !== 404 || !isWanted) throw error;
    return { file, version: 0, content: "", author: "", timestamp: null };
  }
}

async function create(again) {
  const file = await asked("New document", "Its name may have folders in it, as in plans/login.md.", "Write it", { label: "Name", lines: 1 });
  if (!file) return;
  route.go("documents", file, "edit");
  await again();
}

function listed(one, document, owner) {
  const isHere = one.file === document?.file;
  return h("li", { key: one.file }, h("a", { href: route.address("documents", one.file), "aria-current": isHere ? "page" : null },
    h("span", { class: "name" }, one.file, one.entry_point && " ", one.entry_point && chip("first read")),
    h("span", { class: "hint" }, `v${one.version} · ${one.author} · `, time(one.timestamp)),
    hasDraft(one.file) && chip("not saved", "is-high")), isHere && owner && h("p", { class: "hint" }, `Only ${owner} may write.`));
}

function head(document, mode) {
  const here = (name) => ((mode ?? "read") === name ? "page" : null);
  const to = (name, ...more) => link(words.sentence(name), route.address("documents", document.file, ...more), { "aria-current": here(name) });
  return h(
    "header",
    { class: "head" },
    h("h2", { id: "document", tabindex: "-1" }, document.file),
    h("span", { class: "tabs" }, to("read"), to("history", "history"), known.mayChange && to("edit", "edit")),
  );
}

function inside({ document, versions, compared, mode, version }, { again, redraw }) {
  if (mode === "edit" && known.mayChange) {
    const done = async () => {
      route.go("documents", document.file);
      await again();
    };
    return editor(document, { done, redraw });
  }
  if (mode === "history") return history(document, versions, compared, Number(version) || versions?.[0]?.version);
  return [
    h("p", { class: "hint" }, `Version ${document.version}, by ${document.author}, `, document.timestamp && time(document.timestamp)),
    document.content.trim() === "" ? h("p", { class: "calm" }, "There is nothing in it yet.") : document.content.length > LONG ? h("pre", { tabindex: "0" }, document.content) : h("div", { class: "prose" }, markdown(document.content, { top: 3 })),
  ];
}

function history(document, versions, compared, shown) {
  if (!versions) return null;
  return h(
    "div",
    { class: "history" },
    h("ol", { "aria-label": "Versions" }, versions.map((one) => h("li", { key: one.version }, h("a", { href: route.address("documents", document.file, "history", one.version), "aria-current": one.version === shown ? "true" : null },
      h("strong", null, `v${one.version}`), ` ${words.plain(one.action)}`, h("span", { class: "hint" }, `${one.author} · `, time(one.timestamp), ` · ${words.bytes(one.size)}`))))),
    h("section", { "aria-label": `What changed with version ${shown}` }, h("h3", null, `What changed with version ${shown}`), compared && diff(compared)),
  );
}
