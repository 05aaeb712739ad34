"""Requests end in time though nobody touches them; what waits for an agent is work, what waits for a person is not."""

from datetime import timedelta

from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.registry import agents
from moot.requests import requests
from moot.requests.requests import Answerer, Request
from moot.runner import idle
from moot.store.store import Store
from moot.tools import asking
from moot.tools.asking import Question, Reply
from tests.runner.team import Line, Team, gather, make_host, running

SILENT: list[Line] = [{"on": "nothing at all"}]
SOON = timedelta(milliseconds=100)


async def ask(team: Team, to: str, lasts: timedelta | None) -> Request:
    """As `ann`."""

    def change(tx: Tx) -> Request:
        ann = agents.named(tx, team.instance.stream, "ann")
        return asking.ask(tx, team.instance, ann, Question(to, "permission", "may I?", lasts=lasts))

    return await team.store.write(change, caller=SYSTEM)


async def answer(team: Team, request: Request, by: str) -> None:
    def change(tx: Tx) -> None:
        agent = agents.named(tx, team.instance.stream, by)
        asking.answer(tx, team.instance, request.id, Reply("approved"), Answerer(agent.name, agent.id))

    await team.store.write(change, caller=SYSTEM)


async def test_a_request_that_nobody_answers_ends_and_who_asked_is_woken(store: Store) -> None:
    team = await gather(store, {"ann": SILENT, "bob": SILENT})
    async with running(make_host(store)):
        request = await ask(team, "bob", SOON)
        await team.until_event(requests.ANSWERED)
        await team.idle()
    assert (await team.bodies())[-1] == f"system: [EXPIRED:{request.id}] may I?"
    assert len(await team.events("attempt_succeeded")) == 2
    assert await store.read(lambda tx: jobs.live(tx, team.instance.stream)) == []
    assert (await store.read(lambda tx: requests.get(tx, request.id))).state == "expired"


async def test_an_answer_before_the_end_keeps_it_from_expiring(store: Store) -> None:
    team = await gather(store, {"ann": SILENT, "bob": SILENT})
    request = await ask(team, "bob", timedelta(hours=1))
    assert [job.kind for job in await store.read(lambda tx: jobs.live(tx, team.instance.stream))] == [asking.EXPIRE]
    await answer(team, request, "bob")
    assert await store.read(lambda tx: jobs.live(tx, team.instance.stream)) == []


async def test_nothing_is_idle_while_an_agent_owes_an_answer(store: Store) -> None:
    team = await gather(store, {"ann": SILENT, "bob": SILENT})
    async with running(make_host(store)):
        request = await ask(team, "bob", timedelta(hours=1))
        await team.until_event("attempt_succeeded")
        await team.until(lambda tx: not [one for one in jobs.live(tx, team.instance.stream) if one.kind == "attempt"])
        assert not await store.read(lambda tx: idle.is_idle(tx, team.instance.stream))
        await answer(team, request, "bob")
        await team.idle()


async def test_what_a_person_owes_leaves_the_agents_idle(store: Store) -> None:
    team = await gather(store, {"ann": SILENT})
    await ask(team, "human", None)
    async with running(make_host(store)):
        await team.idle()
    assert [mail.kind for mail in await team.inbox("human")] == ["permission_request"]
