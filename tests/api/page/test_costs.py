"""What was done and what it cost is seen one after the other, by whom, for what, and when."""

from moot.board.claims import Holder
from moot.core.caller import SYSTEM
from moot.core.ids import DEFAULT_INSTANCE
from moot.core.tx import Query, Tx
from moot.ledger.usage import Spent
from moot.runner import removal
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.api import books
from tests.api.books import Begun
from tests.board import desk as boards
from tests.web.site import Browser

_LEFT = Query("left", "select 1 from spending", "select 1 from spending")


async def begun(store: Store, name: str, model: str = "opus") -> Begun:
    return await store.write(lambda tx: books.begin(tx, books.join(tx, name, model=model)), caller=SYSTEM)


async def spend(store: Store, one: Begun, dollars: float) -> None:
    def change(tx: Tx) -> None:
        one.spend(tx, Spent(10, 5, 1, dollars))

    await store.write(change, caller=SYSTEM)


async def test_costs_are_seen_by_agent_and_model(browser: Browser, store: Store) -> None:
    ann, bob = await begun(store, "ann"), await begun(store, "bob", "haiku")
    await spend(store, ann, 0.5)
    await spend(store, bob, 0.25)
    by_agent = await browser.get("/api/costs")
    assert {one["name"]: one["cost"] for one in by_agent["lines"]} == {"ann": 0.5, "bob": 0.25}
    assert by_agent["total"]["cost"] == 0.75
    by_model = await browser.get("/api/costs", by="model")
    assert {one["name"]: one["cost"] for one in by_model["lines"]} == {"opus": 0.5, "haiku": 0.25}
    assert await browser.refused("/api/costs", by="weather") == (400, "INVALID_INPUT")


async def test_costs_are_seen_over_time(browser: Browser, store: Store, clock: ManualClock) -> None:
    ann, bob = await begun(store, "ann"), await begun(store, "bob", "haiku")
    await spend(store, ann, 0.5)
    await spend(store, bob, 0.125)
    clock.advance(7200)
    await spend(store, ann, 0.25)
    await spend(store, ann, 0.25)
    found = await browser.get("/api/costs/time")
    assert [(one["name"], one["cost"], one["tokens"]) for one in found["points"]] == [
        ("ann", 0.5, 15),
        ("bob", 0.125, 15),
        ("ann", 0.5, 30),
    ]
    assert found["points"][0]["at"] == found["points"][1]["at"] < found["points"][2]["at"]
    late = await browser.get("/api/costs/time", by="model", seconds=3600)
    assert [(one["name"], one["cost"]) for one in late["points"]] == [("opus", 0.5)]


async def test_what_an_agent_uses_while_it_holds_a_task_is_used_for_it(
    browser: Browser, store: Store, clock: ManualClock
) -> None:
    ann = await begun(store, "ann")
    holder = Holder(ann.agent.id, "ann", "tok_ann")
    desk = await boards.desk(store, "first", "second", "third")
    await spend(store, ann, 4)  # for nothing of it
    for name, dollars in (("first", 1), ("second", 2)):
        clock.advance(60)
        await desk.claim(name, holder)
        clock.advance(60)
        await spend(store, ann, dollars)
        await desk.complete(name, holder)
    clock.advance(60)
    await desk.claim("third", holder)
    await spend(store, ann, 0.5)
    found = await browser.get("/api/costs", by="task")
    assert [(one["name"], one["cost"]) for one in found["lines"]] == [("second", 2), ("first", 1), ("third", 0.5)]
    assert found["total"]["cost"] == 7.5


async def test_what_was_tried_and_called_is_seen_one_after_the_other(browser: Browser, store: Store) -> None:
    ann, bob = await begun(store, "ann"), await begun(store, "bob")
    await browser.post("/api/messages", {"message": "@ann hello"})
    first = await browser.get("/api/timeline", limit=1)
    assert [(one["kind"], one["agent"], one["id"]) for one in first["operations"]] == [("attempt", "bob", bob.attempt)]
    rest = await browser.get("/api/timeline", before=first["next"])
    assert ([one["id"] for one in rest["operations"]], rest["next"]) == ([ann.attempt], None)
    only = await browser.get("/api/timeline", agent="ann")
    assert [one["id"] for one in only["operations"]] == [ann.attempt]
    traced = await browser.get(f"/api/trace/{ann.attempt}")
    assert [one["id"] for one in traced["nodes"]] == [ann.attempt]
    assert await browser.refused("/api/trace/at_none") == (404, "NOTHING_TRACED")


async def test_what_was_spent_is_forgotten_with_its_instance(browser: Browser, store: Store) -> None:
    ann = await begun(store, "ann")
    await spend(store, ann, 1)
    await removal.remove(store, DEFAULT_INSTANCE, SYSTEM)
    again = await begun(store, "ann")
    assert again.agent.id != ann.agent.id
    assert await store.read(lambda tx: tx.all(_LEFT, int)) == []
