"""moot carries out a flow by itself: commands, tasks side by side, and after a crash what can be known."""

import asyncio
import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import FlowId, HostId
from moot.core.records import replace
from moot.core.tx import ReadTx, Tx
from moot.engine.expressions.evaluation import Evaluation, Evaluator, Outcome
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.files import compiling
from moot.engine.flow import flows as all_flows
from moot.engine.flow import resuming
from moot.engine.flow.strands import Strand
from moot.jobs import jobs
from moot.jobs.jobs import Appetite, Job
from moot.requests import requests
from moot.requests.requests import Request
from moot.runner import idle
from moot.runner.flows.deeds import Deeds
from moot.runner.flows.servers import Servers
from moot.store.store import Store
from moot.tools import advancing
from tests.flowing import SECONDS, Flows, carried_out, laid_out
from tests.runner import team

WHOLE = """
default_state: {raw: {log: [], seen: {}}}
state_schema: {computed: {count: {from: raw.log, transform: input.length}}}
steps:
  - {id: names, type: shell_command, command: "echo >> ran; printf 'a b\\nc.d\\n'", output_format: lines,
     state_update: {path: raw.names}}
  - id: each
    type: foreach
    items: "{{ names }}"
    steps:
      - id: put
        type: shell_command
        command: echo >> ran; printf %s {{ item }}
        state_update: {path: "raw.seen.{{ item }}"}
      - {id: add, type: state_update, path: raw.log, operation: append, value: "{{ item }}"}
  - {id: more, type: while, condition: "{{ count < 5 }}", body: [
      {type: state_update, path: raw.log, operation: append, value: "{{ count }}"}]}
  - {id: all, type: parallel_foreach, items: [1, 2, 3, 4, 5], max_parallel: 2, sub_agent_task: it}
  - {id: told, type: user_message, message: "{{ count }} and {{ sum }}"}
result: "{{ sum }}"
sub_agent_tasks:
  it:
    steps:
      - {id: each, type: foreach, items: ["{{ item }}", "{{ item * 10 }}"], steps: [
          {id: run, type: shell_command, command: "echo >> ran; echo {{ item }}", output_format: json,
           state_update: {path: raw.sum, operation: increment}}]}
"""


async def test_a_whole_flow_is_carried_out_and_every_command_once(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": WHOLE}) as flows:
        id = await flows.run()
        over = await flows.over(id)
        assert (over.status, over.error, over.result) == ("completed", "", "165")
        assert await flows.flat(id) == {
            "names": ["a b", "c.d"],
            "seen": {"a b": "a b", "c.d": "c.d"},
            "log": ["a b", "c.d", 2, 3, 4],
            "count": 5,
            "sum": 165,
        }
        assert (tmp_path / "ran").read_text() == "\n" * 13
        assert [one.body for one in await team.Team(store, flows.house.instance).channel()] == ["5 and 165"]
        assert not list((tmp_path / "marks").iterdir())
        await flows.until(lambda tx: True if idle.is_idle(tx, flows.house.stream) else None)


async def test_words_are_said_once_each_with_the_commit_of_its_step(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    texts = {
        str(count): "steps: [" + ", ".join(["{type: user_message, message: hello}"] * count) + "]" for count in (1, 5)
    }
    async with carried_out(store, tmp_path, sandbox, texts) as flows:
        few, many = [await flows.over(await flows.run(name)) for name in texts]
        assert (few.status, many.status) == ("completed", "completed")
        assert many.version - few.version == 4
        channel = await team.Team(store, flows.house.instance).channel()
        assert [(one.sender, one.kind, one.body) for one in channel] == [("system", "status", "hello")] * 6


async def test_no_more_tasks_go_on_at_once_than_may(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    text = """
steps:
  - {id: all, type: parallel_foreach, items: "{{ [...Array(12).keys()] }}", max_parallel: 3, sub_agent_task: it}
sub_agent_tasks:
  it:
    steps:
      - {id: run, type: shell_command, output_format: json, state_update: {path: raw.most, operation: append},
         command: "touch here{{ item }}; ls | grep -c here; sleep 0.05; rm here{{ item }}"}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.run()
        assert (await flows.over(id)).status == "completed"
        most = (await flows.flat(id))["most"]
        assert (len(most), max(most)) == (12, 3)


async def test_tasks_that_nobody_waits_for_are_begun_too(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    text = """
default_state: {raw: {log: []}}
steps:
  - {id: all, type: parallel_foreach, items: [1, 2, 3], max_parallel: 1, wait_for_all: false, sub_agent_task: it}
  - {id: open, type: shell_command, command: "echo > pipe", state_update: {path: raw.opened}}
sub_agent_tasks:
  it: {steps: [{id: run, type: shell_command, command: "read line < pipe{{ item }}", state_update: {path: raw.read}}]}
"""
    for name in ("pipe", "pipe1", "pipe2", "pipe3"):
        os.mkfifo(tmp_path / name)
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.run()
        async with asyncio.timeout(SECONDS):
            await asyncio.to_thread((tmp_path / "pipe").read_text)  # the first strand is behind the tasks
            for number in (1, 2, 3):
                await asyncio.to_thread((tmp_path / f"pipe{number}").write_text, "go\n")
        assert (await flows.over(id)).status == "completed"


async def test_one_task_that_fails_ends_the_commands_of_the_others(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
steps:
  - {id: all, type: parallel_foreach, items: ["exec sleep 600 > pipe", "read line < go; exit 1"], sub_agent_task: it}
sub_agent_tasks:
  it: {steps: [{id: run, type: shell_command, command: "{{{ item }}}"}]}
"""
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "go")
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.run()
        async with asyncio.timeout(SECONDS):
            with await asyncio.to_thread((tmp_path / "pipe").open) as pipe:
                await asyncio.to_thread((tmp_path / "go").write_text, "go\n")
                assert await asyncio.to_thread(pipe.read) == ""
        assert "all_1: run failed" in (await flows.over(id)).error


async def test_a_wait_longer_than_the_host_lingers_ends_in_time(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    text = """
default_state: {raw: {from: "{{ Date.now() }}"}}
steps:
  - {id: rest, type: wait, for: 1200ms}
  - {id: end, type: state_update, path: raw.to, value: "{{ Date.now() }}"}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.run()
        await flows.waits(id, "time")
        await flows.until(lambda tx: True if not _is_running(tx, flows) else None)
        assert (await flows.over(id)).status == "completed"
        state = await flows.flat(id)
        assert 1200 <= state["to"] - state["from"] < 10_000


def _is_running(tx: ReadTx, flows: Flows) -> bool:
    return any(one.state == "running" for one in jobs.live(tx, flows.house.stream))


async def test_one_step_at_a_time_where_a_person_looks_at_each(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    text = """
default_state: {raw: {n: 0}}
steps:
  - {id: a, type: state_update, path: raw.n, operation: increment}
  - {id: b, type: shell_command, command: "echo x >> ran"}
  - {id: c, type: state_update, path: raw.n, operation: increment}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.run(credits=1)
        await flows.waits(id, "credit")
        assert (await flows.flat(id), (tmp_path / "ran").exists()) == ({"n": 1}, False)
        await store.write(lambda tx: _allow(tx, id, 1), caller=SYSTEM)
        await flows.waits(id, "credit")
        assert (await flows.flat(id), (tmp_path / "ran").read_text()) == ({"n": 1}, "x\n")
        await store.write(lambda tx: _allow(tx, id, 1), caller=SYSTEM)
        assert (await flows.over(id)).status == "completed"
        assert await flows.flat(id) == {"n": 2}


async def test_what_was_foreseen_is_dropped_when_somebody_has_changed_the_flow(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    told, silent = "{type: user_message, message: here}", "{type: state_update, path: raw.n, operation: increment}"
    text = f"steps: [{', '.join([told, *[silent] * 1000])}]"
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.run()

        def has_begun(tx: ReadTx) -> bool | None:
            return all_flows.get(tx, FlowId(id)).last_step > 0 or None

        def allow_three(tx: Tx) -> int:
            _allow(tx, id, 3)
            return all_flows.get(tx, FlowId(id)).last_step

        await flows.until(has_begun)
        before = await store.write(allow_three, caller=SYSTEM)
        assert (await flows.waits(id, "credit")).last_step == before + 3
        assert await flows.flat(id) == {"n": before + 2}


def _allow(tx: Tx, id: str, steps: int | None) -> None:
    flow = all_flows.get(tx, FlowId(id))
    all_flows.allow(tx, flow, steps)
    advancing.advance(tx, flow.id, flow.stream)


LOST = """
default_state: {raw: {log: []}}
steps:
  - {id: it, type: shell_command, command: "echo x >> ran; test -e free || (echo > pipe; sleep 600)", idempotent: %s}
  - {id: end, type: state_update, path: raw.log, operation: append, value: end}
"""


async def _interrupted(flows: Flows, folder: Path) -> str:
    """A flow whose host went in the middle of its command."""
    os.mkfifo(folder / "pipe")
    async with flows.hosted():
        id = await flows.run()
        async with asyncio.timeout(SECONDS):
            await asyncio.to_thread((folder / "pipe").read_text)
    assert [one.status for one in await flows.strands(id)] == ["doing"]
    (folder / "free").touch()
    return id


def _asked(tx: ReadTx, flows: Flows) -> Request | None:
    return next(iter(requests.open_of(tx, flows.house.stream)), None)


async def _answer(flows: Flows, answer: str) -> str:
    """A person's answer to the question that is open; returns the question."""
    asked = await flows.until(lambda tx: _asked(tx, flows))
    await flows.done("request_respond", request_id=asked.id, answer=answer)
    return asked.title


@pytest.mark.parametrize(
    ("answer", "status", "ran"), [("retry", "completed", 2), ("skip", "completed", 1), ("fail", "failed", 1)]
)
async def test_a_command_of_which_nobody_knows_whether_it_was_done_is_a_question_to_a_person(
    store: Store, tmp_path: Path, sandbox: Sandbox, answer: str, status: str, ran: int
) -> None:
    async with laid_out(store, tmp_path, sandbox, {"flow": LOST % "false"}) as flows:
        id = await _interrupted(flows, tmp_path)
        async with flows.hosted():
            await flows.waits(id, "person")
            assert (tmp_path / "ran").read_text() == "x\n"
            title = await _answer(flows, answer)
            assert title.startswith("Was `echo x >> ran; test -e free")
            assert (await flows.over(id)).status == status
        assert (await flows.flat(id))["log"] == (["end"] if status == "completed" else [])
        assert (tmp_path / "ran").read_text() == "x\n" * ran
        assert not list((tmp_path / "marks").iterdir())


async def test_who_resumes_a_flow_that_could_not_be_carried_out_runs_no_command_twice(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with laid_out(store, tmp_path, sandbox, {"flow": LOST % "false"}) as flows:
        id = await _interrupted(flows, tmp_path)

        def fail_and_resume(tx: Tx) -> None:
            all_flows.end(tx, all_flows.get(tx, FlowId(id)), "failed", "The sandbox is gone.")
            flow = all_flows.get(tx, FlowId(id))
            assert resuming.resume(tx, flow, compiling.compiled(all_flows.files(tx, flow.id)))
            advancing.advance(tx, flow.id, flow.stream)

        await store.write(fail_and_resume, caller=SYSTEM)
        async with flows.hosted():
            await _answer(flows, "skip")
            assert (await flows.over(id)).status == "completed"
        assert (tmp_path / "ran").read_text() == "x\n"


async def test_a_command_that_may_be_run_twice_is_run_again_without_a_question(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with laid_out(store, tmp_path, sandbox, {"flow": LOST % "true"}) as flows:
        id = await _interrupted(flows, tmp_path)
        async with flows.hosted():
            assert (await flows.over(id)).status == "completed"
        assert (tmp_path / "ran").read_text() == "x\nx\n"


async def test_a_command_that_has_not_begun_is_run_without_a_question(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with laid_out(store, tmp_path, sandbox, {"flow": LOST % "false"}) as flows:
        id = await _interrupted(flows, tmp_path)
        (tmp_path / "ran").unlink()
        for mark in (tmp_path / "marks").iterdir():
            mark.unlink()
        async with flows.hosted():
            assert (await flows.over(id)).status == "completed"
        assert (tmp_path / "ran").read_text() == "x\n"


async def test_what_was_begun_in_another_place_is_a_question_too(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with laid_out(store, tmp_path, sandbox, {"flow": LOST % "false"}) as flows:
        id = await _interrupted(flows, tmp_path)
        for mark in (tmp_path / "marks").iterdir():
            mark.unlink()
        elsewhere = dataclasses.replace(flows, deeds=replace(flows.deeds, place="there"))
        async with elsewhere.hosted():
            await flows.waits(id, "person")
            assert (tmp_path / "ran").read_text() == "x\n"


async def test_an_outcome_that_meets_a_changed_flow_is_not_lost_and_its_command_not_run_again(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
steps:
  - {id: it, type: shell_command, command: "echo x >> ran", state_update: {path: raw.said, value: "{{ 'done' }}"}}
"""
    async with laid_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.run()
        meddled = dataclasses.replace(flows, evaluator=Meddling(sandbox, store, id))
        async with meddled.hosted():
            assert (await flows.over(id)).status == "completed"
        assert (tmp_path / "ran").read_text() == "x\n"
        assert await flows.steps(id) == ["it.shell_command success"]
        assert await flows.flat(id) == {"said": "done"}


class Meddling:
    """The flow has changed by the time that something of it was evaluated, the first few times."""

    def __init__(self, inner: Evaluator, store: Store, id: str) -> None:
        self._inner, self._store, self._id = inner, store, FlowId(id)
        self._left = 5

    async def evaluate(self, scope: Mapping[str, str], evaluations: Sequence[Evaluation]) -> list[Outcome]:
        found = await self._inner.evaluate(scope, evaluations)
        if evaluations and self._left:
            self._left -= 1
            await self._store.write(lambda tx: all_flows.take_over(tx, self._id), caller=SYSTEM)
        return found


async def test_a_host_that_stops_lets_its_command_end_and_begins_no_other(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
steps:
  - {id: one, type: shell_command, command: "echo one >> ran; echo > pipe; read line < pipe"}
  - {id: two, type: shell_command, command: "echo two >> ran"}
"""
    os.mkfifo(tmp_path / "pipe")
    async with laid_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.run()
        host = flows.host()
        async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as group:
            group.create_task(host.run())
            await asyncio.to_thread((tmp_path / "pipe").read_text)
            host.stop()
            await asyncio.to_thread((tmp_path / "pipe").write_text, "go\n")
        assert (tmp_path / "ran").read_text() == "one\n"
        assert await flows.steps(id) == ["one.shell_command success"]
        async with flows.hosted():
            assert (await flows.over(id)).status == "completed"
        assert (tmp_path / "ran").read_text() == "one\ntwo\n"


async def test_a_holder_that_was_taken_the_job_from_begins_nothing(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    """It is held up in an evaluation while another takes the flow over, or its own host does."""
    text = """
steps:
  - {id: one, type: shell_command, command: "echo one >> ran"}
  - {id: two, type: shell_command, command: "echo {{ 'two' }} >> ran"}
"""
    async with laid_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.run()
        slow = Held(sandbox)
        first = dataclasses.replace(flows, evaluator=slow)
        async with first.hosted():
            async with asyncio.timeout(SECONDS):
                await slow.reached.wait()
            await store.write(lambda tx: _lose(tx, flows), caller=SYSTEM)
            async with flows.hosted():
                assert (await flows.over(id)).status == "completed"
            slow.go_on.set()
        assert (tmp_path / "ran").read_text() == "one\ntwo\n"


def _lose(tx: Tx, flows: Flows) -> None:
    """Every lease has run out."""
    for one in jobs.live(tx, flows.house.stream):
        assert one.owner is not None
        jobs.abandon(tx, one.owner)


class Held:
    """Evaluates for the first time when it is let."""

    def __init__(self, inner: Evaluator) -> None:
        self._inner = inner
        self.reached, self.go_on = asyncio.Event(), asyncio.Event()

    async def evaluate(self, scope: Mapping[str, str], evaluations: Sequence[Evaluation]) -> list[Outcome]:
        if evaluations and not self.reached.is_set():
            self.reached.set()
            await self.go_on.wait()
        return await self._inner.evaluate(scope, evaluations)


class Beaten(Deeds):
    """Where whoever had a flow before begins a command after all, just when another takes it for not begun."""

    def is_repeatable(self, strand: Strand) -> bool:
        is_free = super().is_repeatable(strand)
        if is_free:
            (self.marks / f"{strand.flow}-{strand.number}-{strand.since}-{strand.tries}").write_text("another")
        return is_free


async def test_a_command_that_another_has_begun_meanwhile_is_not_begun_again_but_asked_about(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with laid_out(store, tmp_path, sandbox, {"flow": LOST % "false"}) as flows:
        id = await _interrupted(flows, tmp_path)
        for mark in (tmp_path / "marks").iterdir():
            mark.unlink()
        deeds = flows.deeds
        flows.deeds = Beaten(store, deeds.root, deeds.marks, deeds.place, deeds.guardian)
        async with flows.hosted():
            asked = await flows.until(lambda tx: _asked(tx, flows))
            assert asked.title.endswith("done? moot ended in the middle of it.")
        assert [one.status for one in await flows.strands(id)] == ["waiting"]
        assert (tmp_path / "ran").read_text() == "x\n"


async def test_of_two_who_take_themselves_for_the_holder_one_runs_a_command(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    def connect() -> Servers:
        raise AssertionError("nobody calls another server here")

    async with laid_out(store, tmp_path, sandbox, {"flow": LOST % "false"}) as flows:
        id = await _interrupted(flows, tmp_path)
        for mark in (tmp_path / "marks").iterdir():
            mark.unlink()
        (strand,), flow = await flows.strands(id), await flows.flow(id)
        both = await asyncio.gather(*(flows.deeds.do(flow, strand, connect) for _ in range(2)))
        assert sorted(one is None for one in both) == [False, True]
        assert (tmp_path / "ran").read_text() == "x\nx\n"  # the interrupted one, and one of these


async def test_whoever_has_lost_a_flow_knows_it_before_it_begins_anything(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    def lose(tx: Tx) -> None:
        jobs.cancel(tx, advancing.key(FlowId(id)))

    async with laid_out(store, tmp_path, sandbox, {"flow": LOST % "false"}) as flows:
        id = await flows.run()

        def take(tx: Tx) -> Job:
            return jobs.take(tx, Appetite(HostId("ho_1"), 0, 1))[0]

        job = await store.write(take, caller=SYSTEM)
        assert await store.read(lambda tx: jobs.is_owned(tx, job))
        await store.write(lose, caller=SYSTEM)
        assert not await store.read(lambda tx: jobs.is_owned(tx, job))
