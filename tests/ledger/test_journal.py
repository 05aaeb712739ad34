"""The journal of sessions: what is begun and ended, set aside, lost and charged, on both databases."""

import pytest

from moot.core.ids import AgentId, AttemptId, JobId, RunId
from moot.core.tx import Tx
from moot.ledger import journal, traces, usage
from moot.ledger.journal import Account, Closed, Opened, Tree
from moot.store.store import Store
from tests.registry.house import build

RUN, ANN, BOB = RunId("wf_1"), AgentId("ag_ann"), AgentId("ag_bob")
HERS = Account(AttemptId("at_1"), RUN, ANN)
HIS = Account(AttemptId("at_2"), RUN, BOB)


def model(path: str, number: int = 1, reserve: int = 500) -> Opened:
    return Opened(path, number, "model", "m", "ann", "turn", '{"last":"so"}', reserve)


async def test_what_is_begun_and_what_came_of_it_is_on_record(store: Store) -> None:
    house = await build(store)

    def change(tx: Tx) -> None:
        journal.begin(tx, "r", HERS, [model("t1/m"), model("t2/m")])
        journal.end(tx, "r", [Closed("t1/m", 1, "failed", None, "timeout", "late")])
        journal.begin(tx, "r", HERS, [model("t1/m", 2)])
        journal.end(tx, "r", [Closed("t1/m", 2, "done", '"yes"', "end", None, 400, 10, 5, 3, 2, 1, is_estimated=True)])

    await house.write(change)
    entries = await house.read(lambda tx: journal.entries(tx, "r"))
    assert [(one.path, one.number, one.state, one.result) for one in entries] == [
        ("t1/m", 1, "failed", None),
        ("t1/m", 2, "done", '"yes"'),
        ("t2/m", 1, "started", None),
    ]
    assert [one.facts for one in entries] == [{"last": "so"}] * 3
    first, second, third = await house.read(lambda tx: traces.steps(tx, "r"))
    assert (first.path, first.number, first.state, first.stop, first.error) == ("t1/m", 1, "failed", "timeout", "late")
    assert (second.number, second.state, second.cost) == (2, "done", 400)
    assert (second.input_tokens, second.output_tokens, second.reasoning_tokens) == (10, 5, 1)
    assert (second.cache_read_tokens, second.cache_write_tokens, second.is_estimated) == (3, 2, True)
    assert (third.state, third.reserve, third.ended_at) == ("started", 500, None)
    assert await house.read(lambda tx: journal.entries(tx, "other")) == []


async def test_what_is_set_aside_is_given_back_when_the_end_is_on_record(store: Store) -> None:
    house = await build(store)
    await house.write(lambda tx: journal.begin(tx, "r", HERS, [model("t1/m"), model("t2/m", reserve=70)]))
    await house.write(lambda tx: journal.begin(tx, "s", HIS, [model("t1/m", reserve=9)]))
    await house.write(lambda tx: journal.end(tx, "r", [Closed("t1/m", 1, "done")]))
    assert await house.read(lambda tx: journal.reserved(tx, RUN)) == 79
    assert await house.read(lambda tx: journal.reserved(tx, RUN, ANN)) == 70
    assert await house.read(lambda tx: journal.reserved(tx, RunId("wf_2"))) == 0


async def test_what_nobody_saw_end_is_unknown_and_charged_once(store: Store) -> None:
    house = await build(store)

    def change(tx: Tx) -> None:
        usage.begin(tx, RUN, ANN)
        journal.begin(tx, "r", HERS, [model("t1/m"), model("t2/m", reserve=70)])
        journal.begin(tx, "s", HIS, [model("t1/m")])
        journal.end(tx, "r", [Closed("t1/m", 1, "done", cost=1)])
        journal.lose(tx, HERS.attempt)
        journal.lose(tx, HERS.attempt)

    await house.write(change)
    done, lost = await house.read(lambda tx: traces.steps(tx, "r"))
    assert (done.state, done.cost, done.is_estimated) == ("done", 1, False)
    assert (lost.state, lost.cost, lost.is_estimated) == ("unknown", 70, True)
    found = await house.read(lambda tx: usage.of_agent(tx, RUN, ANN))
    assert (found.cost, found.is_estimated) == (70, True)
    assert await house.read(lambda tx: journal.reserved(tx, RUN)) == 500  # his is still under way


async def test_the_last_tree_of_an_agent_is_found_with_what_it_was_begun_with(store: Store) -> None:
    house = await build(store)
    old, new = Tree("jb_1", JobId("jb_1"), 1, {"a": 1}), Tree("jb_1#2", JobId("jb_1"), 2, {"b": [2]})
    await house.write(lambda tx: journal.plant(tx, old, ANN))
    await house.write(lambda tx: journal.fell(tx, "jb_1", "limit"))
    await house.write(lambda tx: (journal.plant(tx, new, ANN), journal.plant(tx, new, ANN)))
    await house.write(lambda tx: journal.plant(tx, Tree("jb_2", JobId("jb_2")), BOB))
    assert await house.read(lambda tx: journal.last_tree(tx, ANN)) == new
    await house.write(lambda tx: journal.fell(tx, "jb_1#2", "refused"))
    assert (await house.read(lambda tx: journal.last_tree(tx, ANN))) == Tree(
        "jb_1#2", JobId("jb_1"), 2, {"b": [2]}, "refused"
    )
    assert await house.read(lambda tx: journal.last_tree(tx, AgentId("ag_cy"))) is None


async def test_one_agent_is_forgotten_and_no_other(store: Store) -> None:
    house = await build(store)

    def change(tx: Tx) -> None:
        for account, root in ((HERS, "r"), (HIS, "s")):
            journal.plant(tx, Tree(root, JobId(root)), account.owner)
            journal.begin(tx, root, account, [model("t1/m")])
        journal.forget(tx, ANN)

    await house.write(change)
    assert await house.read(lambda tx: journal.entries(tx, "r")) == []
    assert await house.read(lambda tx: journal.last_tree(tx, ANN)) is None
    assert len(await house.read(lambda tx: journal.entries(tx, "s"))) == 1
    assert await house.read(lambda tx: journal.last_tree(tx, BOB)) is not None


async def test_one_try_is_begun_once(store: Store) -> None:
    house = await build(store)
    await house.write(lambda tx: journal.begin(tx, "r", HERS, [model("t1/m")]))
    with pytest.raises(Exception, match=r"(?i)unique"):
        await house.write(lambda tx: journal.begin(tx, "r", HERS, [model("t1/m")]))
