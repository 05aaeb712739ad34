"""The path, the calls and the time of whatever has an id."""

from dataclasses import dataclass

import pytest

from moot.api import trace
from moot.api.trace import NothingTraced, Trace
from moot.bus import mailbox, messages
from moot.bus.messages import Draft, Recipient
from moot.core.caller import Caller
from moot.core.ids import InstanceName, JobId, MessageId, RunId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.ledger import journal, operations
from moot.ledger.journal import Closed, Tree
from moot.ledger.nodes import Node
from moot.ledger.operations import Deed
from moot.registry import attempts, runs
from moot.registry.errors import AgentNotFound
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.api import books
from tests.api.books import Asked, Begun
from tests.registry.house import House, build


@dataclass(frozen=True)
class Scene:
    """human asks lead (a session), lead asks coder (a program), coder answers."""

    house: House
    run: RunId
    lead: Begun
    coder: Begun
    asked: MessageId
    passed_on: MessageId
    answered: MessageId

    async def look(self, wanted: str | None, only: str | None = None) -> Trace:
        return await self.house.read(lambda tx: trace.look(tx, wanted, InstanceName(only) if only else None))

    async def drawn(self, wanted: str | None, only: str | None = None) -> list[str]:
        return drawn(await self.look(wanted, only))


def drawn(found: Trace) -> list[str]:
    below = found.below()

    def lines(parent: str | None, depth: int) -> list[str]:
        children = below.get(parent, [])
        return [line for one in children for line in (f"{'  ' * depth}{label(one)}", *lines(one.id, depth + 1))]

    return lines(None, 0)


def label(one: Node) -> str:
    state = "" if one.state in ("done", "succeeded") else f" {one.state}"
    said = f" {one.text}" if one.text else ""
    return f"{one.trigger or one.kind} {one.name}{state}{said}"


async def play(store: Store, clock: ManualClock) -> Scene:
    house = await build(store)

    def say(
        tx: Tx, sender: str, body: str, to: Begun | None = None, by: Begun | None = None, hops: int = 0
    ) -> MessageId:
        name = (to.agent.id, to.agent.name) if to else None
        draft = Draft(house.stream, sender, body, attempt=by.attempt if by else None, hops=hops)
        return messages.post(tx, draft, [Recipient(*name, is_service=False)] if name else []).id

    def begin(tx: Tx) -> tuple[RunId, Begun, MessageId]:
        run = books.run(tx, "fix")
        lead = books.begin(tx, books.join(tx, "lead", model="opus"), run)
        asked = say(tx, "human", "please fix it", lead)
        mailbox.hand_out(tx, lead.agent.id, lead.attempt, 50)
        lead.grow(tx)
        lead.open(tx, books.opened("", "session", "lead", "lead", "root"))
        return run.id, lead, asked

    run, lead, asked = await house.write(begin)
    clock.advance(1)

    def work(tx: Tx) -> tuple[Begun, MessageId]:
        books.ask(tx, lead, Asked("t1/m", "", "lead", cost=500, tokens=(10, 2)))
        lead.open(tx, books.opened("t1/c1", "tool", "channel_send", "lead"))
        coder = books.begin(tx, books.join(tx, "coder", backend="claude"), runs.get(tx, run))
        passed_on = say(tx, "lead", "@coder do it", coder, lead, 1)
        say(tx, "human", "by the way", coder)
        mailbox.hand_out(tx, coder.agent.id, coder.attempt, 50)
        return coder, passed_on

    coder, passed_on = await house.write(work)
    clock.advance(1)

    def answer(tx: Tx) -> MessageId:
        lead.close(tx, Closed("t1/c1", 1, "done", '{"text":"sent","is_error":false}'), Closed("", 1, "done"))
        caller = Caller("coder", "member", InstanceName("default"), coder.agent.id, attempt=coder.attempt)
        operations.begin(tx, Deed("tool", "document_write", ""), caller)
        failing = operations.begin(tx, Deed("shell", "make test", ""), caller, is_outside=True)
        assert failing is not None
        operations.fail(tx, failing, "exit code 2")
        return say(tx, "coder", "done", None, coder, 2)

    answered = await house.write(answer)
    clock.advance(1)

    def end(tx: Tx) -> None:
        for one in (lead, coder):
            mailbox.ack_attempt(tx, one.agent.id, one.attempt)
            attempts.end(tx, one.attempt, "succeeded")
        runs.end(tx, runs.get(tx, run), "done")

    await house.write(end)
    return Scene(house, run, lead, coder, asked, passed_on, answered)


LEAD = [
    "attempt lead",
    "  given human please fix it",
    "  root lead",
    "    turn turn 1",
    "      model opus",
    "      tool channel_send",
    "  said lead @coder do it",
]
CODER = [
    "attempt coder",
    "  given lead @coder do it",
    "  given human by the way",
    "  tool document_write",
    "  tool make test failed",
    "  said coder done",
]


async def test_a_run_is_its_attempts_with_what_they_were_given_did_and_said(store: Store, clock: ManualClock) -> None:
    scene = await play(store, clock)
    expected = ["run fix", *(f"  {line}" for line in (*LEAD, *CODER))]
    assert await scene.drawn(scene.run) == expected
    assert await scene.drawn(None) == expected, "it is what ran last"
    assert await scene.drawn("@default") == expected


async def test_an_attempt_and_an_agents_last_one_are_the_same(store: Store, clock: ManualClock) -> None:
    scene = await play(store, clock)
    assert await scene.drawn(scene.lead.attempt) == await scene.drawn("lead") == LEAD
    assert await scene.drawn(scene.coder.agent.id) == CODER
    found = await scene.look(scene.lead.attempt)
    assert found.totals[scene.lead.attempt].cost == 500
    assert found.lasted(found.nodes[0]).total_seconds() == 3


async def test_a_call_leads_to_the_attempt_that_made_it(store: Store, clock: ManualClock) -> None:
    scene = await play(store, clock)
    done = await scene.house.read(lambda tx: operations.of_attempt(tx, scene.coder.attempt))
    assert await scene.drawn(done[0].id) == CODER


async def test_a_message_stands_between_what_led_to_it_and_what_it_caused(store: Store, clock: ManualClock) -> None:
    scene = await play(store, clock)
    assert await scene.drawn(scene.passed_on) == [
        "message human please fix it",
        "  attempt lead",
        "    message lead @coder do it",
        "      attempt coder",
        *(f"      {line}" for line in CODER[2:]),
    ]
    assert (await scene.drawn(scene.answered))[-1] == "        message coder done"
    assert (await scene.drawn(scene.asked))[:2] == ["message human please fix it", "  attempt lead"]


async def test_a_delivery_shows_all_attempts_at_it_and_each_has_its_own_part(store: Store, clock: ManualClock) -> None:
    house = await build(store)

    def change(tx: Tx) -> JobId:
        agent = books.join(tx, "lead", model="opus")
        jobs.add(tx, NewJob("k", "attempt", agent.stream, agent.id))
        (job,) = jobs.live(tx, agent.stream)
        first = books.begin(tx, agent, job_id=job.id)
        first.grow(tx)
        first.open(tx, books.opened("", "session", "lead", "lead", "root"))
        books.ask(tx, first, Asked("t1/m", "", "lead", "unknown", cost=9))
        attempts.end(tx, first.attempt, "lost", "its host disappeared")
        second = books.begin(tx, agent, job_id=job.id, number=2)
        books.ask(tx, second, Asked("t1/m", "", "lead", cost=4, number=2))
        return job.id

    job = await house.write(change)
    found = await house.read(lambda tx: trace.look(tx, job))
    assert drawn(found) == [
        "job attempt queued",
        "  attempt lead lost",
        "    root lead unknown",
        "      turn turn 1",
        "        model opus unknown",
        "  attempt lead running",
        "    root lead",
        "      turn turn 1",
        "        model opus",
    ]
    assert found.totals[job].cost == 13
    assert len({one.id for one in found.nodes}) == len(found.nodes)


async def test_an_attempt_for_another_job_may_go_on_with_a_tree(store: Store, clock: ManualClock) -> None:
    scene = await play(store, clock)
    clock.advance(1)

    def go_on(tx: Tx) -> Begun:
        later = books.begin(tx, scene.lead.agent)
        journal.begin(tx, scene.lead.job, later.account, [books.opened("t2/m", "model", "haiku", "lead")])
        return later

    later = await scene.house.write(go_on)
    assert await scene.drawn(later.attempt) == [
        "attempt lead running",
        "  root lead",
        "    turn turn 2 started",
        "      model haiku started",
    ]
    assert (await scene.drawn(scene.lead.attempt)) == LEAD


async def test_a_tree_is_shown_whole_by_its_root(store: Store, clock: ManualClock) -> None:
    scene = await play(store, clock)
    root = f"{scene.lead.job}#2"

    def regrow(tx: Tx) -> None:
        journal.plant(tx, Tree(root, scene.lead.job, 2), scene.lead.agent.id)
        journal.begin(tx, root, scene.lead.account, [books.opened("t1/m", "model", "haiku", "lead")])

    await scene.house.write(regrow)
    assert await scene.drawn(root) == ["session lead started", "  turn turn 1 started", "    model haiku started"]
    with pytest.raises(NothingTraced):
        await scene.look(f"{scene.lead.job}#3")


async def test_a_job_that_is_no_delivery_is_shown_as_it_stands(store: Store) -> None:
    house = await build(store)

    def change(tx: Tx) -> JobId:
        jobs.add(tx, NewJob("k", "setup", house.stream, "x"))
        return jobs.live(tx, house.stream)[0].id

    job = await house.write(change)
    assert drawn(await house.read(lambda tx: trace.look(tx, job))) == ["job setup queued"]


@pytest.mark.parametrize("wanted", ["at_nothing", "ms_nothing", "jb_nothing", "op_nothing", "jb_nothing#2"])
async def test_what_is_not_on_record_is_said(store: Store, wanted: str) -> None:
    house = await build(store)
    with pytest.raises(NothingTraced, match="There is no"):
        await house.read(lambda tx: trace.look(tx, wanted))


async def test_who_has_not_worked_yet_and_who_is_not_there_are_told_apart(store: Store) -> None:
    house = await build(store)
    with pytest.raises(NothingTraced, match="Nobody has worked"):
        await house.read(lambda tx: trace.look(tx, None))
    await house.join("bob", "scripted")
    with pytest.raises(NothingTraced, match="bob has not worked yet"):
        await house.read(lambda tx: trace.look(tx, "bob"))
    with pytest.raises(AgentNotFound):
        await house.read(lambda tx: trace.look(tx, "eve"))


async def test_as_data_every_node_names_its_parent_and_none_tells_what_was_asked_or_answered(
    store: Store, clock: ManualClock
) -> None:
    scene = await play(store, clock)
    found = trace.document(await scene.look(scene.run))
    ids = [one["id"] for one in found]
    assert [one["id"] for one in found if one["parent"] is None] == [scene.run]
    assert all(one["parent"] in ids for one in found if one["parent"] is not None)
    (model,) = [one for one in found if one["kind"] == "model"]
    assert (model["cost"], model["input_tokens"], model["stop"], model["path"]) == (0.0005, 10, "end", "t1/m")
    assert "secret words" not in str(found)
