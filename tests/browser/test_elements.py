"""What is drawn again keeps its nodes, and with them focus, what was typed, and what listens."""

import pytest

from tests.browser.theatre import Theatre

pytestmark = pytest.mark.browser

DRAWN = """async (script) => {
  const elements = await import("/static/elements.js");
  const place = document.createElement("div");
  document.body.append(place);
  const run = { ...elements, place };
  const results = [];
  const steps = {
    reorder({ h, draw, place }) {
      const list = (keys) => draw(place, keys.map((key) => h("input", { key, id: `i${key}` })));
      list(["a", "b", "c"]);
      const [, b] = place.children;
      b.value = "typed";
      b.focus();
      list(["b", "c", "d"]);
      return [[...place.children].map((one) => one.id), place.firstChild === b, document.activeElement === b, b.value];
    },
    listeners({ h, draw, place }) {
      const heard = [];
      const button = (name) => draw(place, h("button", { on: { click: () => heard.push(name) } }, name));
      button("first");
      const node = place.firstChild;
      button("second");
      node.click();
      return [heard, node === place.firstChild, node.textContent];
    },
    attributes({ h, draw, place }) {
      draw(place, h("p", { class: "a", title: "t", hidden: true, "data-x": 0 }, "x", null, false, 0));
      const before = place.innerHTML;
      draw(place, h("p", { class: "b", hidden: false }));
      return [before, place.innerHTML];
    },
    owned({ h, draw, place }) {
      const calls = [];
      const own = () => { calls.push("begun"); return () => calls.push("ended"); };
      const description = () => h("section", null, h("div", { own, changed: () => calls.push("changed") }));
      draw(place, description());
      draw(place, description());
      draw(place);
      return calls;
    },
    same({ h, draw, place }) {
      const kept = h("p", null, "kept");
      draw(place, kept);
      place.firstChild.textContent = "touched by hand";
      draw(place, kept);
      return place.textContent;
    },
  };
  return steps[script](run);
}"""
CASES = [
    ("reorder", [["ib", "ic", "id"], True, True, "typed"]),
    ("listeners", [["second"], True, "second"]),
    ("attributes", ['<p class="a" title="t" hidden="" data-x="0">x0</p>', '<p class="b"></p>']),
    ("owned", ["begun", "changed", "ended"]),
    ("same", "touched by hand"),
]


async def test_what_stays_keeps_its_node_and_what_changes_changes(theatre: Theatre) -> None:
    await theatre.say("ann", "hello")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        for script, meant in CASES:
            assert await visit.page.evaluate(DRAWN, script) == meant, script
