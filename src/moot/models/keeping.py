"""Answers as they are kept in a journal, and back. What a provider wants back as it gave it is kept as it is."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Protocol, cast

from moot.core import clock
from moot.core.json import Json
from moot.core.records import record
from moot.models.model import Answer, Call, Stop

_HALVES = re.compile("[\ud800-\udfff]")


class Keepable(Protocol):
    """A provider's own answer, that can be written down."""

    def plain(self) -> Json: ...


@record
class Kept:
    """An answer that was written down before; whoever speaks with the provider reads it again."""

    data: Json

    def plain(self) -> Json:
        return self.data


def storable(answer: Answer) -> Answer:
    """The same, without halves of characters: a model may write them, and nobody can keep them."""
    texts = [answer.text]
    for one in answer.calls:
        texts += (one.id, one.name, one.arguments)
    if _is_whole("".join(texts)):
        return answer
    calls = tuple(Call(_mended(one.id), _mended(one.name), _mended(one.arguments)) for one in answer.calls)
    return replace(answer, text=_mended(answer.text), calls=calls, kept=None)


def _is_whole(text: str) -> bool:
    return text.isascii() or not _HALVES.search(text)


def _mended(text: str) -> str:
    return _HALVES.sub("\N{REPLACEMENT CHARACTER}", text)


def dump(answer: Answer) -> Json:
    calls: list[Json] = [[one.id, one.name, one.arguments] for one in answer.calls]
    found: dict[str, Json] = {"text": answer.text, "calls": calls, "stop": answer.stop}
    if answer.at is not None:
        found["at"] = clock.to_iso(answer.at)
    if answer.kept is not None:
        found["kept"] = cast(Keepable, answer.kept).plain()
    return found


def load(found: Json) -> Answer:
    """Without its usage, which was counted when it came."""
    data = cast(Mapping[str, Json], found)
    calls = tuple(Call(*one) for one in cast(list[tuple[str, str, str]], data["calls"]))
    kept, at = data.get("kept"), data.get("at")
    since = None if at is None else datetime.fromisoformat(cast(str, at))
    own = None if kept is None else Kept(kept)
    return Answer(cast(str, data["text"]), calls, cast(Stop, data["stop"]), at=since, kept=own)
