"""A tree that is interrupted after any commit, and executed again, comes to the same end; nothing is done twice."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import pytest

from moot.core.json import Json
from moot.core.teams import Team
from moot.core.tool import Effect
from moot.core.wakes import Signal
from moot.models.model import ToolSpec
from moot.session.agent import Agent
from moot.session.hearing import Deaf, Heard
from moot.session.journal import Done, Intent, Known, Memory
from moot.session.source import Leave, Outcome
from tests.session.staging import Hall, agent, calls, reports

WAITS: Json = {"say": "."}
FAILS: Json = {"fail": "refused"}


class Interrupted(Exception):
    """The process is gone."""


@dataclass
class Fragile:
    """A journal that is cut off with its nth page, before or after that is on record."""

    lasting: Memory
    pages: int
    is_after: bool

    def known(self, path: str) -> Known | None:
        return self.lasting.known(path)

    def open_below(self, path: str) -> Sequence[str]:
        return self.lasting.open_below(path)

    def given_back(self) -> AbstractContextManager[Signal]:
        return self.lasting.given_back()

    async def note(self, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
        self.pages -= 1
        if self.pages < 0 or (self.pages == 0 and not self.is_after):
            raise Interrupted
        await self.lasting.note(done, begun)
        if self.pages == 0:
            raise Interrupted


@dataclass
class Counting:
    """A tool that counts what is really done."""

    made: Counter[str] = field(default_factory=Counter[str])
    is_recorded = True
    is_final = False

    def specs(self) -> Sequence[ToolSpec]:
        return (ToolSpec("work", "Does something.", {"type": "object"}),)

    def effect(self, name: str) -> Effect:
        return "store"

    def leave(self, name: str, arguments: Mapping[str, Json]) -> Leave | None: ...

    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> Outcome:
        self.made[str(arguments["what"])] += 1
        return Outcome(f"did {arguments['what']}")


def works(what: str) -> Json:
    return calls("work", what=what)


def nested() -> tuple[Agent, ...]:
    """An advisor that is a router, a chain into a team one of whose members is a chain, and questions asked again."""
    return (
        agent(
            "root",
            {"calls": [{"work": {"what": "r1"}}, {"agent_helper": {"prompt": "help"}}]},
            calls("ask_clarification", id="helper-t1.c2", question="sure?"),
            reports("root's"),
            advisors=("desk",),
            agents=("helper",),
            handoff="panel",
        ),
        agent("desk", calls("handoff_to", agent="expert", message="you know"), router=("expert",)),
        agent("expert", works("e1"), reports("expert's")),
        agent("helper", works("h1"), reports("helped"), reports("sure"), is_chatty=True),
        agent("panel", team=Team(("ann", "ben"), "lead")),
        agent(
            "ann",
            works("a1"),
            calls("team_broadcast", message="A1"),
            WAITS,
            calls("team_broadcast", message="A2"),
            WAITS,
        ),
        agent("ben", reports("prepared"), handoff="carl"),
        agent("carl", calls("team_broadcast", message="C1"), WAITS, calls("team_broadcast", message="C2"), FAILS),
        agent("lead", calls("team_broadcast", message="again"), works("l1"), reports("The end.")),
    )


async def uninterrupted() -> tuple[Hall, Counting]:
    tool = Counting()
    hall = Hall(sources=(tool,))
    assert (await hall.report(*nested())).text == "The end."
    return hall, tool


def recorded(journal: Memory, kind: str) -> int:
    """How many calls of a kind are on record with what came of them."""
    ended = [path for path, known in journal.all().items() if known.state in ("done", "failed")]
    return sum(path.rpartition("/")[2].startswith(kind) for path in ended)


def told_once(hall: Hall) -> bool:
    """Whether the supervisor, if it is asked at all, knows in the end all that was said in its team, and once."""
    asked = [str(request.messages) for name, request in hall.asked if name == "lead"]
    return not asked or all(asked[-1].count(word) == 1 for word in ("A1", "C1", "A2", "C2", "member ben failed"))


@pytest.mark.parametrize("is_after", [False, True])
async def test_the_end_is_the_same_wherever_it_was_interrupted(is_after: bool) -> None:
    whole, tool = await uninterrupted()
    pages = 0
    while True:
        pages += 1
        lasting, first, second = Memory(), Counting(), Counting()
        hall = Hall(Fragile(lasting, pages, is_after), (first,))
        try:
            await hall.report(*nested())
        except Interrupted:
            models, tools = recorded(lasting, "m"), recorded(lasting, "c")
        else:
            break
        again = Hall(lasting, (second,))
        assert (await again.report(*nested())).text == "The end."
        assert len(again.asked) == len(whole.asked) - models
        assert second.made.total() == tool.made.total() - tools
        assert told_once(again)
    assert pages > 20


async def test_what_is_on_record_is_not_done_again() -> None:
    whole, tool = await uninterrupted()
    before = len(whole.asked)
    assert (await whole.report(*nested())).text == "The end."
    assert len(whole.asked) == before
    assert tool.made == Counter(("r1", "e1", "h1", "a1", "l1"))


class CallsBack(Deaf):
    """With these words, when it is done."""

    calls_back = True

    def __init__(self, *words: str) -> None:
        self._left: list[Heard | None] = [None, *(Heard(one) for one in words)]

    def take(self) -> Heard | None:
        return self._left.pop(0) if self._left else None


async def test_who_was_called_back_reports_the_same_again() -> None:
    ann, journal = agent("ann", {"say": "Done."}, {"say": "Done anew."}, reports=False), Memory()
    assert (await Hall(journal, hearing=CallsBack("News.")).report(ann)).text == "Done anew."
    again = Hall(journal, hearing=CallsBack())
    assert (await again.report(ann)).text == "Done anew."
    assert again.asked == []
