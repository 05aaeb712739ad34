// Asks the server: reads, and changes with the word that proves that this page asks for them.

let session = null;
let instance = null;

// What the server refuses, in its own words: a fact, and what helps.
export class Refused extends Error {
  constructor(status, { code, message, remedy, ...more }) {
    super(remedy ? `${message} ${remedy}` : message);
    this.status = status;
    this.code = code;
    this.fact = message;
    this.remedy = remedy;
    this.more = more;
  }
}

export async function begin(chosen) {
  session = await answered(fetch("/api/session"));
  instance = chosen ?? session.instance;
  return session;
}

export function get(path, query) {
  return answered(fetch(address(path, query)));
}

export function post(path, body = {}, query = undefined) {
  const headers = { "Content-Type": "application/json", "X-Moot-CSRF": session.csrf };
  return answered(fetch(address(path, query), { method: "POST", headers, body: JSON.stringify(body) }));
}

// A picture is read as a document of its own and taken over node by node: its text stays text.
export function picture(path, query) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", address(path, query));
    request.responseType = "document";
    request.overrideMimeType("image/svg+xml");
    request.onerror = () => reject(unreachable());
    request.onload = () => {
      const root = request.status === 200 ? request.responseXML?.documentElement : null;
      if (root?.tagName === "svg") resolve(document.importNode(root, true));
      else reject(new Refused(request.status, { code: "NO_PICTURE", message: "It could not be drawn.", remedy: "" }));
    };
    request.send();
  });
}

export function address(path, query = {}) {
  const given = { instance, ...query };
  const known = Object.entries(given).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return `${path}?${new URLSearchParams(known)}`;
}

async function answered(asked) {
  let response;
  try {
    response = await asked;
  } catch {
    throw unreachable();
  }
  const content = await response.json().catch(() => null);
  if (response.ok && content !== null) return content;
  const unread = { code: "NO_ANSWER", message: `The server answered with ${response.status}.`, remedy: "Try again." };
  throw new Refused(response.status, content?.error ?? unread);
}

function unreachable() {
  const message = "The server cannot be reached.";
  return new Refused(0, { code: "UNREACHABLE", message, remedy: "Nothing was changed. Is moot ui still running?" });
}
