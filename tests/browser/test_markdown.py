"""The reader of Markdown, in the browser where it runs."""

import pytest
from playwright.async_api import Page

from tests.browser.theatre import Theatre

pytestmark = pytest.mark.browser

DRAW = """async ([text, options]) => {
  const { draw } = await import("/static/elements.js");
  const { markdown } = await import("/static/markdown.js");
  const place = document.createElement("div");
  draw(place, markdown(text, options));
  return place.innerHTML;
}"""
CASES = [
    ("# One\n\n### Three #", "<h2>One</h2><h4>Three</h4>"),
    ("a *b* **c** ~~d~~ _e_ `f`", "<p>a <em>b</em> <strong>c</strong> <s>d</s> <em>e</em> <code>f</code></p>"),
    ("one\ntwo\n\nthree  \nfour", "<p>one two</p><p>three<br>four</p>"),
    ("snake_case_name and 2*3*4 = 24", "<p>snake_case_name and 2<em>3</em>4 = 24</p>"),
    ("**open and *never closed", "<p>**open and *never closed</p>"),
    ("``a`b`` and `` ` ``", "<p><code>a`b</code> and <code>`</code></p>"),
    (r"\*not\* \`this\`", "<p>*not* `this`</p>"),
    ("- a\n- b\n  - c\n1. d", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul><ol><li>d</li></ol>"),
    ("> a\n> b\n\n---", "<blockquote><p>a b</p></blockquote><hr>"),
    ("```py\nx = '<b>'\n```", '<pre tabindex="0"><code data-language="py">x = \'&lt;b&gt;\'</code></pre>'),
    ("```\nnever closed", '<pre tabindex="0"><code>never closed</code></pre>'),
    ("<b>not markup</b> &amp; not this", "<p>&lt;b&gt;not markup&lt;/b&gt; &amp;amp; not this</p>"),
    ("[x](javascript:alert(1)) [y](data:text/html,z)", "<p>[x](javascript:alert(1)) [y](data:text/html,z)</p>"),
]


async def drawn(page: Page, text: str, **options: object) -> str:
    found: str = await page.evaluate(DRAW, [text, options])
    return found


async def test_markdown_becomes_what_it_means_and_anything_else_stays_text(theatre: Theatre) -> None:
    await theatre.say("ann", "hello")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        for text, meant in CASES:
            assert await drawn(visit.page, text, top=2) == meant, text


async def test_links_lead_only_to_the_web_and_leave_nothing_behind(theatre: Theatre) -> None:
    await theatre.say("ann", "hello")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        found = await drawn(visit.page, "see [it](https://example.org/a?b=c) or http://example.org/d.")
    more = 'rel="noopener noreferrer nofollow" target="_blank"'
    assert found == (
        f'<p>see <a href="https://example.org/a?b=c" {more}>it</a> or '
        f'<a href="http://example.org/d" {more}>http://example.org/d</a>.</p>'
    )


async def test_tables_checkboxes_and_mentions_are_shown_as_such(theatre: Theatre) -> None:
    await theatre.say("ann", "hello")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        table = await drawn(visit.page, "| a | b |\n|---|:-:|\n| 1 | `x\\|y` |\n| 2 |")
        boxes = await drawn(visit.page, "- [x] done\n- [ ] not")
        names = await drawn(visit.page, "@ann, @nobody and me@ann.org", mentions=["ann"])
    assert "<tr><td>1</td><td><code>x|y</code></td></tr><tr><td>2</td><td></td></tr>" in table
    assert boxes.count('aria-label="done"') == boxes.count('aria-label="not done"') == 1
    assert names == '<p><span class="mention">@ann</span>, @nobody and me@ann.org</p>'


async def test_no_text_takes_long(theatre: Theatre) -> None:
    """Whatever would have to be tried in many ways is not tried in many ways: these end, or the test's time does."""
    await theatre.say("ann", "hello")
    nasty = ["*a " * 6000, "`" * 19_000, "`a``b" * 4000, "[" * 19_000, "[a](" * 4000, "> " * 5000, "- " * 5000]
    nasty += ["|-" * 9000 + "\n" + "|-" * 9000, "_a*" * 6000, "#" * 10_000, "https://" * 2000, "@a." * 6000]
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        for text in nasty:
            assert await drawn(visit.page, text)
