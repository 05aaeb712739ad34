"""The files of the page, read as they lie there: no browser is needed for these."""

import re
from pathlib import Path

from moot.web import assets

FOLDER = Path(assets.__file__).parent / "static"
IMPORT = re.compile(r'(?:^(?:import|export) [^;]*?from |import\()"(\.[^"]+)"', re.MULTILINE)
PRELOADED = re.compile(r'<link rel="modulepreload" href="/static/([^"]+)">')
FOREIGN = re.compile(r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|DOMParser|new Function)\b")


def reached(path: Path, found: set[Path], *, is_lazy: bool) -> set[Path]:
    if path not in found:
        found.add(path)
        text = path.read_text()
        for match in IMPORT.finditer(text):
            if is_lazy or not match[0].startswith("import("):
                reached((path.parent / match[1]).resolve(), found, is_lazy=is_lazy)
    return found


def test_what_the_first_view_needs_is_asked_for_at_once() -> None:
    needed = reached(FOLDER / "main.js", set(), is_lazy=False) - {FOLDER / "main.js"}
    named = PRELOADED.findall((FOLDER / "index.html").read_text())
    assert sorted(named) == sorted(str(one.relative_to(FOLDER)) for one in needed)


def test_every_module_is_used() -> None:
    every = set(FOLDER.rglob("*.js"))
    used = reached(FOLDER / "main.js", set(), is_lazy=True) | reached(FOLDER / "login.js", set(), is_lazy=True)
    assert every == used


def test_no_module_makes_markup_or_code_from_text() -> None:
    for path in FOLDER.rglob("*.js"):
        assert not FOREIGN.search(path.read_text()), path


def test_nothing_is_fetched_from_elsewhere() -> None:
    for path in [*FOLDER.rglob("*.html"), *FOLDER.rglob("*.css"), *FOLDER.rglob("*.js")]:
        found = re.findall(r"(?:src|href|url|import|fetch)[=( ]+[\"']?(?:https?:)?//[^\s\"')]+", path.read_text())
        assert found == [], path
