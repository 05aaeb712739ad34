"""What an agent's own definition says of its attempts, and the tools it holds."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta

import pytest

from moot.backends.backend import Assignment, Ended, Progress
from moot.core.caller import SYSTEM
from moot.core.permissions import PRESETS, Preset
from moot.core.tx import Tx
from moot.registry import agents, instances
from moot.registry.agents import Agent, NewAgent
from moot.runner import terms
from moot.runner.terms import Terms
from moot.store.store import Store
from moot.tools import groups
from moot.workflow import stored
from moot.workflow.workflow import AgentDefinition, Backend, Budget, Retry
from tests.runner.team import make_host, running
from tests.runner.test_limits import PLAIN, play


async def test_a_stored_definition_is_read_back(store: Store) -> None:
    budget = Budget(0.5, timedelta(minutes=2), 3, 4, 5)
    retry = Retry(2, timedelta(milliseconds=500), 1.5)
    definition = AgentDefinition(
        "coder", "scripted", system_prompt="Be kind.", tools=("documents",), budget=budget, retry=retry,
        timeout=timedelta(seconds=90), script=({"say": "hello"},),
    )  # fmt: skip

    def join(tx: Tx) -> Agent:
        new = NewAgent(name="coder", backend="scripted", settings=stored.settings(definition))
        return agents.ensure(tx, instances.ensure(tx, "default"), new)

    agent = await store.write(join, caller=SYSTEM)
    assert terms.of_agent(agent) == Terms("Be kind.", ("documents",), budget, retry, timedelta(seconds=90))
    assert terms.of_agent(replace(agent, settings={"script": []})) == Terms()


@pytest.mark.parametrize(
    ("tools", "has_context", "expected"),
    [
        (None, True, groups.TALK),
        ((), True, ("inbox", "channel_send")),
        (("documents", "vote"), True, ("documents", "vote", "inbox", "channel_send", "document_vote_owner")),
        (None, False, ("inbox",)),
        (("channel_read", "documents", "requests"), False, ("requests",)),
    ],
)
def test_an_agent_holds_what_it_is_given_and_what_nobody_can_do_without(
    tools: tuple[str, ...] | None, has_context: bool, expected: tuple[str, ...]
) -> None:
    assert terms.groups(Terms(tools=tools), has_context=has_context) == expected


async def test_tools_that_an_agent_was_not_given_are_refused(store: Store) -> None:
    answers: dict[str, bool] = {}

    class Greedy:
        async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
            for tool in ("channel_read", "document_list", "inbox_check", "agent_list"):
                answers[tool] = not (await assignment.toolbox.call(tool, {})).is_error
            sent = await assignment.toolbox.call("channel_send", {"message": "here"})
            answers["channel_send"] = not sent.is_error
            yield Ended()

    found = await play(store, {"ann": [{}]}, own=replace(PLAIN, tools=("document_list",)))
    async with running(make_host(store, backend=Greedy())):
        await found.team.idle()
    assert answers == {
        "channel_read": False, "document_list": True, "inbox_check": True, "agent_list": False, "channel_send": True
    }  # fmt: skip


@pytest.mark.parametrize(
    ("backend", "preset", "is_offered"),
    [("claude", "ask", True), ("claude", "edit", True), ("claude", "full", False), ("codex", "ask", False)],
)
async def test_only_a_program_that_asks_by_a_tool_is_offered_it(
    store: Store, backend: Backend, preset: Preset, is_offered: bool
) -> None:
    definition = AgentDefinition("coder", backend, permissions=PRESETS[preset])

    def join(tx: Tx) -> Agent:
        new = NewAgent(name="coder", backend=backend, settings=stored.settings(definition))
        return agents.ensure(tx, instances.ensure(tx, "default"), new)

    agent = await store.write(join, caller=SYSTEM)
    assert terms.held(agent, None) == (*groups.TALK, *(("approve",) if is_offered else ()))
    only = replace(agent, settings={**agent.settings, "tools": ["documents"]})
    assert ("approve" in terms.held(only, None)) == is_offered
