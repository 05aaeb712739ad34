"""Who is meant when nobody is named."""

from pathlib import Path

import pytest

from moot.bus.errors import MessageNotFound
from moot.core.ids import InstanceName, MessageId
from moot.core.tx import Tx
from moot.registry import agents
from moot.registry.agents import OFFLINE_AFTER
from moot.registry.errors import AgentNotFound
from moot.store.store import Store
from moot.testing.clock import ManualClock
from moot.tools.talk import Words
from tests.api.desk import as_agent, join, person, say

ELSEWHERE = InstanceName("pr-1")


async def test_the_only_agent_is_meant(store: Store, tmp_path: Path) -> None:
    await join(store, "coder", source="team.yaml")
    assert (await person(store, tmp_path).send(Words("hello"))).recipients == ("coder",)


async def test_the_newest_that_stands_alone_is_meant_among_several(
    store: Store, tmp_path: Path, clock: ManualClock
) -> None:
    for name, source in (("old", ""), ("new", ""), ("worker", "team.yaml")):
        await join(store, name, source=source)
        clock.advance(1)
    assert (await person(store, tmp_path).send(Words("hello"))).recipients == ("new",)


async def test_who_is_away_is_not_meant_while_another_is_here(store: Store, tmp_path: Path, clock: ManualClock) -> None:
    await join(store, "away", backend="external")
    clock.advance(OFFLINE_AFTER.total_seconds() + 1)
    await join(store, "here", source="team.yaml")
    assert (await person(store, tmp_path).send(Words("hello"))).recipients == ("here",)


async def test_mail_waits_for_the_only_agent_even_if_it_is_away(
    store: Store, tmp_path: Path, clock: ManualClock
) -> None:
    await join(store, "away", backend="external")
    clock.advance(OFFLINE_AFTER.total_seconds() + 1)
    assert (await person(store, tmp_path).send(Words("hello"))).recipients == ("away",)


async def test_several_of_a_team_are_not_guessed_among(store: Store, tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        await join(store, name, source="team.yaml")
    with pytest.raises(AgentNotFound, match="Here are: ann, bob"):
        await person(store, tmp_path).send(Words("hello"))


async def test_a_mention_is_enough_even_of_somebody_unknown(store: Store, tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        await join(store, name)
    said = await person(store, tmp_path).send(Words("hello @ghost"))
    assert (said.recipients, said.unknown) == ((), ("ghost",))


async def test_an_answer_goes_to_whom_it_answers(store: Store, tmp_path: Path) -> None:
    ann = await join(store, "ann")
    await join(store, "bob")
    asked = await say(store, ann, "what now?")
    said = await person(store, tmp_path).send(Words("wait", reply_to=asked.message.id))
    assert said.recipients == ("ann",)
    assert said.message.thread == asked.message.thread


async def test_more_about_ones_own_message_goes_to_who_heard_it(store: Store, tmp_path: Path) -> None:
    await join(store, "ann")
    await join(store, "bob")
    human = person(store, tmp_path)
    first = await human.send(Words("look", to=("bob",)))
    assert (await human.send(Words("and this", reply_to=first.message.id))).recipients == ("bob",)


async def test_an_answer_to_somebody_who_left_reaches_nobody(store: Store, tmp_path: Path) -> None:
    ann = await join(store, "ann")
    asked = await say(store, ann, "what now?")

    def leave(tx: Tx) -> bool:
        return agents.unregister(tx, ann.id)

    human = person(store, tmp_path)
    await store.write(leave, caller=human.caller)
    assert (await human.send(Words("too late", reply_to=asked.message.id))).recipients == ()


async def test_an_answer_to_nothing_is_refused(store: Store, tmp_path: Path) -> None:
    await join(store, "ann")
    with pytest.raises(MessageNotFound):
        await person(store, tmp_path).send(Words("wait", reply_to=MessageId("ms_x")))


async def test_an_agent_may_speak_to_nobody(store: Store, tmp_path: Path) -> None:
    ann = await join(store, "ann")
    await join(store, "bob")
    assert (await as_agent(store, tmp_path, ann).send(Words("thinking"))).recipients == ()


@pytest.mark.parametrize("words", ["hello", "hello @solo", "hello @all"])
async def test_who_names_no_instance_means_the_one_where_the_only_agent_is(
    store: Store, tmp_path: Path, words: str
) -> None:
    await join(store, "solo", source="one.yaml", instance=ELSEWHERE)
    here = await person(store, tmp_path).for_words(Words(words))
    assert (here.caller.instance, (await here.send(Words(words))).recipients) == (ELSEWHERE, ("solo",))


async def test_among_all_instances_only_one_that_is_here_is_meant(
    store: Store, tmp_path: Path, clock: ManualClock
) -> None:
    await join(store, "away", backend="external")
    clock.advance(OFFLINE_AFTER.total_seconds() + 1)
    await join(store, "solo", source="one.yaml", instance=ELSEWHERE)
    assert (await person(store, tmp_path).for_words(Words("hello"))).caller.instance == ELSEWHERE


async def test_the_default_instance_goes_without_saying_where_a_name_is_in_several(
    store: Store, tmp_path: Path
) -> None:
    await join(store, "solo", instance=ELSEWHERE)
    await join(store, "solo")
    assert (await person(store, tmp_path).for_words(Words("hello @solo"))).caller.instance == "default"


@pytest.mark.parametrize("words", ["hello", "hello @solo"])
async def test_several_elsewhere_are_not_guessed_among_but_listed(store: Store, tmp_path: Path, words: str) -> None:
    for name in ("pr-1", "pr-2"):
        await join(store, "solo", source="one.yaml", instance=InstanceName(name))
    with pytest.raises(AgentNotFound, match="Here are: solo@pr-1, solo@pr-2"):
        await person(store, tmp_path).for_words(Words(words))


async def test_an_agent_speaks_where_it_is(store: Store, tmp_path: Path) -> None:
    ann = await join(store, "ann")
    await join(store, "solo", instance=ELSEWHERE)
    assert (await as_agent(store, tmp_path, ann).for_words(Words("@solo"))).caller.instance == "default"
