"""The program of a search. It runs in a process of its own: some expressions take years or all memory, and then it is
ended without harm to anybody. What it has found by then stays found, a line for each."""

import json
import re
import resource
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from moot.core import folder
from moot.core.folder import Folder
from moot.session.workspace import paths
from moot.session.workspace.globs import Glob

_MEMORY = 1 << 30
_MOST_BYTES = 5 << 20  # of a file that is looked into
_DEEPEST = 40
_BEFORE, _SHOWN = 100, 300  # characters of a line


def main() -> None:
    with suppress(OSError, ValueError):  # not every system knows this limit
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    asked = json.loads(sys.stdin.read())
    pattern = re.compile(asked["pattern"], 0 if asked["is_case_sensitive"] else re.IGNORECASE)
    root, left = Path(asked["root"]), asked["limit"]
    with folder.opened(root.parent, root.name) as found:
        if found is None:
            return
        for line in _matches(found, pattern, Glob(asked["glob"])):
            _tell(line)
            left -= 1
            if left == 0:
                _tell("more")
                return
    _tell("end")


def _matches(found: Folder, pattern: re.Pattern[str], glob: Glob) -> Iterator[tuple[str, int, str]]:
    for path, stamp in found.walk(paths.is_closed, _DEEPEST):
        if not stamp.is_plain or path.endswith("/") or not glob.matches(path):
            continue
        try:
            content, _ = found.read(path, _MOST_BYTES)
        except OSError:  # too large, gone, or closed to us
            continue
        if b"\0" in content:
            continue
        for number, line in enumerate(content.decode(errors="replace").split("\n"), 1):
            if place := pattern.search(line):
                yield paths.shown(path), number, _around(line, place.start())


def _around(line: str, at: int) -> str:
    """A line may be as long as a file."""
    start = 0 if at + _BEFORE < _SHOWN else at - _BEFORE
    shown = line[start : start + _SHOWN]
    return ("…" if start else "") + shown + ("…" if start + _SHOWN < len(line) else "")


def _tell(line: object) -> None:
    print(json.dumps(line), flush=True)  # noqa: T201  # at once: the process may be ended at any moment


if __name__ == "__main__":
    main()
