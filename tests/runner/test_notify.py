"""People are told that they are needed: once, by a command that finds what it needs in its environment."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import HostId
from moot.core.tx import Query, Tx
from moot.jobs import jobs
from moot.jobs.jobs import Appetite, Job
from moot.process import identity
from moot.process.guardian import Guardian
from moot.registry import agents, instances, runs
from moot.registry.agents import NewAgent
from moot.registry.hosts import NewHost
from moot.registry.runs import NewRun
from moot.requests.requests import Request
from moot.runner import idle, neighbours, react
from moot.runner.host import Host, Pace
from moot.runner.notify import NotifyWorker
from moot.runner.reactions.notify_people import NOTIFY
from moot.runner.worker import Worker
from moot.store.store import Store
from moot.tools import asking, talk
from moot.tools.asking import Question
from moot.tools.talk import Words
from moot.workflow import stored
from moot.workflow.workflow import AgentDefinition, Notify, Workflow
from tests.runner.team import Team, gather, running

WRITE = 'printf "%s|" "$MOOT_TO" "$MOOT_FROM" "$MOOT_KIND" "$MOOT_ID" "$MOOT_SUBJECT" "$MOOT_TEXT" >> told'
LAST = Query(
    "last",
    "select state || ' ' || coalesce(error, '') from jobs",
    "select state || ' ' || coalesce(error, '') from jobs",
)


@asynccontextmanager
async def host(store: Store, root: Path, notify: Notify | None, pace: Pace | None = None) -> AsyncGenerator[Host]:
    with Guardian() as guardian:

        def workers(id: HostId) -> Mapping[str, Worker]:
            return {NOTIFY: NotifyWorker(store, root, notify, guardian)}

        new = NewHost(neighbours.machine(), str(identity.current()), ("react", "work"))
        async with running(Host(store, new, workers, pace)) as found:
            yield found


async def as_coder(team: Team, body: str, *to: str) -> str:
    """Said by an agent from outside; the id of the message."""

    def change(tx: Tx) -> str:
        coder = agents.ensure(tx, team.instance, NewAgent("coder", backend="external"))
        return talk.say(tx, team.instance, coder, Words(body, to)).message.id

    return await team.store.write(change, caller=SYSTEM)


async def outcomes(store: Store) -> list[str]:
    return await store.read(lambda tx: tx.all(LAST, str))


async def test_a_person_is_told_what_was_said(store: Store, tmp_path: Path) -> None:
    team = await gather(store, {})
    body = "look: `$(touch hacked)` '\"; touch hacked #\nsecond line"
    id = await as_coder(team, body, "human")
    async with host(store, tmp_path, Notify(WRITE)):
        await team.until(lambda tx: not react.has_news(tx))
        await team.idle_but_for_mail()
    first = body.splitlines()[0]
    assert (tmp_path / "told").read_text() == f"human|coder|message|{id}|{first}|{body}|"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name in ("told", "hacked")) == ["told"]
    assert await outcomes(store) == ["done "]


async def test_every_person_is_told_and_nobody_else(store: Store, tmp_path: Path) -> None:
    team = await gather(store, {})

    def join(tx: Tx) -> None:
        agents.person(tx, team.instance)
        for name, backend in (("ana", "human"), ("ben", "external")):
            agents.ensure(tx, team.instance, NewAgent(name, backend=backend))

    await store.write(join, caller=SYSTEM)
    await as_coder(team, "@all hello")
    async with host(store, tmp_path, Notify('echo "$MOOT_TO" >> told')):
        await team.until(lambda tx: not react.has_news(tx))
        await team.idle_but_for_mail()
    assert sorted((tmp_path / "told").read_text().split()) == ["ana", "human"]


async def test_a_request_is_told_by_its_own_id_and_title(store: Store, tmp_path: Path) -> None:
    team = await gather(store, {})

    def ask(tx: Tx) -> Request:
        coder = agents.ensure(tx, team.instance, NewAgent("coder", backend="external"))
        return asking.ask(tx, team.instance, coder, Question("human", "permission", "may I?"))

    request = await store.write(ask, caller=SYSTEM)
    async with host(store, tmp_path, Notify('echo "$MOOT_ID $MOOT_KIND $MOOT_SUBJECT" >> told')):
        await team.until(lambda tx: not react.has_news(tx))
        await team.idle_but_for_mail()
    assert (tmp_path / "told").read_text() == f"{request.id} permission_request may I?\n"


async def test_the_command_of_the_live_run_goes_before_the_projects(store: Store, tmp_path: Path) -> None:
    team = await gather(store, {})
    workflow = Workflow(
        "w", "w.yaml", (AgentDefinition("coder", backend="external"),), notify=Notify("echo ${{ word }} >> told")
    )
    word = "it's $HOME"

    def begin(tx: Tx) -> None:
        new = NewRun("w", "w.yaml", "run", stored.to_json(workflow), {"word": word}, HostId("ho_1"))
        runs.start(tx, instances.get(tx, "default"), new)

    await store.write(begin, caller=SYSTEM)
    await as_coder(team, "@human hello", "human")
    async with host(store, tmp_path, Notify("echo project >> told")):
        await team.until(lambda tx: not react.has_news(tx))
        await team.idle_but_for_mail()
    assert (tmp_path / "told").read_text() == f"{word}\n"


async def test_without_a_command_nothing_happens(store: Store, tmp_path: Path) -> None:
    team = await gather(store, {})
    await as_coder(team, "hello", "human")
    async with host(store, tmp_path, None):
        await team.until(lambda tx: not react.has_news(tx))
        await team.idle_but_for_mail()
    assert await outcomes(store) == ["done "]


@pytest.mark.parametrize(
    ("notify", "outcome"),
    [
        (Notify("echo sorry; exit 3"), "failed it failed with exit code 3: sorry"),
        (Notify("sleep 60", timedelta(milliseconds=50)), "failed it did not end in time"),
        (Notify("kill -9 $$"), "failed it was ended by signal 9"),
    ],
)
async def test_a_command_that_fails_is_on_record_and_not_repeated(
    store: Store, tmp_path: Path, notify: Notify, outcome: str
) -> None:
    team = await gather(store, {})
    await as_coder(team, "hello", "human")
    async with host(store, tmp_path, notify):
        await team.until(lambda tx: not react.has_news(tx))
        await team.idle_but_for_mail()
    assert await outcomes(store) == [outcome]


async def test_nobody_is_told_again_when_a_host_died_over_it(store: Store, tmp_path: Path) -> None:
    team = await gather(store, {})
    await as_coder(team, "hello", "human")

    def take(tx: Tx) -> list[Job]:
        react.react(tx)
        return jobs.take(tx, Appetite(HostId("ho_dead"), others=10))

    assert [job.kind for job in await store.write(take, caller=SYSTEM)] == [NOTIFY]
    await store.write(lambda tx: jobs.abandon(tx, HostId("ho_dead")), caller=SYSTEM)
    async with host(store, tmp_path, Notify(WRITE)):
        await team.idle_but_for_mail()
    assert not (tmp_path / "told").exists()
    assert (await outcomes(store))[0].startswith("failed")


async def test_nobody_waits_for_a_command_that_takes_long_and_it_is_ended_with_its_host(
    store: Store, tmp_path: Path
) -> None:
    team = await gather(store, {})
    await as_coder(team, "hello", "human")
    pace = Pace(grace_seconds=600.0, brief_grace_seconds=0.01)
    async with host(store, tmp_path, Notify("exec sleep 600", timedelta(seconds=300)), pace):
        await team.until(lambda tx: [job.state for job in jobs.live(tx, team.instance.stream)] == ["running"])
        await team.until(lambda tx: not react.has_news(tx))
        assert await store.read(lambda tx: idle.is_idle(tx, team.instance.stream))
    assert await outcomes(store) == ["failed the host stopped"]


async def test_a_person_who_is_still_to_be_told_is_waited_for(store: Store) -> None:
    team = await gather(store, {})
    await as_coder(team, "hello", "human")
    await store.write(react.react, caller=SYSTEM)
    assert not await store.read(lambda tx: react.has_news(tx) or idle.is_idle(tx, team.instance.stream))
