"""What files say of an agent is what its session goes by."""

from datetime import timedelta

from moot.core.formats import Format
from moot.core.permissions import PRESETS
from moot.core.servers import Server
from moot.core.teams import Team
from moot.runner import casts
from moot.session.agent import Agent, Limits
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
