"""What people and agents decide while a workflow goes through its steps is decided again in its replay: answers, votes,
approvals, tasks, and steps that an agent from outside asks for one by one."""

import asyncio
import os
import signal
from typing import Any

from mcp import Client

from tests.cli.terminal import Terminal
from tests.stories.house import SECONDS, House
from tests.stories.test_outside import call
from tests.stories.test_replay import record, write
from tests.stories.test_replay_people import recorded, replayed
from tests.stories.test_replay_steps import LIKE, alike, state

ASKING = """
name: asking
steps:
  - id: which
    type: user_input
    prompt: Which branch?
    validation: {pattern: "^[a-z]+$", error_message: "{{ result }} is no branch."}
    state_update: {path: raw.branch}
  - {id: log, type: shell_command, command: "echo {{ branch }} >> ran; date +%N", state_update: {path: raw.log}}
"""
DECIDING = """
name: deciding
context: {document_owner: none}
agents:
  ann:
    script:
      - {on: "(?s)PROPOSAL.*prop-001", calls: [{vote: {proposal: prop-001, choice: blue}}], say: I have voted.}
      - {on: TASK, takes: 30ms, say: it is done}
  ben: {script: [{on: "(?s)PROPOSAL.*prop-001", calls: [{vote: {proposal: prop-001, choice: blue}}], say: So have I.}]}
kickoff: "@ann hello"
tasks: [{name: build, description: Build it., agent: ann}]
steps:
  - {id: built, type: wait, task: build, state_update: {path: raw.built}}
  - id: put
    type: mcp_call
    method: proposal_create
    params: {type: decision, title: Colour, options: [{id: red, label: red}, {id: blue, label: blue}]}
    state_update: {path: raw.put}
  - {id: voted, type: wait, vote: "{{ put.id }}", state_update: {path: raw.colour, value: "{{ result.winner }}"}}
  - id: late
    type: mcp_call
    method: proposal_create
    params: {type: approval, title: Nobody votes, electors: [ann], timeout_seconds: 1}
    state_update: {path: raw.late}
  - {id: expired, type: wait, vote: "{{ late.id }}"}
error_handling: {on_error: continue, error_collection: {enabled: true, state_path: raw.troubles}}
result: "{{ colour }}"
"""


def test_answers_at_the_terminal_are_given_again_the_wrong_one_too(terminal: Terminal) -> None:
    file, tape = write(terminal, ASKING), terminal.folder / "tape.jsonl"
    with terminal.typing("run", str(file), "--instance", "first", "--record", str(tape)) as session:
        session.until("Which branch?")
        session.type("A B")
        session.until("A B is no branch.")
        session.type("main")
        session.until("done in")
    assert session.code == 0
    alike(terminal, file, tape)
    assert state(terminal, "again")["branch"] == "main"
    assert (terminal.folder / "ran").read_text() == "main\n"


def test_a_question_that_nobody_has_answered_stays_one(terminal: Terminal) -> None:
    file = write(terminal, ASKING)
    tape = record(terminal, file, code=4)
    alike(terminal, file, tape, 4)


def test_tasks_and_votes_that_steps_wait_for_end_as_they_did(both: Terminal) -> None:
    file = write(both, DECIDING)
    tape = record(both, file)
    alike(both, file, tape)
    found = state(both, "again")
    assert (found["colour"], [one["step_id"] for one in found["troubles"]]) == ("blue", ["expired.wait"])


INSIDE = """
name: inside
steps:
  - {id: one, type: shell_command, command: "echo one >> ran; date +%N", state_update: {path: raw.one}}
  - {id: ask, type: agent_prompt, prompt: "What of {{ one }}?", state_update: {path: raw.said}}
  - id: side
    type: parallel_foreach
    items: [a, b]
    sub_agent_task: task
  - {id: two, type: shell_command, command: "echo two >> ran; date +%N", state_update: {path: raw.two}}
sub_agent_tasks:
  task:
    steps:
      - {id: run, type: shell_command, command: "echo {{ item }} >> ran; date", state_update: {path: "raw.{{ item }}"}}
      - {id: say, type: agent_prompt, prompt: "And {{ item }}?", state_update: {path: "raw.said_{{ item }}"}}
"""
HANGING = """
name: hanging
steps:
  - {id: one, type: shell_command, command: echo one >> ran}
  - {id: two, type: shell_command, command: "echo two >> ran; echo begun > pipe; sleep 99"}
"""
OUTSIDE = """
name: outside
agents: {ben: {backend: external}}
kickoff: "@ben take the steps"
"""


async def walk(client: Client, id: str, **context: Any) -> None:
    """Take every step to the end, each with what it is called as its result."""
    while (step := (await call(client, "workflow_get_next_step", workflow_id=id, **context))["step"]) is not None:
        if step["type"] == "parallel_tasks":
            for task in step["definition"]["tasks"]:
                await walk(client, id, sub_agent_context={"task_id": task["task_id"]})
        result = {} if step["type"] == "parallel_tasks" else {"result": step["id"]}
        await call(client, "workflow_step_complete", workflow_id=id, step_id=step["id"], **result, **context)


async def test_steps_that_an_agent_from_outside_has_taken_are_taken_again_without_a_command(house: House) -> None:
    shelf = house.root / ".moot" / "workflows"
    shelf.mkdir()
    (shelf / "inside.yaml").write_text(INSIDE)
    async with asyncio.timeout(3 * SECONDS):
        async with recorded(house, OUTSIDE):
            await house.until_said("take the steps")
            async with house.client("--as", "ben@default") as ben:
                found = await call(ben, "inbox_check", wait_seconds=50)
                begun = await call(ben, "workflow_start", workflow="inside")
                await walk(ben, begun["workflow_id"])
                ended = await call(ben, "workflow_complete", workflow_id=begun["workflow_id"])
                await call(ben, "inbox_ack", until=found["messages"][-1]["entry"]["id"])
        ran = (house.root / "ran").read_text()
        assert sorted(ran.split()) == ["a", "b", "one", "two"]
        assert LIKE in await replayed(house, code=0)
    assert (house.root / "ran").read_text() == ran
    assert await house.json("flow", "state", "--instance", "again") == ended["final_state"]


async def test_a_run_that_was_interrupted_at_a_command_ends_there_again(house: House) -> None:
    pipe = house.root / "pipe"
    os.mkfifo(pipe)
    async with asyncio.timeout(3 * SECONDS):
        async with recorded(house, HANGING) as run:
            await asyncio.to_thread(pipe.read_text)  # until the command has begun
            run.send_signal(signal.SIGINT)
        assert LIKE in await replayed(house, code=130)
    assert (house.root / "ran").read_text() == "one\ntwo\n"
