"""What files say of an agent is what its session goes by."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from moot.backends.backend import Access, Assignment, Briefing, Manner
from moot.core import prices
from moot.core.formats import Format
from moot.core.ids import AttemptId
from moot.core.permissions import PRESETS
from moot.core.servers import Server
from moot.core.teams import Team
from moot.runner import casts
from moot.session.agent import Agent, Limits
from moot.workflow import stored
from moot.workflow.patterns import Patterns
from moot.workflow.workflow import AgentDefinition, Fallback


def test_everything_that_is_said_counts() -> None:
    said = AgentDefinition(
        "desk",
        "api",
        "anthropic/x",
        "You decide.",
        description="decides",
        tools=("inbox",),
        permissions=PRESETS["edit"],
        servers=(Server("git", ("git-server",)),),
        timeout=timedelta(minutes=5),
        base_url="http://h.example",
        env=("LAB_API_KEY",),
        max_turns=7,
        fallbacks=(Fallback("openai/y", None, ("OPENAI_API_KEY",)),),
        patterns=Patterns(("search",), ("wise",), "closer", ("bills",), Team(("wise",), "boss", 3, 4)),
        is_chatty=True,
        max_tool_calls_per_turn=8,
        max_depth=0,
        temperature=0.5,
        max_output_tokens=900,
        context_window=9000,
        input=Format("json"),
        output=Format("json", {"type": "object"}),
    )
    assert casts.agent(said) == Agent(
        "desk",
        "You decide.",
        "decides",
        ("anthropic/x", "openai/y"),
        ("inbox",),
        ("search",),
        ("wise",),
        "closer",
        ("bills",),
        Team(("wise",), "boss", 3, 4),
        is_chatty=True,
        limits=Limits(7, 8, 0, timedelta(minutes=5), 900, 9000),
        temperature=0.5,
        input=Format("json"),
        output=Format("json", {"type": "object"}),
        settings={
            "endpoints": {
                "anthropic/x": {"base_url": "http://h.example", "env": ["LAB_API_KEY"], "rates": None},
                "openai/y": {"base_url": None, "env": ["OPENAI_API_KEY"], "rates": None},
            }
        },
        permissions=PRESETS["edit"],
        servers=(Server("git", ("git-server",)),),
    )


def test_what_is_not_said_is_as_usual() -> None:
    assert casts.agent(AgentDefinition("a", "api", "m/x")).limits == Limits()
    assert casts.agent(AgentDefinition("a", "api")).models == ()
    assert casts.agent(AgentDefinition("a", "api")).settings == {"endpoints": {}}


def test_a_scripted_model_has_its_answers() -> None:
    said = AgentDefinition("a", "scripted", answers=({"say": "hi"},))
    assert casts.agent(said).settings == {"answers": [{"say": "hi"}]}


async def _nothing() -> Briefing:
    return Briefing("")


async def _no_more() -> tuple[()]:
    return ()


def assignment(first: AgentDefinition, *others: AgentDefinition) -> Assignment:
    return Assignment(
        agent=first.name,
        instance="default",
        attempt=AttemptId("at_1"),
        settings=stored.settings(first, others),
        manner=Manner(first.model),
        inbox=(),
        number=1,
        toolbox=object(),  # pyright: ignore[reportArgumentType] # nobody calls a tool
        brief=_nothing,
        more=_no_more,
        access=Access("", "", lambda: False),
        workspace=Path(),
        folder=Path(),
    )


def test_whoever_was_changed_between_two_attempts_is_cast_as_it_is_by_then() -> None:
    first = AgentDefinition("first", "api", "anthropic/x", patterns=Patterns(handoff="second"))
    second = AgentDefinition("second", "api", "anthropic/x", "Be brief.")
    changed = replace(second, system_prompt="Be long.", max_turns=3)

    before = casts.cast(assignment(first, second), Briefing("go"), str)
    after = casts.cast(assignment(first, changed), Briefing("go"), str)

    assert (before["second"].prompt, before["second"].limits.turns) == ("Be brief.", 100)
    assert (after["second"].prompt, after["second"].limits.turns) == ("Be long.", 3)


def test_each_attempt_puts_its_own_words_into_the_same_cast() -> None:
    given = assignment(AgentDefinition("first", "api", "anthropic/x"), AgentDefinition("b", "api", "x/y", "For $who."))

    found = [
        casts.cast(given, Briefing("go", f"You serve {who}."), lambda text, who=who: text.replace("$who", who))
        for who in ("ann", "bob")
    ]

    assert [[one.prompt for one in cast.values()] for cast in found] == [
        ["You serve ann.", "For ann."],
        ["You serve bob.", "For bob."],
    ]


def test_a_conversation_is_as_long_as_the_model_can_hold_that_is_asked_first() -> None:
    said = AgentDefinition("first", "api", "anthropic/claude-sonnet-4-5"), AgentDefinition("b", "api", "openai/gpt-4o")
    given = assignment(*said)
    chosen = replace(given, manner=Manner("openai/gpt-4o"))

    found = [casts.cast(one, Briefing("go"), str) for one in (given, chosen, given)]

    windows = prices.window("anthropic", "claude-sonnet-4-5"), prices.window("openai", "gpt-4o")
    assert None not in windows
    assert windows[0] != windows[1]
    assert [cast["first"].limits.context_tokens for cast in found] == [windows[0], windows[1], windows[0]]
    assert {cast["b"].limits.context_tokens for cast in found} == {windows[1]}
