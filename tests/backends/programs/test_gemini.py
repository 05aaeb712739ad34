"""Gemini's events, as the real one was seen to print them."""

import re
from typing import Any

import pytest

from moot.backends.backend import Usage
from moot.backends.programs.counting import Tariff
from moot.backends.programs.gemini import GeminiReader
from moot.backends.programs.launch import Outcome
from tests.backends.programs.cast import GEMINI, cast
from tests.backends.programs.stage import Stage, play

USED = {"total_tokens": 1050, "input_tokens": 1000, "output_tokens": 50, "cached": 400, "input": 600}
PRO, FLASH = "gemini-2.5-pro", "gemini-2.5-flash"
OF_PRO = (600 * 1.25 + 400 * 0.125 + 50 * 10.0) / 1_000_000
OF_FLASH = (600 * 0.3 + 400 * 0.03 + 50 * 2.5) / 1_000_000


def outcome(stats: Any, tariff: Tariff) -> Outcome:
    reader = GeminiReader(tariff)
    assert not list(reader.read({"type": "result", "status": "success", "stats": stats}))
    found = reader.outcome()
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("stats", "tariff", "used"),
    [
        ({**USED, "models": {PRO: USED}}, Tariff("google"), Usage(1000, 50, 1, OF_PRO, True)),
        ({**USED, "models": {PRO: USED, FLASH: USED}}, Tariff("google"), Usage(2000, 100, 1, OF_PRO + OF_FLASH, True)),
        (USED, Tariff("google", PRO), Usage(1000, 50, 1, OF_PRO, True)),
        (USED, Tariff("google"), Usage(1000, 50, 1, 0.00445, True)),
        ({**USED, "models": {PRO: USED}}, Tariff("google", PRO, is_free=True), Usage(1000, 50, 1, 0.0, True)),
    ],
    ids=["as it tells", "two models", "as the agent says", "nobody says", "a server of one's own"],
)
def test_its_tokens_are_priced_by_the_model_that_it_asked(stats: Any, tariff: Tariff, used: Usage) -> None:
    found = outcome(stats, tariff).usage
    assert (found.input_tokens, found.output_tokens, found.turns, found.is_estimated) == (
        used.input_tokens,
        used.output_tokens,
        used.turns,
        True,
    )
    assert found.cost == pytest.approx(used.cost)


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ("no mention", "no mention"),
        ("@ann see @a.txt, bob@x.org and @@b", "\\@ann see \\@a.txt, bob\\@x.org and \\@\\@b"),
        ("\\@ann and \\\\@ben", "\\@ann and \\\\@ben"),
    ],
    ids=["nothing to do", "each of them", "as it is already"],
)
async def test_no_at_sign_of_a_prompt_names_a_file(place: Stage, prompt: str, shown: str) -> None:
    role = cast(GEMINI, place.root, [*GEMINI.opening, *GEMINI.ending("done")])
    await play(role.backend, await place.assignment(manner=role.manner(), prompt=prompt, system_prompt=""))
    got = role.seen()["stdin"]
    assert got.endswith(shown)
    assert re.search(r"(?<!\\)@", got) is None
