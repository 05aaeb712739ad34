// The tabs: their names here, what they do in a module each, which is fetched when it is looked at for the first time.

import { tab as overview } from "./tabs/overview.js";

export const TABS = [
  overview,
  { name: "conversation", title: "Conversation", fetch: () => import("./tabs/conversation.js") },
  { name: "agents", title: "Agents", fetch: () => import("./tabs/agents.js") },
  { name: "documents", title: "Documents", fetch: () => import("./tabs/documents.js") },
  { name: "proposals", title: "Proposals", fetch: () => import("./tabs/proposals.js") },
  { name: "tasks", title: "Tasks", fetch: () => import("./tabs/tasks.js") },
  { name: "steps", title: "Steps", fetch: () => import("./tabs/steps.js") },
  { name: "timeline", title: "Timeline", fetch: () => import("./tabs/timeline.js") },
  { name: "cost", title: "Cost", fetch: () => import("./tabs/cost.js") },
];

// Makes a tab whole.
export async function fetched(tab) {
  if (tab.fetch) Object.assign(tab, (await tab.fetch()).tab, { fetch: null });
}

// All of them, when there is nothing else to do: who comes to one later finds it, also while the server is away.
export function fetchAll() {
  const later = globalThis.requestIdleCallback ?? ((work) => setTimeout(work, 1000));
  later(async () => {
    for (const tab of TABS) await fetched(tab).catch(() => {});
  });
}
