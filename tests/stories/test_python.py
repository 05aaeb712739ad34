"""A Python program runs workflows to their end, gives agents its functions, and is told what came of it."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Unpack

import pytest

import moot
from moot.api import roster
from moot.api.outcomes import LoopRunning, Options
from moot.api.running import FunctionsMissing
from moot.core.errors import InvalidInput
from moot.testing import project
from moot.tools.functions import FunctionRefused
from moot.workflow.workflow import WorkflowInvalid
from tests.cli.terminal import Terminal

GREETING = """\
name: greeting
inputs: {who: {type: string, required: true}, times: {type: number, default: 1}, at: {type: array, default: []}}
context: {document_owner: none}
agents:
  greeter: {backend: scripted, script: [{on: greet, say: Hello.}]}
kickoff: "@greeter greet ${{ inputs.who }} ${{ inputs.times }}"
result: "${{ inputs.who }}, ${{ inputs.times }}"
"""
# One agent in this process, one whose model is scripted, one over a real MCP connection.
SHOP = """\
name: shop
context: {document_owner: none}
agents:
  near: {backend: scripted, script: [{on: count, calls: [{stock: {item: pears}}], say: near has counted}]}
  far: {backend: scripted, transport: mcp, script: [{on: count, calls: [{stock: {item: plums}}], say: far has counted}]}
  model: {answers: [{calls: [{stock: {item: figs}}]}, {say: model has counted}]}
  apart: {backend: scripted, tools: [inbox], script: [{on: count, calls: [{stock: {item: nuts}}], say: sold}]}
kickoff: "@near @far @model @apart count"
"""
WAITING = """\
name: waiting
context: {document_owner: none}
agents:
  asker: {backend: scripted, script: [{on: begin, say: "@human may I?"}, {on: yes, say: Thank you.}]}
kickoff: "@asker begin"
"""


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the person has set up does not matter here."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MOOT_STORE", raising=False)


def in_a_thread(file: Path, **options: Unpack[Options]) -> moot.Outcome:
    """Tests run in a loop; a program does not."""
    found: list[moot.Outcome | BaseException] = []

    def work() -> None:
        try:
            found.append(moot.run(file, **options))
        except BaseException as error:  # noqa: BLE001  # raised again below
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert found, "the run did not end in time"
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


def test_a_run_is_one_call_and_its_outcome_one_record() -> None:
    heard: list[str] = []
    with project({"greeting.yaml": GREETING}) as folder:
        outcome = in_a_thread(
            folder / "greeting.yaml",
            folder=folder,
            inputs={"who": "@Ada", "times": 2, "at": ["a,b", "c"]},
            on_message=lambda message: heard.append(message.body),
        )
    assert (outcome.status, outcome.exit_code, outcome.is_done) == ("done", 0, True)
    assert outcome.result == "@Ada, 2"
    assert heard == [one.body for one in outcome.messages] == ["@greeter greet @Ada 2", "Hello."]
    assert outcome.cost == 0.0


def test_the_result_of_steps_is_a_value() -> None:
    steps = "name: steps\nsteps: [{id: say, type: user_message, message: hi}]\nresult: '{{ [1, 2] }}'\n"
    with project({".moot/workflows/steps.yaml": steps}) as folder:
        assert in_a_thread(Path("steps"), folder=folder).result == [1, 2]


def test_agents_call_a_function_in_process_and_over_mcp_and_only_if_they_hold_it() -> None:
    asked: list[str] = []

    @moot.tool
    def stock(item: str) -> int:
        """How many there are."""
        asked.append(item)
        return 5

    with project({"shop.yaml": SHOP}) as folder:
        outcome = in_a_thread(folder / "shop.yaml", folder=folder, tools=[stock], check=False)
        said = {one.body for one in outcome.messages}
    assert {"near has counted", "far has counted", "model has counted"} < said
    assert sorted(asked) == ["figs", "pears", "plums"]
    assert stock("again") == 5


def test_a_function_may_be_named_among_the_tools_of_an_agent() -> None:
    @moot.tool(name="shelf")
    def stock(item: str) -> int:
        """How many there are."""
        return len(item)

    named = SHOP.replace("tools: [inbox]", "tools: [inbox, shelf]").replace("stock:", "shelf:")
    with project({"shop.yaml": named}) as folder:
        outcome = in_a_thread(folder / "shop.yaml", folder=folder, tools=[stock])
        assert "sold" in [one.body for one in outcome.messages]
        with pytest.raises(WorkflowInvalid, match="there is no tool or group `shelf`"):
            in_a_thread(folder / "shop.yaml", folder=folder)


def test_two_functions_of_one_name_and_names_that_models_know_are_refused() -> None:
    def one() -> None:
        """Does nothing."""

    for tools in ([moot.tool(one), moot.tool(one)], [moot.tool(name="final_report")(one)]):
        with pytest.raises(FunctionRefused):
            in_a_thread(Path("x"), tools=tools)


def test_a_run_that_is_not_done_is_an_error_unless_it_is_looked_at() -> None:
    with project({"waiting.yaml": WAITING}) as folder:
        with pytest.raises(moot.RunNotDone, match=r"ended as interrupted: waits for human\.") as caught:
            in_a_thread(folder / "waiting.yaml", folder=folder, permissions="edit")
        assert caught.value.outcome.exit_code == 4
        outcome = in_a_thread(folder / "waiting.yaml", folder=folder, permissions="edit", check=False)
        assert (outcome.status, outcome.exit_code) == ("interrupted", 4)


def test_bad_files_inputs_and_folders_are_told_before_anything_is_run(tmp_path: Path) -> None:
    with project({"greeting.yaml": GREETING, "bad.yaml": "name: 1"}) as folder:
        with pytest.raises(InvalidInput, match="`who` is missing"):
            in_a_thread(folder / "greeting.yaml", folder=folder)
        with pytest.raises(WorkflowInvalid):
            in_a_thread(folder / "bad.yaml", folder=folder)
        assert not (folder / ".workflow").exists()
    with pytest.raises(InvalidInput, match="There is no folder"):
        in_a_thread(Path("x"), folder=tmp_path / "none")


async def test_in_a_loop_a_run_is_refused_and_another_way_is_named() -> None:
    with pytest.raises(LoopRunning, match=r"await m\.run"):
        moot.run("greeting.yaml")


async def test_a_run_that_calls_functions_goes_on_only_where_they_are(terminal: Terminal) -> None:
    asked: list[str] = []

    @moot.tool
    def stock(item: str) -> int:
        """How many there are."""
        asked.append(item)
        return 5

    written = WAITING.replace("{on: yes, say:", "{on: yes, calls: [{stock: {item: figs}}], say:")
    file = terminal.folder / "waiting.yaml"
    file.write_text(written)
    async with moot.connect(terminal.folder) as m:
        stopped = await m.run(file, tools=[stock], permissions="edit", check=False)
        assert stopped.exit_code == 4
        await m.send("@asker yes", reply_to=stopped.messages[-1])
        await m.acknowledge(await m.inbox())
        with pytest.raises(FunctionsMissing, match="are not here: stock"):
            await m.resume()
        refused = await asyncio.to_thread(terminal.run, "resume")
        assert refused.code == 1
        assert "FUNCTIONS_MISSING" in refused.err
        outcome = await m.resume(tools=[stock])
    assert [one.body for one in outcome.messages][-1] == "Thank you."
    assert asked == ["figs"]


async def test_another_host_leaves_the_work_to_the_one_with_the_functions(terminal: Terminal) -> None:
    @moot.tool
    def stock(item: str) -> int:
        """How many there are."""
        return len(item)

    (terminal.folder / "shop.yaml").write_text(SHOP.replace("tools: [inbox]", "tools: [inbox, stock]"))
    host = terminal.start("serve")
    try:
        async with moot.connect(terminal.folder) as m:
            await _served(m)
            for number in range(3):
                outcome = await m.run(terminal.folder / "shop.yaml", tools=[stock], instance=f"shop{number}")
                assert len(outcome.messages) == 5
    finally:
        host.terminate()
        host.communicate(timeout=60)


async def _served(m: moot.Meeting) -> None:
    with m.connection.store.listen() as woken:
        while not await roster.is_served(m.connection.store):
            woken.clear()
            await woken.wait(1)


def test_ctrl_c_ends_the_run_so_that_it_can_be_resumed(terminal: Terminal) -> None:
    slow = WAITING.replace('say: "@human may I?"', "takes: 1h, say: late")
    (terminal.folder / "slow.yaml").write_text(slow)
    code = (
        "import moot\n"
        "try: moot.run('slow.yaml', permissions='edit', on_message=lambda one: print(one.body, flush=True))\n"
        "except KeyboardInterrupt: print('interrupted', flush=True)\n"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", code], cwd=terminal.folder, env=terminal.env(), stdout=subprocess.PIPE
    )
    assert program.stdout is not None
    assert program.stdout.readline() == b"@asker begin\n"
    os.kill(program.pid, signal.SIGINT)
    os.kill(program.pid, signal.SIGTERM)  # the second one does not wait for the agent
    assert program.communicate(timeout=60)[0] == b"interrupted\n"
    assert program.returncode == 0
    assert terminal.ok("status", "--json").json[0]["status"] == "interrupted"


def test_importing_moot_loads_nothing_that_is_not_used(terminal: Terminal) -> None:
    code = "import moot, sys; print(moot.__version__, sorted(one for one in sys.modules if one.startswith('moot')))"
    ended = terminal.python(code)
    assert ended.out == f"{moot.__version__} ['moot', 'moot.core', 'moot.core.version']\n"


def test_everything_that_is_offered_is_there() -> None:
    for name in moot.__all__:
        assert getattr(moot, name) is not None
    assert set(dir(moot)) == set(moot.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(moot, "nothing")  # noqa: B009  # the type checker knows that it is not there
