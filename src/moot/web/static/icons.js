// The signs of the tabs: strokes on a field of 20 by 20.

import { h } from "./elements.js";

const PATHS = {
  overview: "M3 11 10 4l7 7M5 9.5V16h10V9.5",
  conversation: "M4 4.5h12v8.5H9l-3.5 3v-3H4z",
  agents: "M10 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6M4 16.5c.6-3.2 3-5 6-5s5.4 1.8 6 5",
  documents: "M5.5 3h6L15 6.5V17H5.5zM11 3v4h4M8 10.5h4.5M8 13.5h4.5",
  proposals: "M3.5 11v5.5h13V11M7 8.5l2.5 2.5L15 5",
  tasks: "M4 5h3v3H4zM4 12h3v3H4zM10 6.5h6.5M10 13.5h6.5",
  steps: "M5.5 7.5v5M7 6h4a3 3 0 0 1 3 3v3.5M5.5 7.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4M5.5 16.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4M14 16.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4",
  timeline: "M3 5h7M7 10h9M5 15h6",
  cost: "M4 16V9.5M8 16V5M12 16v-4.5M16 16V7.5",
};

export function icon(name) {
  return h("svg", { class: "icon", viewBox: "0 0 20 20", "aria-hidden": "true", focusable: "false" }, h("path", { d: PATHS[name] }));
}
