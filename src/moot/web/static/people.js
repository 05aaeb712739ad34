// How somebody is shown: a round sign in a colour that stays theirs, and a name.

import { h } from "./elements.js";
import { known } from "./known.js";

const HUES = 10;

export function sign(name) {
  const letters = name === "system" ? "m" : [...name].slice(0, 2).join("");
  return h("span", { class: `sign hue-${name === "system" ? "none" : hue(name)}`, "aria-hidden": "true" }, letters);
}

export function person(name) {
  return h("span", { class: "person" }, sign(name), h("span", { class: "name" }, name));
}

// By the order in which they came, so that the first have each their own; of others by their name.
function hue(name) {
  const order = known.overview?.agents?.findIndex((one) => one.name === name) ?? -1;
  if (order !== -1) return order % HUES;
  let sum = 7;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)) % 65_521;
  return sum % HUES;
}
