"""Searching in files for a regular expression, for a limited time and in a process of its own."""

import re
import sys
from typing import Annotated, cast

from pydantic import Field

from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.process import child, environment
from moot.process.guardian import guarded
from moot.process.program import MEBIBYTE, Finished, Program
from moot.session.source import Outcome
from moot.session.workspace import paths
from moot.session.workspace.errors import SearchFailed
from moot.session.workspace.given import Given
from moot.session.workspace.place import Place

SECONDS = 15.0


class Search(Given):
    pattern: Annotated[str, Field(min_length=1, max_length=1_000, description="A regular expression of Python")]
    glob: Annotated[str, Field(max_length=1_000, description="Of the files to look into: src/**/*.py")] = "**"
    is_case_sensitive: bool = True
    limit: Annotated[int, Field(ge=1, le=1_000, description="How many lines to find")] = 200


async def search(place: Place, given: Search, seconds: float = SECONDS) -> Outcome:
    glob = paths.readable(given.glob)
    asked: Json = {**given.model_dump(), "glob": glob, "root": str(place.root)}
    with guarded(place.guardian) as marker:
        finished = await child.run(
            Program(
                argv=(sys.executable, "-m", "moot.session.workspace.searcher"),
                env=environment.build(also=("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")),
                stdin=json.dump_bytes(asked),
                deadline=seconds,
                grace=0.0,
                output_cap=16 * MEBIBYTE,
                marker=marker,
            )
        )
    return outcome(finished, given)


def outcome(finished: Finished, given: Search) -> Outcome:
    *lines, last = [""] if not finished.stdout else finished.stdout.decode().splitlines()
    if last == '"end"':
        return Outcome(_listed(lines) or "Nothing was found.")
    if last == '"more"':
        return Outcome(f"{_listed(lines)}\n… (only the first {given.limit:,}; there may be more. Be more exact.)")
    found = _listed([*lines, last])
    if finished.ended == "deadline":
        rest = f"This was stopped after {finished.duration:.0f} s. Look for something simpler, or in fewer files."
        return Outcome(f"{found}\n… ({rest})", is_error=True) if found else Outcome(rest, is_error=True)
    raise SearchFailed(f"The search failed: {_reason(finished)}.", "Correct the pattern.")


def _listed(lines: list[str]) -> str:
    found = [_found(line) for line in lines]
    return "\n".join(f"{path}:{number}: {text}" for path, number, text in (one for one in found if one))


def _found(line: str) -> tuple[str, int, str] | None:
    """None for a line that was cut off when the search was ended."""
    try:
        path, number, text = cast(list[Json], json.loads(line))
    except (InvalidInput, ValueError):
        return None
    return str(path), int(cast(int, number)), str(text)


def _reason(finished: Finished) -> str:
    lines = finished.stderr.decode(errors="replace").strip().splitlines()
    said = re.sub(r"^[\w.]*\.", "", lines[-1]) if lines else finished.how
    return said[:200].rstrip(".")
