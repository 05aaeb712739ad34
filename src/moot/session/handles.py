"""Results that are too long to be told: the session is told where to read on."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from moot.core.json import Json
from moot.models import reserving
from moot.models.model import ToolSpec
from moot.session import forms
from moot.session.forms import Form
from moot.session.source import Outcome, Unrecorded

LARGE = 100_000  # letters of one result: more would leave no room for anything else
_BEGINNING = 2_000  # letters that are told all the same
_PAGE = 20_000
_FOOTER = 100  # letters kept free for what stands under a page
_LETTER = 4  # the most that one sign counts for


class _Place(Form):
    handle: str
    offset: int = Field(default=0, ge=0)
    length: int = Field(default=_PAGE, ge=1, le=LARGE)


class Handles(Unrecorded):
    """Keeps what was too long, for as long as the session lives."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}
        self._read: dict[str, _Place] = {}  # by which call

    def shortened(self, text: str, handle: str, room: int | None) -> str:
        """The text, or its beginning and where the rest is; `room` is in tokens."""
        most = LARGE if room is None else min(LARGE, room * reserving.LETTERS)
        if reserving.letters_of(text) <= most:
            return text
        if (place := self._read.get(handle)) is not None:
            return self._page(place, max(most - _FOOTER, _LETTER))
        self._kept[handle] = text
        shown = reserving.beginning(text, min(_BEGINNING, most))
        return f"{shown}\n… ({len(text):,} characters in all; read on with result_read, handle {handle!r})"

    def specs(self) -> Sequence[ToolSpec]:
        if not self._kept:
            return ()
        schema: Mapping[str, Json] = {
            "type": "object",
            "properties": {
                "handle": {"type": "string", "enum": list(self._kept)},
                "offset": {"type": "integer", "minimum": 0, "default": 0},
                "length": {"type": "integer", "minimum": 1, "maximum": LARGE, "default": _PAGE},
            },
            "required": ["handle"],
        }
        return (ToolSpec("result_read", "Read on in a result that was too long to be shown.", schema),)

    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> Outcome:
        place = forms.read(_Place, arguments)
        if isinstance(place, str):
            return Outcome(f"Nothing was read: {place}.", is_error=True)
        if place.handle not in self._kept:
            return Outcome(f"There is no handle {place.handle[:80]!r}. There are: {', '.join(self._kept)}.", True)
        self._read[path] = place
        return Outcome(self._page(place, LARGE))

    def _page(self, place: _Place, most: int) -> str:
        text = self._kept[place.handle]
        shown = reserving.beginning(text[place.offset : place.offset + place.length], most)
        end = place.offset + len(shown)
        return f"{shown}\n… ({len(text) - end:,} more characters from offset {end})" if end < len(text) else shown
