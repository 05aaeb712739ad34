"""What is asked and put to the vote is shown exactly, and answered as it was shown."""

import asyncio

from moot.core.caller import SYSTEM
from moot.core.ids import DEFAULT_INSTANCE, RequestId
from moot.core.tx import Tx
from moot.proposals import proposals
from moot.proposals.proposals import Elector, NewProposal, Proposal
from moot.registry import agents, instances
from moot.registry.agents import Agent
from moot.requests import requests
from moot.requests.requests import Request
from moot.store.store import Store
from moot.tools import asking
from moot.tools.asking import Question
from tests.api.desk import join
from tests.web.site import Browser, Site


async def asked(store: Store, agent: Agent, question: Question) -> Request:
    def change(tx: Tx) -> Request:
        instance = instances.get(tx, DEFAULT_INSTANCE)
        return asking.ask(tx, instance, agent, question)

    return await store.write(change, caller=SYSTEM)


async def proposed(store: Store, agent: Agent, title: str) -> Proposal:
    def change(tx: Tx) -> Proposal:
        instance = instances.get(tx, DEFAULT_INSTANCE)
        person = agents.person(tx, instance)
        electors = (Elector(agent.id, agent.name), Elector(person.id, person.name))
        options = {"red": "Red", "blue": "Blue"}
        new = NewProposal(instance.stream, instance.name, "decision", title, agent.name, electors, options=options)
        return proposals.propose(tx, new)

    return await store.write(change, caller=SYSTEM)


COMMAND = Question("human", "permission", "Run a command", "rm -rf build\n")


async def state(store: Store, id: RequestId) -> str:
    return (await store.read(lambda tx: requests.get(tx, id))).state


async def test_a_request_is_shown_with_exactly_what_will_run(browser: Browser, store: Store) -> None:
    ann = await join(store, "ann")
    request = await asked(store, ann, COMMAND)
    (shown,) = (await browser.get("/api/overview"))["needs"]["requests"]
    assert (shown["id"], shown["kind"], shown["from"], shown["title"]) == (
        request.id,
        "permission",
        "ann",
        "Run a command",
    )
    assert (shown["body"], shown["hash"]) == (request.body, request.hash)


async def test_an_answer_is_for_what_was_shown_and_nothing_else(browser: Browser, store: Store) -> None:
    ann = await join(store, "ann")
    request = await asked(store, ann, COMMAND)
    path = f"/api/requests/{request.id}"
    wrong = {"verdict": "approved", "hash": "0" * 64}
    assert await browser.refused(path, wrong) == (409, "REQUEST_CHANGED")
    assert await browser.refused(path, {"verdict": "approved"}) == (400, "INVALID_INPUT")
    assert await browser.refused(path, {"verdict": "maybe", "hash": request.hash}) == (400, "INVALID_INPUT")
    assert await state(store, request.id) == "open"
    answer = await browser.post(path, {"verdict": "approved", "hash": request.hash, "answer": "go"})
    assert (answer["request"]["state"], answer["request"]["answered_by"]) == ("approved", "human")
    assert (await browser.get("/api/overview"))["needs"] == {"requests": [], "votes": [], "mail": []}
    again = {"verdict": "denied", "hash": request.hash}
    assert await browser.refused(path, again) == (409, "REQUEST_CLOSED")
    assert await browser.refused("/api/requests/rq_none", again) == (404, "REQUEST_NOT_FOUND")


async def test_a_question_is_answered_in_words(browser: Browser, store: Store) -> None:
    ann = await join(store, "ann")
    request = await asked(store, ann, Question("human", "question", "Which colour?", options=("red", "blue")))
    path = f"/api/requests/{request.id}"
    wrong = {"verdict": "answered", "hash": request.hash, "answer": "green"}
    assert await browser.refused(path, wrong) == (400, "ANSWER_REFUSED")
    await browser.post(path, {"verdict": "answered", "hash": request.hash, "answer": "RED"})
    assert (await store.read(lambda tx: requests.get(tx, request.id))).answer == "red"
    assert [one["state"] for one in (await browser.get("/api/requests"))["requests"]] == ["answered"]
    assert (await browser.get("/api/requests", open="true"))["requests"] == []


async def test_only_one_of_two_who_answer_at_once_has_answered(site: Site, store: Store) -> None:
    ann = await join(store, "ann")
    request = await asked(store, ann, COMMAND)
    async with site.browser() as one, site.browser() as two:
        body = {"hash": request.hash}
        answers = await asyncio.gather(
            one.send(f"/api/requests/{request.id}", {**body, "verdict": "approved"}),
            two.send(f"/api/requests/{request.id}", {**body, "verdict": "denied"}),
        )
    assert sorted(one.status_code for one in answers) == [200, 409]


async def test_votes_are_counted_as_they_come(browser: Browser, store: Store) -> None:
    ann = await join(store, "ann")
    proposal = await proposed(store, ann, "Which colour?")
    (waits,) = (await browser.get("/api/overview"))["needs"]["votes"]
    assert [one["label"] for one in waits["options"]] == ["Red", "Blue"]
    path = f"/api/proposals/{proposal.id}/vote"
    assert await browser.refused(path, {"choice": "green"}) == (400, "OPTION_UNKNOWN")
    voted = (await browser.post(path, {"choice": "blue", "reason": "calm"}))["proposal"]
    assert [(one["id"], one["votes"], one["voters"]) for one in voted["options"]] == [
        ("red", 0, []),
        ("blue", 1, ["human"]),
    ]
    assert (voted["status"], voted["waits_for"]) == ("active", ["ann"])
    assert (await browser.get("/api/overview"))["needs"]["votes"] == []


async def test_proposals_are_seen_in_windows(browser: Browser, store: Store) -> None:
    ann = await join(store, "ann")
    for number in range(5):
        await proposed(store, ann, str(number))
    last = await browser.get("/api/proposals", limit=2)
    assert ([one["title"] for one in last["proposals"]], last["has_older"]) == (["3", "4"], True)
    before = await browser.get("/api/proposals", limit=3, before=last["proposals"][0]["id"])
    assert ([one["title"] for one in before["proposals"]], before["has_older"]) == (["0", "1", "2"], False)
    assert len((await browser.get("/api/proposals", open="true"))["proposals"]) == 5
