"""Pages of the documentation as files and programs: what stands in a block is what the reader would do with it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(\w*)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"(?:#|//|<!--) (\S+\.[a-z]+)(?: -->)?\n")


@dataclass(frozen=True, slots=True)
class Block:
    """One block of code; `name` is the file that it is, by what stands behind its language or in its first line."""

    page: str
    language: str
    text: str
    name: str | None


def blocks(page: str) -> Iterator[Block]:
    for language, name, text in _FENCE.findall((ROOT / page).read_text(encoding="utf-8")):
        named = _NAMED.match(text)
        yield Block(page, language, text, name or (named[1] if named else None))


def all_pages() -> list[str]:
    found = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    return sorted(str(one.relative_to(ROOT)) for one in found)
