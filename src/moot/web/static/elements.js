// Descriptions of what is shown, and a place of the document made to look like them. What stays keeps its node, and
// with it focus, selection and scrolling. Text becomes text nodes and nothing else: data is never read as markup.

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = new Set(["value", "checked", "selected"]);
const looks = new WeakMap(); // node: the description that it looks like
const inside = new WeakMap(); // parent: its nodes that were drawn, in order
const ends = new WeakMap(); // node: what is called when it goes

// `key` tells it from others of its kind, `on` has what is called by the name of the event, `style` custom properties.
// `own` is called once with the element, and what is in the element is then its own affair; `changed` is called when it
// is drawn again, and what `own` returned when it goes.
export function h(tag, given, ...children) {
  const { key, on, style, own, changed, ...attributes } = given ?? {};
  return { tag, key, on: on ?? {}, style: style ?? {}, own, changed, attributes, children: shown(children) };
}

export function draw(parent, ...wanted) {
  const before = inside.get(parent);
  if (before === undefined) parent.replaceChildren();
  const free = new Map();
  for (const node of before ?? []) {
    const name = nameOf(looks.get(node));
    if (!free.has(name)) free.set(name, []);
    free.get(name).push(node);
  }
  const pairs = shown(wanted).map((one) => [one, free.get(nameOf(one))?.shift()]);
  for (const nodes of free.values()) nodes.forEach(remove);
  let next = parent.firstChild;
  const nodes = pairs.map(([description, found]) => {
    const node = found ?? made(description, parent);
    if (node === next) next = next.nextSibling;
    else parent.insertBefore(node, next);
    if (found) change(node, description);
    return node;
  });
  inside.set(parent, nodes);
}

function shown(children) {
  return children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false && one !== "");
}

function nameOf(description) {
  return typeof description === "object" ? `${description.tag} ${description.key ?? ""}` : "#";
}

function made(description, parent) {
  if (typeof description !== "object") {
    const text = document.createTextNode(String(description));
    looks.set(text, description);
    return text;
  }
  const isDrawing = description.tag === "svg" || (parent.namespaceURI === SVG && parent.tagName !== "foreignObject");
  const node = isDrawing ? document.createElementNS(SVG, description.tag) : document.createElement(description.tag);
  dress(node, description, { on: {}, style: {}, attributes: {} });
  looks.set(node, description);
  if (description.own) ends.set(node, description.own(node));
  else draw(node, description.children);
  return node;
}

function change(node, description) {
  const before = looks.get(node);
  if (before === description) return;
  looks.set(node, description);
  if (typeof description !== "object") {
    if (before !== description) node.data = String(description);
    return;
  }
  dress(node, description, before);
  if (description.own) description.changed?.(node);
  else draw(node, description.children);
}

function dress(node, description, before) {
  for (const type of Object.keys(description.on)) {
    if (!(type in before.on)) node.addEventListener(type, dispatch);
  }
  for (const [name, value] of Object.entries(description.style)) {
    if (before.style[name] !== value) node.style.setProperty(name, value);
  }
  const names = new Set([...Object.keys(before.attributes), ...Object.keys(description.attributes)]);
  for (const name of names) dressIn(node, name, description.attributes[name], before.attributes[name]);
}

function dressIn(node, name, value, before) {
  if (value === before) return;
  if (PROPERTIES.has(name)) node[name] = value ?? "";
  else if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else node.setAttribute(name, value === true ? "" : value);
}

// Whoever listens is looked up when it happens, so that a node that stays always calls what it was drawn with last.
function dispatch(event) {
  const description = looks.get(event.currentTarget);
  description.on[event.type]?.(event);
}

function remove(node) {
  for (const one of [node, ...(node.querySelectorAll?.("*") ?? [])]) ends.get(one)?.();
  node.remove();
}
