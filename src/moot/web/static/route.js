// Where the visitor is: the part of the address behind the #, which names a tab and a place in it.

export function address(...parts) {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

export function current() {
  const parts = location.hash.replace(/^#\/?/, "").split("/").filter((one) => one !== "");
  return parts.map(decoded);
}

export function go(...parts) {
  location.hash = address(...parts);
}

// Without a new place to go back to.
export function replace(...parts) {
  history.replaceState(null, "", address(...parts));
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
