"""Runs whose ends, budgets and instances are decided by two at once, on connections of their own."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from moot.core.ids import AgentId, AttemptId, JobId
from moot.core.tx import Tx
from moot.ledger import journal
from moot.ledger.journal import Account, Opened, Tree
from moot.registry import agents, hosts, runs
from moot.registry.agents import NewAgent
from moot.registry.hosts import NewHost
from moot.registry.instances import Instance
from moot.registry.runs import InstanceBusy, NewRun, Run
from moot.runner import limits, phases, purses, removal
from moot.runner.phases import FolderTaken
from moot.store.postgres import PostgresStore
from moot.workflow import stored
from moot.workflow.workflow import AgentDefinition, Budget, Context, Workflow
from tests.interleave import interleave
from tests.registry.house import House, build

DOLLAR = 1_000_000
TALK = Workflow("talk", "talk.yaml", (AgentDefinition("ann", "scripted"),), budget=Budget(cost=1.0))


def launch(tx: Tx, house: House, workflow: Workflow = TALK) -> Run:
    host = hosts.register(tx, NewHost("here", "1", ("run",)))
    new = NewRun(workflow.name, workflow.file, "run", stored.to_json(workflow), {}, host)
    return phases.launch(tx, house.instance, new, [NewAgent("ann", backend="scripted")])


PIECES: dict[str, Callable[[Tx, Instance], None]] = {
    "talk": lambda tx, instance: removal.forget_talk(tx, instance, 1000),
    "rest": removal.forget,
}


@pytest.mark.parametrize("piece", PIECES)
async def test_nothing_of_an_instance_is_removed_in_which_a_run_begins_meanwhile(
    pg_store: PostgresStore, piece: str
) -> None:
    house = await build(pg_store)

    def remove(tx: Tx) -> str:
        try:
            PIECES[piece](tx, house.instance)
        except InstanceBusy as error:
            return error.code
        return "removed"

    met = await interleave(pg_store, lambda tx: launch(tx, house), remove)
    assert met.second_waited
    assert met.second == "INSTANCE_BUSY"
    assert await house.read(lambda tx: runs.get(tx, met.first.id).state) == "live"


async def test_of_two_runs_whose_files_would_lie_in_one_folder_one_is_refused(pg_store: PostgresStore) -> None:
    here, there = await build(pg_store), await build(pg_store, "there")
    workflow = replace(TALK, context=Context(dir="talk/"))
    before = await here.write(lambda tx: launch(tx, here, workflow))
    await here.write(lambda tx: phases.close(tx, before.id, "stopped", "here"))

    def second(tx: Tx) -> str:
        try:
            return launch(tx, there, workflow).id
        except FolderTaken as error:
            return error.fact

    met = await interleave(pg_store, lambda tx: launch(tx, here, workflow), second)
    assert met.second_waited
    assert met.second == "The run of talk in default keeps its files in talk, too."
    await here.write(lambda tx: phases.close(tx, met.first.id, "stopped", "here"))
    assert (await there.write(second)).startswith("wf_")


async def test_the_end_of_a_run_leaves_the_agents_of_the_next_alone(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    run = await house.write(lambda tx: launch(tx, house))

    def begin_another(tx: Tx) -> Run:
        assert phases.close(tx, run.id, "stopped", "here")
        return launch(tx, house)

    met = await interleave(pg_store, begin_another, lambda tx: phases.close(tx, run.id, "failed", "there"))
    assert met.second_waited
    found = await house.read(lambda tx: [runs.get(tx, one) for one in (run.id, met.first.id)])
    assert [(one.state, one.reason) for one in found] == [("stopped", "here"), ("live", "")]
    assert (await house.read(lambda tx: agents.named(tx, house.stream, "ann"))).stopped_at is None


async def test_of_two_who_set_money_aside_at_once_only_one_finds_room(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    run = await house.write(lambda tx: launch(tx, house))
    ann = (await house.read(lambda tx: agents.named(tx, house.stream, "ann"))).id
    met = await interleave(pg_store, set_aside(run, ann, "one"), set_aside(run, ann, "two"))
    assert met.second_waited
    assert (met.first, met.second) == (None, "budget: $1.00")
    assert await house.read(lambda tx: journal.reserved(tx, run.id)) == 6 * DOLLAR // 10


def set_aside(run: Run, owner: AgentId, root: str) -> Callable[[Tx], str | None]:
    """For a request that may cost more than half of what there is; the limit, if there is no room."""
    cost = 6 * DOLLAR // 10

    def change(tx: Tx) -> str | None:
        limits.hold(tx, run)
        money = purses.money(tx, purses.of_run(run))
        if money is not None and money.left < cost:
            return money.share.reason
        journal.plant(tx, Tree(root, JobId(f"jb_{root}")), owner)
        asked = Opened("t1/m", 1, "model", "m", "ann", "root", "{}", cost)
        journal.begin(tx, root, Account(AttemptId(f"at_{root}"), run.id, owner), [asked])
        return None

    return change
