"""Nothing of a secret is told of a program, wherever its last words are cut."""

import pytest

from tests.backends.programs.cast import ALL, Part, cast
from tests.backends.programs.stage import Stage, play

SECRET = "own-0123456789-abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize("stream", ["raw", "stderr"])
@pytest.mark.parametrize("part", ALL, ids=lambda part: part.name)
async def test_last_words_that_begin_in_a_secret_hold_nothing_of_it(place: Stage, part: Part, stream: str) -> None:
    words = "before " + SECRET + "x" * (1500 - 20)
    role = cast(part, place.root, [*part.opening, {stream: words}, {"exit": 1}], None, **{part.key: SECRET})
    _, ended = await play(role.backend, await place.assignment(manner=role.manner()))
    assert "xxxx" in ended.error
    assert SECRET[-10:] not in ended.error
