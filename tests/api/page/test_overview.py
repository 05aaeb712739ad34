"""The first view says what needs the person, who works on what, and what it costs; and where nothing is yet, that."""

from moot.core.caller import SYSTEM
from moot.core.ids import InstanceName
from moot.core.tx import Tx
from moot.ledger import budgets
from moot.ledger.budgets import Guards, Limits
from moot.ledger.usage import DOLLAR, Spent
from moot.registry import instances, runs
from moot.registry.runs import NewRun
from moot.store.store import Store
from tests.api import books
from tests.api.desk import join, say
from tests.api.page.test_decisions import COMMAND, asked
from tests.web.site import Browser


async def test_a_store_in_which_nothing_has_happened_is_an_empty_view(browser: Browser) -> None:
    found = await browser.get("/api/overview")
    assert (found["exists"], found["messages"], found["agents"], found["run"]) == (False, [], [], None)
    for path, lists in (
        ("/api/agents", ("agents",)),
        ("/api/messages", ("messages",)),
        ("/api/requests", ("requests",)),
        ("/api/proposals", ("proposals",)),
        ("/api/documents", ("documents",)),
        ("/api/plans", ("plans",)),
        ("/api/flows", ("flows",)),
        ("/api/timeline", ("operations",)),
        ("/api/costs", ("lines",)),
        ("/api/costs/time", ("points",)),
    ):
        view = await browser.get(path)
        assert [view[one] for one in lists] == [[]], path


async def test_a_run_is_shown_with_its_budget(browser: Browser, store: Store) -> None:
    def change(tx: Tx) -> None:
        run = books.run(tx, "review")
        budgets.open(tx, run.id, Limits(cost=10 * DOLLAR, attempts=200), Guards(None, None))
        begun = books.begin(tx, books.join(tx, "coder"), run)
        begun.spend(tx, Spent(100, 20, 3, 2.5))

    await store.write(change, caller=SYSTEM)
    found = await browser.get("/api/overview")
    assert (found["run"]["name"], found["run"]["state"]) == ("review", "live")
    assert {one["kind"]: (one["used"], one["limit"]) for one in found["budget"]} == {
        "cost": (2.5, 10),
        "attempts": (1, 200),
    }
    assert (found["usage"]["cost"], found["usage"]["tokens"]) == (2.5, 120)


async def test_what_needs_the_person_is_told_of_all_instances(browser: Browser, store: Store) -> None:
    ann = await join(store, "ann")
    other = await join(store, "bob", instance=InstanceName("other"))
    await asked(store, ann, COMMAND)
    await say(store, other, "@human look")
    needs = (await browser.get("/api/overview"))["needs"]
    assert [one["instance"] for one in needs["requests"]] == ["default"]
    assert [(one["instance"], one["message"]) for one in needs["mail"]] == [("other", "@human look")]
    names = [one["name"] for one in (await browser.get("/api/instances"))["instances"]]
    assert names == ["default", "other"]
    there = await browser.get("/api/overview", instance="other")
    assert [one["message"] for one in there["messages"]] == ["@human look"]


async def test_a_question_that_was_answered_is_left_out_unless_everything_is_wanted(
    browser: Browser, store: Store
) -> None:
    def change(tx: Tx) -> None:
        new = NewRun("triage", "triage.md", "run", {"agents": []}, {}, books.HOST)
        runs.end(tx, runs.start(tx, instances.ensure(tx, "ask-1"), new), "done", "")

    await store.write(change, caller=SYSTEM)
    await join(store, "ann")
    assert [one["name"] for one in (await browser.get("/api/instances"))["instances"]] == ["default"]
    assert len((await browser.get("/api/instances", all="true"))["instances"]) == 2
