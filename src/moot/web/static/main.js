// Puts the page together: comes in, looks, follows what happens, and shows it.

import * as api from "./api.js";
import { arrival, chosen } from "./arrival.js";
import * as composer from "./composer.js";
import { Frame } from "./frame.js";
import { Keys } from "./keys.js";
import { change, hear, known, spread } from "./known.js";
import { Look } from "./look.js";
import * as notices from "./notices.js";
import * as route from "./route.js";
import { Stream } from "./stream.js";
import { TABS, fetchAll } from "./tabs.js";

const NEWS = /^(?!document_|checkpoint_)/; // after which the overview may be another
const NOW_AND_THEN = 30_000; // leases and heartbeats tell nothing
const LATE = 5000; // how long an event may be known of and not be heard

async function begin() {
  const [session, first] = await arrival;
  change({ session, instance: chosen ?? session.instance });
  saw(first);

  const stream = new Stream(first.cursor, {
    heard: spread,
    begun: () => look.now(),
    reset: () => location.reload(),
    connection: (connection) => change({ connection }),
  });
  const look = new Look(() => api.get("/api/overview", { limit: 1 }), {
    seen: (found) => {
      const hasBegun = found.exists && !known.overview.exists;
      saw(found);
      if (hasBegun) frame.renew();
      catchUp(stream, found.cursor);
    },
    failed: (error) => error.status === 0 || notices.failed(error),
  });
  change({ again: () => look.now() });
  const frame = new Frame(TABS, { help: () => keys.help(), leave });
  const keys = new Keys(shortcuts(frame, () => keys.help()));
  hear((event) => NEWS.test(event.kind) && look.soon());
  hear((event) => event.kind.startsWith("agent_") && composer.forgetPeople());
  document.addEventListener("visibilitychange", () => look.soon());
  setInterval(() => look.soon(), NOW_AND_THEN);

  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.querySelector("#main").focus();
  });
  stream.open();
  frame.begin();
  keys.begin();
  document.querySelector("#page").removeAttribute("aria-busy");
  api.get("/api/instances").then(({ instances }) => change({ instances }), notices.failed);
  fetchAll();
}

function saw(overview) {
  const before = known.overview;
  const skew = overview.now ? Date.parse(overview.now) - Date.now() : 0;
  change({ overview, skew });
  tellNeeds(before?.needs, overview.needs);
}

// Whoever does not look at the page hears that it needs them.
function tellNeeds(before, needs) {
  const old = new Set([...(before?.requests ?? []), ...(before?.votes ?? [])].map((one) => one.id));
  for (const one of [...needs.requests, ...needs.votes]) {
    if (before && !old.has(one.id)) notices.announce(`Needs you: ${one.from}, ${one.title}`);
  }
}

// A connection can be dead without anybody telling, as after a machine has slept.
function catchUp(stream, cursor) {
  const seen = Number((cursor ?? "").split(":").at(-1)) || 0;
  if (seen <= stream.seq) return;
  setTimeout(() => seen > stream.seq && known.connection === "open" && stream.open(), LATE);
}

function shortcuts(frame, help) {
  const tabs = TABS.map((tab, index) => [String(index + 1), tab.title, () => (index === 0 ? route.go() : route.go(tab.name))]);
  return [
    ["?", "Show these keys", help],
    ...tabs,
    ["n", "What needs you", () => (document.querySelector(".need button, .need input, .need textarea") ?? document.querySelector("#needs-you"))?.focus()],
    ["c", "Write a message", () => composer.focus()],
    ["/", "Search", () => document.querySelector("[type=search]")?.focus()],
    ["j", "Next message, in the conversation", () => document.querySelector(".scroller")?.focus()],
    ["k", "Message before, in the conversation", () => document.querySelector(".scroller")?.focus()],
    ["r", "Look again", () => frame.look()],
  ];
}

async function leave() {
  await api.post("/api/logout");
  location.assign("/login");
}

begin().catch((error) => {
  const page = document.querySelector("#page");
  page.removeAttribute("aria-busy");
  const told = document.createElement("p");
  told.className = "welcome";
  told.textContent = error.message;
  page.replaceChildren(told);
});
