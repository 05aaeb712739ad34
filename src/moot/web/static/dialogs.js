// Asks the visitor before something that is not easily taken back, or for some words.

import { draw, h } from "./elements.js";

export async function sure(title, about, verb) {
  return (await answer({ title, about, verb })) !== null;
}

// Whether to stop: null, or whether it has to be at once.
export async function stopping(title, about) {
  const hurry = h("label", { class: "check" }, h("input", { type: "checkbox" }), "At once: what is being done is cut off");
  const given = await answer({ title, about, verb: "Stop", inside: hurry });
  return given && { now: given.checked };
}

// What was written; null, if it was thought better of. `lines`: how much room there is for it.
export async function words(title, about, verb, { label, lines }) {
  const given = await answer({ title, about, verb, inside: field(label, lines), look: "primary" });
  return given && given.value.trim();
}

// What stood in the field; null, if it was cancelled.
function answer({ title, about, verb, inside = null, look = "danger" }) {
  const dialog = document.querySelector("#ask");
  const button = (text, look, value) => h("button", { type: "button", class: `button ${look}`, on: { click: () => dialog.close(value) } }, text);
  const row = h("div", { class: "row" }, button("Cancel", "", ""), button(verb, look, "yes"));
  draw(dialog.querySelector(".inner"), h("h2", { id: "ask-title" }, title), h("p", null, about), inside, row);
  dialog.returnValue = "";
  dialog.showModal();
  const given = dialog.querySelector("textarea, input");
  given?.focus();
  return new Promise((resolve) => {
    const closed = () => {
      const { value = "", checked = false } = given ?? {};
      draw(dialog.querySelector(".inner"));
      resolve(dialog.returnValue === "yes" ? { value, checked } : null);
    };
    dialog.addEventListener("close", closed, { once: true });
  });
}

function field(label, lines) {
  const enter = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    event.target.closest("dialog").close("yes");
  };
  const given = { "aria-label": label, placeholder: label, on: { keydown: enter } };
  return lines > 1 ? h("textarea", { rows: lines, ...given }) : h("input", { type: "text", ...given });
}
