// Asks who visits and for the first view, while the rest of the page is still on its way.

import * as api from "./api.js";

export const chosen = new URLSearchParams(location.search).get("instance");
export const arrival = Promise.all([api.begin(chosen), api.get("/api/overview", { instance: chosen })]);
arrival.catch(() => {}); // who waits for it tells of it
