"""A provider that asks to wait is waited for by the whole tree, whoever asked it: nobody is told of a failure, and
nothing that is done is done again."""

from collections.abc import Callable

import pytest

from moot.core.json import Json
from moot.core.teams import Team
from moot.session.agent import Agent
from moot.session.journal import Memory
from tests.session.staging import Hall, agent, calls, reports

Pattern = Callable[[Json], tuple[Agent, ...]]
LIMITED: dict[str, Json] = {"fail": "rate_limit", "wait": "300s"}
WAITS: Json = {"say": "."}
PARALLEL: Json = {"calls": [{"agent_busy": {"prompt": "x"}}, {"agent_other": {"prompt": "x"}}]}


def subagents(busy: Json) -> tuple[Agent, ...]:
    return (
        agent("root", PARALLEL, reports("done"), agents=("busy", "other")),
        agent("busy", busy),
        agent("other", reports("theirs")),
    )


def clarification(busy: Json) -> tuple[Agent, ...]:
    asks = calls("ask_clarification", id="busy-t1.c1", question="sure?")
    return (
        agent("root", calls("agent_busy", prompt="x"), asks, reports("done"), agents=("busy",)),
        agent("busy", reports("first"), busy, is_chatty=True),
    )


def advisors(busy: Json) -> tuple[Agent, ...]:
    return (
        agent("root", reports("done"), advisors=("busy", "other")),
        agent("busy", busy),
        agent("other", reports("theirs")),
    )


def router(busy: Json) -> tuple[Agent, ...]:
    desk = agent("desk", calls("handoff_to", agent="busy"), router=("busy",))
    return agent("root", reports("done"), advisors=("desk",)), desk, agent("busy", busy)


def handoff(busy: Json) -> tuple[Agent, ...]:
    return (
        agent("root", reports("x"), handoff="busy"),
        agent("busy", busy, handoff="last"),
        agent("last", reports("done")),
    )


def member(busy: Json) -> tuple[Agent, ...]:
    return (
        agent("root", team=Team(("busy", "other"), "lead")),
        agent("busy", busy, WAITS),
        agent("other", calls("team_broadcast", message="O1"), WAITS),
        agent("lead", reports("done")),
    )


def member_asked_again(busy: Json) -> tuple[Agent, ...]:
    return (
        agent("root", team=Team(("busy", "other"), "lead")),
        agent("busy", WAITS, busy, WAITS),
        agent("other", calls("team_broadcast", message="O1"), WAITS, WAITS),
        agent("lead", calls("team_broadcast", message="again"), reports("done")),
    )


def supervisor(busy: Json) -> tuple[Agent, ...]:
    return (
        agent("root", calls("agent_panel", prompt="x"), reports("done"), agents=("panel",)),
        agent("panel", team=Team(("other",), "busy")),
        agent("other", calls("team_broadcast", message="O1"), WAITS),
        agent("busy", busy),
    )


SAYS: dict[Pattern, Json] = {
    member: calls("team_broadcast", message="B1"),
    member_asked_again: calls("team_broadcast", message="B1"),
}
PATTERNS: list[Pattern] = [subagents, clarification, advisors, router, handoff, member, member_asked_again, supervisor]


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda one: one.__name__)
async def test_everybody_waits_and_goes_on_where_they_were(pattern: Pattern) -> None:
    says = SAYS.get(pattern, reports("mine"))
    whole = Hall()
    assert (await whole.report(*pattern(says))).text == "done"

    memory = Memory()
    first, second = Hall(memory), Hall(memory)
    report = await first.report(*pattern(LIMITED))
    assert (report.failure, report.error) == ("rate_limit", "The script fails here (rate_limit).")
    assert report.until is not None

    assert (await second.report(*pattern(says))).text == "done"
    assert sorted(first.order() + second.order()) == sorted([*whole.order(), "busy"])
    told = "".join(str(request.messages) for _, request in (*first.asked, *second.asked))
    assert "rate_limit" not in told


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda one: one.__name__)
async def test_a_tree_that_moot_leaves_when_it_is_shut_down_goes_on_where_it_was(pattern: Pattern) -> None:
    cast = pattern(SAYS.get(pattern, reports("mine")))
    whole = Hall()
    assert (await whole.report(*cast)).text == "done"

    memory = Memory()
    first, second = Hall(memory, ends_with="busy"), Hall(memory)
    report = await first.report(*cast)
    assert report.failure == "shutdown"
    assert {one.state for one in memory.all().values()} <= {"started", "done"}

    assert (await second.report(*cast)).text == "done"
    assert sorted(first.order() + second.order()) == sorted(whole.order())
    assert "shut down" not in "".join(str(request.messages) for _, request in second.asked)


async def test_of_several_models_that_ask_to_wait_the_one_that_is_ready_first_is_waited_for() -> None:
    waits = {"a": "60s", "b": "900s"}
    limited: dict[str, Json] = {f"answers:{one}": [{**LIMITED, "wait": wait}] for one, wait in waits.items()}
    report = await Hall().report(Agent("root", models=("a", "b"), settings=limited))
    other = await Hall().report(Agent("root", models=("b", "a"), settings=limited))
    assert report.until == other.until
    assert (report.provider, other.provider) == ("a", "a")


async def test_who_has_another_model_need_not_wait() -> None:
    settings: dict[str, Json] = {"answers:a": [LIMITED], "answers:b": [reports("done")]}
    assert (await Hall().report(Agent("root", models=("a", "b"), settings=settings))).text == "done"
