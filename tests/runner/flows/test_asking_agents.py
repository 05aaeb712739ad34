"""Steps that need an agent: it is asked by mail, and its last words are what came of the step."""

import asyncio
import os
from pathlib import Path

import pytest

from moot.bus import mailbox
from moot.core.ids import FlowId
from moot.core.tx import ReadTx
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow import history
from moot.registry import agents
from moot.registry.agents import Agent, NewAgent
from moot.runner import idle
from moot.store.store import Store
from moot.tools import flow_access
from tests.flowing import SECONDS, Flows, carried_out
from tests.runner.team import Line, Team


async def _join(flows: Flows, name: str, *script: Line) -> None:
    new = NewAgent(name=name, backend="scripted", settings={"script": list(script)})
    await flows.house.write(lambda tx: agents.ensure(tx, flows.house.instance, new))


PROMPT = """
steps:
  - {id: ask, type: agent_prompt, agent: ann, prompt: "How many in {{ 'a b' }}?", max_retries: 1,
     schema: {type: object, required: [n]}, state_update: {path: raw.n, value: "{{ result.n }}"}}
"""


async def test_an_answer_that_does_not_fit_is_asked_for_again(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": PROMPT}) as flows:
        await _join(
            flows,
            "ann",
            {"on": "would not do", "say": '```json\n{"n": 2}\n```'},
            {"on": "How many in a b", "say": "Two, I think."},
        )
        id = await flows.run()
        assert (await flows.over(id)).status == "completed"
        assert await flows.flat(id) == {"n": 2}
        assert await flows.steps(id) == ["ask.agent_prompt failed", "ask.agent_prompt success"]
        taken = await store.read(lambda tx: history.steps(tx, FlowId(id)))
        assert [one.doer for one in taken] == ["agent", "agent"]
        mail = [one.body for one in await Team(store, flows.house.instance).channel()]
        assert mail[0].startswith("[STEP:ask.agent_prompt] flow\n\n")
        assert "JSON that fits this schema" in mail[0]
        await flows.until(lambda tx: True if idle.is_idle(tx, flows.house.stream) else None)


async def test_an_agent_that_is_given_up_fails_the_step(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    text = PROMPT.replace("max_retries: 1", "max_retries: 0")
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        await _join(flows, "ann", {"on": "How many", "fail": "out of order"})
        id = await flows.run()
        over = await flows.over(id)
        assert over.status == "failed"
        assert "out of order" in over.error
        await flows.until(lambda tx: True if idle.is_idle(tx, flows.house.stream) else None)


GIVEN_UP = """
steps:
  - {id: all, type: parallel_foreach, items: ["%s", "read line < go; exit 1"], sub_agent_task: it}
sub_agent_tasks:
  it:
    steps:
      - {id: if, type: conditional, condition: "{{ item == 'ask' }}",
         then: [{id: ask, type: agent_prompt, agent: ann, prompt: Hello?}],
         else: [{id: run, type: shell_command, command: "{{{ item }}}"}]}
"""


async def test_mail_for_a_step_that_is_given_up_is_taken_back(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    os.mkfifo(tmp_path / "go")
    async with carried_out(store, tmp_path, sandbox, {"flow": GIVEN_UP % "ask"}) as flows:
        outside = NewAgent(name="ann", backend="external")  # who reads nothing by itself
        await flows.house.write(lambda tx: agents.ensure(tx, flows.house.instance, outside))
        id = await flows.run()

        def asked(tx: ReadTx) -> Agent | None:
            found = agents.find(tx, flows.house.stream, "ann-1")
            return found if found is not None and mailbox.has_queued(tx, found.id) else None

        ann = await flows.until(asked)
        async with asyncio.timeout(SECONDS):
            await asyncio.to_thread((tmp_path / "go").write_text, "now\n")
        assert (await flows.over(id)).status == "failed"
        assert await store.read(lambda tx: mailbox.unread(tx, ann.id, 10)) == []
        (said,) = await Team(store, flows.house.instance).channel()
        receipts = await store.read(lambda tx: mailbox.receipts(tx, flows.house.stream, said.seq))
        assert [(one.agent, one.state) for one in receipts] == [(ann.id, "dead")]
        await flows.until(lambda tx: True if idle.is_idle(tx, flows.house.stream) else None)


async def test_what_agents_do_in_place_of_moot_is_read_as_what_it_is(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
steps:
  - {id: one, type: parallel_foreach, items: [1], sub_agent_task: it, agent: ann}
sub_agent_tasks:
  it:
    steps:
      - {id: run, type: agent_shell_command, command: "ls", output_format: lines, state_update: {path: raw.files}}
      - {id: call, type: mcp_call, method: channel_peek, params: {x: 1}, agent: true, state_update: {path: raw.called}}
      - {id: other, type: mcp_call, method: other_tool, params: {x: 1}, state_update: {path: raw.other}}
      - {id: hints, type: apply_hints, file: a.ts, hints: [no any],
         state_update: {path: raw.applied, value: "{{ applied_count }}"}}
"""
    script: tuple[Line, ...] = (
        {"on": "run.agent_shell_command", "say": "a\nb"},
        {"on": "channel_peek", "say": '{"ok": true}'},
        {"on": "other_tool", "say": "```json\n[1]\n```"},
        {"on": "a.ts", "say": '{"applied_count": 3}'},
    )
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        await _join(flows, "ann", *script)
        id = await flows.run()
        assert (await flows.over(id)).error == ""
        assert await flows.flat(id) == {"files": ["a", "b"], "called": {"ok": True}, "other": [1], "applied": 3}


async def test_of_several_agents_each_is_asked_for_the_steps_that_name_it(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
steps:
  - {id: run, type: agent_shell_command, agent: ann, command: "ls", state_update: {path: raw.files}}
  - {id: call, type: mcp_call, agent: ben, method: channel_peek, state_update: {path: raw.called}}
  - {id: hints, type: apply_hints, agent: ann, file: a.ts, hints: [no any],
     state_update: {path: raw.applied, value: "{{ applied_count }}"}}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        await _join(
            flows,
            "ann",
            {"on": "run.agent_shell_command", "say": "a"},
            {"on": "a.ts", "say": '{"applied_count": 3}'},
        )
        await _join(flows, "ben", {"on": "channel_peek", "say": '{"ok": true}'})
        id = await flows.run()
        assert (await flows.over(id)).error == ""
        assert await flows.flat(id) == {"files": "a", "called": {"ok": True}, "applied": 3}
        asked = [to for one in await Team(store, flows.house.instance).channel() for to in one.mentions]
        assert asked == ["ann", "ben", "ann"]


async def test_tasks_side_by_side_have_agents_of_their_own_made_after_the_one_that_is_named(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
steps:
  - {id: all, type: parallel_foreach, items: [{id: red}, {id: blue}], sub_agent_task: judge, agent: ann}
sub_agent_tasks:
  judge: {steps: [{id: it, type: agent_prompt, prompt: "judge {{ id }}", state_update: {path: "raw.{{ id }}"}}]}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        await _join(flows, "ann", {"on": "judge (red|blue)", "say": "$1 it is"})
        await _join(flows, "ben", {"on": "judge", "say": "never"})
        id = await flows.run()
        assert (await flows.over(id)).status == "completed"
        assert await flows.flat(id) == {"red": "red it is", "blue": "blue it is"}
        asked = {to for one in await Team(store, flows.house.instance).channel() for to in one.mentions}
        assert asked == {"ann-1", "ann-2"}


@pytest.mark.parametrize(
    "step",
    ["type: agent_prompt, prompt: Why?", "type: mcp_call, method: ping, agent: true, on_error: retry, retry_delay: 1h"],
)
async def test_a_step_that_needs_an_agent_where_there_is_none_fails_once_and_for_good(
    store: Store, tmp_path: Path, sandbox: Sandbox, step: str
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": f"steps: [{{id: ask, {step}}}]"}) as flows:
        over = await flows.over(await flows.run())
        assert over.status == "failed"
        assert "needs an agent, and the workflow has none" in over.error
        assert "resume" not in over.error
        assert len(await flows.steps(over.id)) == 1
        assert await store.read(lambda tx: flow_access.is_in_vain(tx, over))


async def test_who_tolerates_a_failure_goes_on_without_an_agent(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    step = "type: apply_hints, file: a, hints: [], on_error: continue, fallback_value: 0, state_update: {path: raw.n}"
    async with carried_out(store, tmp_path, sandbox, {"flow": f"steps: [{{{step}}}]"}) as flows:
        id = await flows.run()
        assert (await flows.over(id)).status == "completed"
        assert await flows.flat(id) == {"n": 0}
