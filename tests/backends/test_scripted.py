"""A scripted agent plays its lines through its tools, and fails as it was told to."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from moot.backends.backend import Access, Assignment, Briefing, Called, Ended, Letter, Manner, Progress, Usage, Wrote
from moot.backends.script import ScriptInvalid
from moot.backends.scripted import ScriptCrashed, ScriptedBackend
from moot.core.ids import AttemptId
from moot.core.json import Json
from moot.core.tool import ToolAnswer
from tests.backends.letters import letter


@dataclass
class Notebook:
    """A toolbox that notes what is called; the tool `broken` is refused."""

    calls: list[tuple[str, Mapping[str, Json]]] = field(default_factory=list[tuple[str, Mapping[str, Json]]])

    async def call(self, name: str, arguments: Mapping[str, Json]) -> ToolAnswer:
        self.calls.append((name, arguments))
        return ToolAnswer("BROKEN: it is broken.", {}, is_error=name == "broken")


async def brief() -> Briefing:
    return Briefing("It is the last.", "Be kind.")


async def no_more() -> tuple[Letter, ...]:
    await asyncio.Event().wait()
    return ()


def assignment(lines: list[Json], *bodies: str, number: int = 1, toolbox: Notebook | None = None) -> Assignment:
    return Assignment(
        agent="coder",
        instance="default",
        attempt=AttemptId("at_1"),
        settings={"script": lines},
        manner=Manner(),
        inbox=tuple(letter(body) for body in bodies),
        number=number,
        toolbox=toolbox or Notebook(),
        brief=brief,
        more=no_more,
        access=Access("", "", lambda: False),
        workspace=Path(),
        folder=Path(),
    )


async def played(given: Assignment) -> list[Progress]:
    return [progress async for progress in ScriptedBackend().run(given)]


async def test_what_a_line_says_is_the_answer() -> None:
    assert await played(assignment([{"on": "hi", "say": "hello $from"}], "hi")) == [
        Wrote("hello human"),
        Ended(text="hello human"),
    ]


async def test_each_message_is_played_and_the_answers_are_joined() -> None:
    lines: list[Json] = [{"on": "a", "say": "A"}, {"on": "quiet"}, {"on": "b", "say": "B"}]
    assert await played(assignment(lines, "a", "quiet", "c", "b")) == [Wrote("A"), Wrote("B"), Ended(text="A\n\nB")]


async def test_nothing_to_play_is_a_silent_success() -> None:
    assert await played(assignment([], "hi")) == [Ended()]
    assert await played(assignment([{"say": "x"}])) == [Ended()]


async def test_tools_are_called_in_order_with_filled_arguments() -> None:
    toolbox = Notebook()
    calls: list[Json] = [{"channel_send": {"message": "@$from $1"}}, {"channel_read": {"limit": 5}}]
    assert await played(assignment([{"on": "say (.*)", "calls": calls, "say": "done"}], "say it", toolbox=toolbox)) == [
        Called("channel_send"),
        Called("channel_read"),
        Wrote("done"),
        Ended(text="done"),
    ]
    assert toolbox.calls == [("channel_send", {"message": "@human it"}), ("channel_read", {"limit": 5})]


async def test_a_refused_tool_fails_the_attempt_and_the_rest_is_not_played() -> None:
    toolbox = Notebook()
    calls: list[Json] = [{"first": {}}, {"broken": {}}, {"never": {}}]
    assert await played(assignment([{"calls": calls, "say": "never"}], "a", "b", toolbox=toolbox)) == [
        Called("first"),
        Called("broken", is_error=True),
        Ended("error", "broken: BROKEN: it is broken."),
    ]
    assert [name for name, _ in toolbox.calls] == ["first", "broken"]


async def test_a_line_that_fails_fails_every_time() -> None:
    for number in (1, 2, 9):
        assert await played(assignment([{"fail": "no"}], "a", number=number)) == [Ended("error", "no")]


async def test_a_line_that_fails_twice_succeeds_at_the_third_attempt() -> None:
    lines: list[Json] = [{"fail": "no", "fails": 2, "say": "at last"}]
    ended = [(await played(assignment(lines, "a", number=number)))[-1] for number in (1, 2, 3)]
    assert ended == [Ended("error", "no"), Ended("error", "no"), Ended(text="at last")]


async def test_tools_are_called_before_the_failure() -> None:
    toolbox = Notebook()
    await played(assignment([{"calls": [{"channel_peek": {}}], "fail": "no"}], "a", toolbox=toolbox))
    assert toolbox.calls == [("channel_peek", {})]


async def test_a_crash_is_raised() -> None:
    with pytest.raises(ScriptCrashed, match="coder crashed as its script says"):
        await played(assignment([{"crash": True}], "a"))
    assert await played(assignment([{"crash": True, "fails": 1}], "a", number=2)) == [Ended()]


async def test_a_hang_lasts_until_it_is_cancelled() -> None:
    task = asyncio.ensure_future(played(assignment([{"hang": True, "say": "never"}], "a")))
    done, _ = await asyncio.wait([task], timeout=0.05)
    assert not done
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await played(assignment([{"hang": True, "fails": 1, "say": "back"}], "a", number=2)) == [
        Wrote("back"),
        Ended(text="back"),
    ]


async def test_a_line_takes_its_time() -> None:
    started = time.monotonic()
    await played(assignment([{"takes": "30ms"}], "a"))
    assert 0.029 <= time.monotonic() - started < 5  # the loop counts whole milliseconds, and may be one behind


async def test_a_script_that_cannot_be_read_is_refused_before_anything_is_played() -> None:
    toolbox = Notebook()
    with pytest.raises(ScriptInvalid, match="script item 2, say"):
        await played(assignment([{"calls": [{"first": {}}]}, {"say": 5}], "a", toolbox=toolbox))
    assert toolbox.calls == []


async def test_what_the_lines_used_is_added_up_also_when_one_fails() -> None:
    first = {"on": "a", "usage": {"tokens": 10, "cost": 0.5, "estimated": True}}
    lines: list[Json] = [first, {"fail": "no", "usage": {"tokens": 5, "turns": 2, "cost": 1}}]
    used = Usage(output_tokens=15, turns=2, cost=1.5, is_estimated=True)
    assert await played(assignment(lines, "a", "b", "c")) == [Ended("error", "no", usage=used)]


async def test_a_line_can_look_at_the_prompt_and_hand_it_on() -> None:
    lines: list[Json] = [
        {"on": "never", "in": "system_prompt", "say": "no"},
        {"on": "the (last)", "in": "prompt", "say": "$1: $message, $prompt, $system_prompt"},
    ]
    given = assignment(lines, "go")
    assert (await played(given))[-1] == Ended(text="last: go, It is the last., Be kind.")


@pytest.mark.parametrize(
    ("line", "is_briefed"),
    [
        ({"say": "hello"}, False),
        ({"say": "$prompt"}, True),
        ({"on": "x", "in": "system_prompt"}, True),
        ({"calls": [{"channel_send": {"message": "told: $system_prompt"}}]}, True),
    ],
)
async def test_only_a_script_that_reads_its_briefing_has_it_made(line: Json, is_briefed: bool) -> None:
    made: list[Briefing] = []

    async def make() -> Briefing:
        made.append(Briefing())
        return made[-1]

    await played(replace(assignment([line], "go"), brief=make))
    assert len(made) == int(is_briefed)


async def test_a_pattern_without_an_end_fails_its_own_attempt_only() -> None:
    async with asyncio.timeout(10):
        (ended,) = await played(assignment([{"on": "(a|aa)+$", "say": "never"}], "a" * 60 + "b"))
    assert isinstance(ended, Ended)
    assert (ended.failure, "takes longer than 0.2 s" in ended.error) == ("error", True)
