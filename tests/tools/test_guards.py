"""Messages know how many agents led to them and how long two have spoken in turn; at a limit they wake nobody."""

from dataclasses import dataclass

from moot.bus import messages
from moot.bus.messages import LastWord
from moot.core.ids import AttemptId, MessageId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.registry import agents, attempts
from moot.registry.agents import Agent
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.tools import guards, talk
from moot.tools.talk import Said, Words
from moot.workflow.workflow import Limits
from tests.interleave import interleave
from tests.registry.house import House, build

HOPS, PING_PONG = 50, 20


@dataclass(frozen=True)
class Table:
    house: House
    ann: Agent
    bob: Agent
    cyd: Agent

    async def say(
        self, who: Agent | None, body: str, attempt: AttemptId | None = None, reply_to: MessageId | None = None
    ) -> Said:
        words = Words(body, attempt=attempt, reply_to=reply_to)
        return await self.house.write(lambda tx: talk.say(tx, self.house.instance, who, words))

    async def rally(self) -> int:
        last = await self.house.read(lambda tx: messages.last_word(tx, self.house.stream))
        assert last is not None
        return last.rally

    async def person(self) -> Agent:
        return await self.house.write(lambda tx: agents.person(tx, self.house.instance))

    async def told(self) -> list[str]:
        live = await self.house.read(lambda tx: jobs.live(tx, self.house.stream))
        return [str(job.arguments["reason"]) for job in live if job.kind == guards.LIMIT]


async def seated(store: Store) -> Table:
    house = await build(store)
    return Table(house, *[await house.join(name, "scripted") for name in ("ann", "bob", "cyd")])


async def given(table: Table, agent: Agent, hops: int) -> AttemptId:
    """An attempt whose mail came about through so many messages."""
    attempt = await table.house.start(agent)
    await table.house.write(lambda tx: attempts.led_by(tx, attempt, hops))
    return attempt


def test_the_limits_without_a_run_are_those_of_a_workflow_that_says_nothing() -> None:
    assert (Limits().hops, Limits().ping_pong) == (HOPS, PING_PONG)


async def test_a_message_is_one_hop_further_than_what_its_speaker_was_given(store: Store) -> None:
    table = await seated(store)
    assert (await table.say(await table.person(), "@ann go")).message.hops == 0
    assert (await table.say(None, "@ann go")).message.hops == 0
    assert (await table.say(table.ann, "@bob hello", await given(table, table.ann, 7))).message.hops == 8
    assert (await table.say(table.ann, "@bob hello")).message.hops == 1


async def test_an_agent_from_outside_is_one_hop_further_than_what_it_answers(store: Store) -> None:
    table = await seated(store)
    asked = await table.say(table.ann, "@bob hello", await given(table, table.ann, 7))
    assert (await table.say(table.bob, "@ann yes", reply_to=asked.message.id)).message.hops == 9


async def test_at_the_hop_limit_a_message_is_kept_and_wakes_nobody_but_people(store: Store) -> None:
    table = await seated(store)
    person = await table.person()
    near = await table.say(table.ann, "@bob on", await given(table, table.ann, HOPS - 2))
    held = await table.say(table.ann, "@bob @human on", await given(table, table.ann, HOPS - 1))
    posted = [event for event in await table.house.events() if event.kind == messages.POSTED]
    assert [event.data["to"] for event in posted] == [[table.bob.id], [person.id]]
    assert await table.house.states(held.message) == {table.bob.id: "queued", person.id: "queued"}
    assert await table.told() == [f"hops: {HOPS} messages in one chain"]
    assert (near.message.hops, held.message.hops) == (HOPS - 1, 0)  # whoever takes it up starts anew


async def test_a_message_that_wakes_nobody_is_not_held_back(store: Store) -> None:
    table = await seated(store)
    await table.say(table.ann, "on and on, @human", await given(table, table.ann, 10 * HOPS))
    assert await table.told() == []


async def test_two_who_speak_to_each_other_in_turn_are_counted(store: Store) -> None:
    table = await seated(store)
    ann, bob, cyd = table.ann, table.bob, table.cyd
    counts: list[int] = []
    for who, body in (
        (ann, "@bob"), (bob, "@ann"), (bob, "and this, @ann"), (ann, "@bob"),  # what one says in a row counts once
        (cyd, "@ann"), (ann, "@cyd"),  # somebody else
        (bob, "nothing for anybody"), (ann, "@bob"),
    ):  # fmt: skip
        await table.say(who, body)
        counts.append(await table.rally())
    assert counts == [1, 2, 2, 3, 2, 3, 1, 2]
    await table.say(await table.person(), "stop it")
    await table.say(bob, "@ann")
    assert await table.rally() == 1


async def test_at_the_ping_pong_limit_a_message_wakes_nobody_and_the_count_starts_anew(store: Store) -> None:
    table = await seated(store)
    turns = [table.ann, table.bob] * (PING_PONG // 2)
    said = [await table.say(who, "@ann @bob your turn") for who in turns]
    posted = [event for event in await table.house.events() if event.kind == messages.POSTED]
    assert [bool(event.data["to"]) for event in posted] == [True] * (PING_PONG - 1) + [False]
    assert await table.told() == [f"ping-pong: bob and ann have sent each other {PING_PONG} messages in turn"]
    assert await table.house.states(said[-1].message) == {table.ann.id: "queued"}
    await table.say(table.ann, "@bob again")
    assert await table.rally() == 1


async def test_two_who_speak_at_once_speak_in_turn(pg_store: PostgresStore) -> None:
    table = await seated(pg_store)
    instance = table.house.instance

    def ann(tx: Tx) -> Said:
        return talk.say(tx, instance, table.ann, Words("@bob"))

    def bob(tx: Tx) -> Said:
        return talk.say(tx, instance, table.bob, Words("@ann"))

    met = await interleave(pg_store, ann, bob)
    assert met.second_waited
    last = await table.house.read(lambda tx: messages.last_word(tx, table.house.stream))
    assert last == LastWord(table.bob.id, 2, table.ann.id)
