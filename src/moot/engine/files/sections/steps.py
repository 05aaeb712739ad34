"""Steps: each by its kind, with the blocks inside it."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel

from moot.core import problems
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.nearest import hint
from moot.core.yaml import Path
from moot.engine.files.section import Notes
from moot.engine.kinds import KINDS, Kind
from moot.engine.step import Step

_MOST = 10_000
_LEAVING = ("break", "continue")


def read(said: Sequence[object], path: Path, notes: Notes, *, is_looping: bool = False) -> tuple[Step, ...]:
    """A block of steps, as far as they could be read."""
    steps: dict[str, Step] = {}
    for at, one in enumerate(said):
        step = _step(one, (*path, at), notes, is_looping=is_looping)
        if step is not None and step.name in steps:
            notes.add((*path, at, "id"), f"two steps of this block are called `{step.name}`", "Rename one of them.")
        elif step is not None:
            steps[step.name] = step
    return tuple(steps.values())


def _step(said: object, path: Path, notes: Notes, *, is_looping: bool) -> Step | None:
    kind = _kind(said, path, notes)
    if kind is None or not _has_room(path, notes):
        return None
    words = cast(Mapping[str, Any], said)
    type_ = str(words["type"])
    if type_ in _LEAVING and not is_looping:
        notes.add(path, f"`{type_}` stands in no loop", "Put it into a while or a foreach.")
    known = len(notes.found)
    shaped = notes.fit(kind.said, words, path)
    own = {key: value for key, value in words.items() if key not in kind.blocks}
    notes.check_templates(cast(Json, own), path)
    detail = _detail(kind, shaped, path, notes) if len(notes.found) == known else None
    inside = is_looping or kind.is_loop
    blocks = {key: read(_listed(words.get(key)), (*path, key), notes, is_looping=inside) for key in kind.blocks}
    _note_references(type_, words, path, notes)
    line, _ = notes.document.place(path)
    return Step(str(words.get("id") or path[-1]), type_, detail, blocks, path, kind.is_loop, line)


def _kind(said: object, path: Path, notes: Notes) -> Kind | None:
    if not isinstance(said, Mapping):
        notes.add(path, f"`{problems.spell(path)}` must be a step", "Write `type:` and what belongs to it.")
        return None
    type_ = cast(Mapping[str, object], said).get("type")
    if type_ is None:
        notes.add((*path, "type"), f"`type` is missing in `{problems.spell(path)}`", "Add it.", is_key=True)
        return None
    if str(type_) not in KINDS:
        notes.add((*path, "type"), f"there is no kind of step `{str(type_)[:80]}`", hint(str(type_), KINDS))
        return None
    return KINDS[str(type_)]


def _detail(kind: Kind, shaped: BaseModel | None, path: Path, notes: Notes) -> Any:
    try:
        return kind.read(shaped)
    except MootError as error:
        notes.refuse(path, error)
        return None


def _has_room(path: Path, notes: Notes) -> bool:
    notes.steps += 1
    if notes.steps == _MOST + 1:
        notes.add(path, f"there are more than {_MOST:,} steps", "Use a loop.")
    return notes.steps <= _MOST


def _note_references(type_: str, words: Mapping[str, Any], path: Path, notes: Notes) -> None:
    """What stands elsewhere: whether it does is known when everything was read."""
    if type_ == "include_workflow" and isinstance(name := words.get("workflow"), str):
        notes.includes.append((path, name))
    if isinstance(task := words.get("sub_agent_task"), str):
        notes.tasks.append(((*path, "sub_agent_task"), task))


def _listed(value: object) -> Sequence[object]:
    return cast(list[object], value) if isinstance(value, list) else ()
