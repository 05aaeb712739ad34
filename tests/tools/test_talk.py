"""Saying something: whom it reaches, how urgent it is, and who is not there."""

from moot.bus import mailbox
from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.registry import agents
from moot.registry.agents import Agent
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.testing.clock import ManualClock
from moot.tools import talk
from moot.tools.talk import Said, Words
from tests.interleave import interleave
from tests.registry.house import House, build


async def team(store: Store, clock: ManualClock) -> tuple[House, Agent, Agent, Agent]:
    house = await build(store)
    joined: list[Agent] = []
    for name in ("ann", "bob", "eve"):
        joined.append(await house.join(name))
        clock.advance(1)
    ann, bob, eve = joined
    return house, ann, bob, eve


async def say(house: House, speaker: Agent | None, words: Words | str) -> Said:
    said = Words(words) if isinstance(words, str) else words
    return await house.store.write(lambda tx: talk.say(tx, house.instance, speaker, said), caller=SYSTEM)


async def test_a_message_reaches_whom_it_mentions(store: Store, clock: ManualClock) -> None:
    house, ann, bob, eve = await team(store, clock)
    said = await say(house, ann, "@Bob, `@eve` should look")
    assert (said.recipients, said.unknown, said.message.mentions) == (("bob",), (), ("bob",))
    assert await house.states(said.message) == {bob.id: "queued"}
    assert await house.unread(eve) == []


async def test_a_message_that_mentions_nobody_wakes_nobody(store: Store, clock: ManualClock) -> None:
    house, ann, *_ = await team(store, clock)
    said = await say(house, ann, "thinking aloud, mail me: ann@example.com")
    assert (said.recipients, said.unknown) == ((), ())
    assert await house.states(said.message) == {}


async def test_a_repeated_mention_is_one_row(store: Store, clock: ManualClock) -> None:
    house, ann, *_ = await team(store, clock)
    said = await say(house, ann, Words("@bob @BOB @bob!", to=("bob", "Bob")))
    assert said.recipients == ("bob",)
    assert said.message.priority == "normal"


async def test_mentioning_yourself_wakes_nobody(store: Store, clock: ManualClock) -> None:
    house, ann, *_ = await team(store, clock)
    said = await say(house, ann, "@ann is me")
    assert said.recipients == ()
    assert await house.unread(ann) == []


async def test_all_and_everyone_are_everyone_but_the_speaker(store: Store, clock: ManualClock) -> None:
    house, ann, *_ = await team(store, clock)
    await house.write(lambda tx: agents.service(tx, house.instance, "monitor"))
    for words in (Words("@all look"), Words("@Everyone look"), Words("look", to=("all",))):
        said = await say(house, ann, words)
        assert (said.recipients, said.unknown, said.message.priority) == (("bob", "eve"), (), "high")


async def test_a_broadcast_reaches_everyone_and_is_not_urgent_by_itself(store: Store, clock: ManualClock) -> None:
    house, ann, *_ = await team(store, clock)
    said = await say(house, ann, Words("lunch", kind="broadcast"))
    assert (said.recipients, said.message.priority) == (("bob", "eve"), "normal")
    assert (await say(house, ann, Words("lunch asap", kind="broadcast"))).message.priority == "high"


async def test_those_who_left_are_not_reached(store: Store, clock: ManualClock) -> None:
    house, ann, bob, _ = await team(store, clock)
    await house.write(lambda tx: agents.unregister(tx, bob.id))
    said = await say(house, ann, "@bob @all")
    assert (said.recipients, said.unknown) == (("eve",), ("bob",))


async def test_of_two_with_one_name_the_newest_is_reached(store: Store, clock: ManualClock) -> None:
    house, ann, bob, _ = await team(store, clock)
    newer = await house.write(lambda tx: agents.register(tx, house.instance, agents.NewAgent(name="bob")))
    said = await say(house, ann, "@bob")
    assert await house.states(said.message) == {newer.id: "queued"}
    assert await house.unread(bob) == []


async def test_more_than_one_mention_or_a_word_makes_it_high(store: Store, clock: ManualClock) -> None:
    house, ann, *_ = await team(store, clock)
    assert (await say(house, ann, "@bob @eve")).message.priority == "high"
    assert (await say(house, ann, Words("look", to=("bob", "eve")))).message.priority == "high"
    assert (await say(house, ann, "@bob @nobody @noone")).message.priority == "normal"
    assert (await say(house, ann, "I am blocked")).message.priority == "high"


async def test_what_is_only_quoted_wakes_nobody_and_is_not_urgent(store: Store, clock: ManualClock) -> None:
    house, *_ = await team(store, clock)
    words = Words("@ann look at:\n@bob urgent", spoken="@ann look at:\nø")
    said = await say(house, None, words)
    assert (said.recipients, said.message.priority, said.message.body) == (("ann",), "normal", words.body)


async def test_mail_to_a_service_is_acked_on_arrival(store: Store, clock: ManualClock) -> None:
    house, ann, *_ = await team(store, clock)
    for name in ("system", "monitor", "orchestrator"):
        said = await say(house, ann, f"@{name} note this")
        assert said.recipients == (name,)
        assert list((await house.states(said.message)).values()) == ["acked"]


async def test_moot_itself_speaks_as_system(store: Store, clock: ManualClock) -> None:
    house, ann, *_ = await team(store, clock)
    said = await say(house, None, Words("note @system and @ann", kind="system"))
    assert said.message.sender == "system"
    assert said.recipients == ("ann",)
    assert await house.unread(ann) == ["queued note @system and @ann"]


async def test_the_person_can_be_called_before_they_have_spoken(store: Store, clock: ManualClock) -> None:
    house, ann, *_ = await team(store, clock)
    assert (await say(house, ann, "@human which one?")).recipients == ("human",)
    assert (await say(house, ann, Words("which one?", to=("human",)))).recipients == ("human",)
    person = await house.read(lambda tx: agents.named(tx, house.stream, "human"))
    assert len(await house.unread(person)) == 2


def leave(tx: Tx, agent: Agent) -> None:
    agents.unregister(tx, agent.id)
    mailbox.bury(tx, agent.id)


async def test_no_mail_waits_for_one_who_left_while_it_was_sent(pg_store: PostgresStore, clock: ManualClock) -> None:
    house, ann, bob, eve = await team(pg_store, clock)

    def call(tx: Tx) -> Said:
        return talk.say(tx, house.instance, ann, Words("@all"))

    met = await interleave(pg_store, lambda tx: leave(tx, bob), call)
    assert await house.states(met.second.message) == {bob.id: "dead", eve.id: "queued"}
    met = await interleave(pg_store, call, lambda tx: leave(tx, eve))
    assert await house.states(met.first.message) == {eve.id: "dead"}


async def test_what_is_said_quietly_is_found_and_wakes_nobody(store: Store, clock: ManualClock) -> None:
    house, ann, bob, eve = await team(store, clock)
    said = await say(house, ann, Words("done", to=("bob", "eve"), kind="status", is_quiet=True))
    assert await house.states(said.message) == {bob.id: "acked", eve.id: "acked"}
    assert (await house.unread(bob), await house.unread(eve)) == ([], [])
    (posted,) = [one for one in await house.events() if one.subject == said.message.id]
    assert posted.data["to"] == []
    assert said.message.mentions == ("bob", "eve")


async def test_what_moot_says_in_somebodys_name_is_no_turn_in_a_talk(store: Store, clock: ManualClock) -> None:
    house, ann, bob, _ = await team(store, clock)
    for _ in range(30):
        said = await say(house, ann, Words("your task", to=("bob",), kind="task", is_relayed=True))
        assert (said.message.sender, said.message.hops) == ("ann", 0)
    assert len(await house.unread(bob)) == 30
