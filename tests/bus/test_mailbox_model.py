"""A mailbox behaves like a list of items with a state each, whatever is done to it in whatever order."""

from dataclasses import dataclass
from datetime import datetime
from itertools import count

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from moot.bus import mailbox
from moot.bus.errors import NothingToAcknowledge
from moot.bus.mailbox import Mail
from moot.bus.messages import Message
from moot.core.ids import AttemptId
from moot.core.tx import ReadTx, Tx
from moot.registry import agents, instances
from moot.registry.agents import Agent, NewAgent
from moot.registry.instances import Instance
from tests.modelled import DATABASES, Bench, bench
from tests.registry.house import posted

_NUMBERS = count()
LIMITS = st.integers(1, 4)


@dataclass
class Item:
    """One message in the mailbox, as the model sees it."""

    message: Message
    state: str = "queued"
    attempt: AttemptId | None = None
    is_rejoined: bool = False


class MailboxModel(RuleBasedStateMachine):
    """One agent, its attempts one after the other, and an inbox that is looked at in between."""

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        self.items: list[Item] = []
        self.attempt: AttemptId | None = None

    @initialize()
    def move_in(self) -> None:
        def change(tx: Tx) -> tuple[Instance, Agent]:
            instance = instances.ensure(tx, f"i{next(_NUMBERS)}")
            return instance, agents.ensure(tx, instance, NewAgent(name="ann", backend="scripted"))

        self.instance, self.ann = self.bench.write(change)

    def of(self, *states: str) -> list[Item]:
        return [one for one in self.items if one.state in states]

    def of_attempt(self) -> list[Item]:
        return [one for one in self.of("delivered") if one.attempt == self.attempt]

    @rule(seconds=st.sampled_from([0, 1]))
    def mail_comes(self, seconds: int) -> None:
        self.bench.clock.advance(seconds)
        message = self.bench.write(lambda tx: posted(tx, self.instance.stream, "hello", [self.ann]))
        self.items.append(Item(message))

    @rule(limit=LIMITS)
    def an_attempt_begins(self, limit: int) -> None:
        if self.attempt is not None:
            return
        attempt = self.attempt = AttemptId(f"at_{next(_NUMBERS)}")

        def change(tx: Tx) -> list[Mail]:
            mailbox.rejoin(tx, self.ann.id, attempt)
            return mailbox.hand_out(tx, self.ann.id, attempt, limit)

        given = self.bench.write(change)
        for one in self.of("parked"):
            if not one.is_rejoined:
                one.state, one.attempt, one.is_rejoined = "delivered", attempt, True
        for one in self.of("queued")[:limit]:
            one.state, one.attempt = "delivered", attempt
        assert [mail.seq for mail in given] == [one.message.seq for one in self.of_attempt()]

    @rule(limit=LIMITS)
    def the_inbox_is_checked(self, limit: int) -> None:
        shown = self.bench.write(lambda tx: mailbox.show(tx, self.ann.id, self.attempt, limit))
        seen = self.of("queued", "delivered")[:limit]
        assert [mail.seq for mail in shown] == [one.message.seq for one in seen]
        assert {mail.state for mail in shown} <= {"delivered"}
        for one in seen:
            if one.state == "queued":
                one.state, one.attempt = "delivered", self.attempt

    @rule(how=st.sampled_from(["succeeds", "fails", "gives up", "gives up what is old"]))
    def the_attempt_ends(self, how: str) -> None:
        if self.attempt is None:
            return
        attempt, given = self.attempt, self.of_attempt()
        self.attempt = None
        if how == "succeeds":
            assert self.bench.write(lambda tx: mailbox.ack_attempt(tx, self.ann.id, attempt)) == len(given)
            for one in given:
                one.state = "acked"
        elif how == "fails":
            waiting = [one for one in given if not one.is_rejoined]
            assert self.bench.write(lambda tx: mailbox.take_back(tx, self.ann.id, attempt)) == len(waiting)
            for one in given:
                one.state, one.attempt = "parked" if one.is_rejoined else "queued", None
        elif how == "gives up":
            assert self.bench.write(lambda tx: mailbox.park(tx, self.ann.id, attempt)) == len(given)
            for one in given:
                one.state, one.attempt = "parked", None
        else:
            self.what_is_old_is_given_up(attempt, given)

    def what_is_old_is_given_up(self, attempt: AttemptId, given: list[Item]) -> None:
        moment = given[len(given) // 2].message.at if given else self.bench.clock.now()
        old = [one for one in given if one.message.at <= moment]
        assert self.bench.write(lambda tx: mailbox.park_until(tx, self.ann.id, attempt, moment)) == len(old)
        for one in given:
            one.state, one.attempt = "parked" if one in old or one.is_rejoined else "queued", None

    @rule(how=st.sampled_from(["succeeds", "fails", "gives up"]))
    def an_attempt_is_made(self, how: str) -> None:
        self.an_attempt_begins(4)
        self.the_attempt_ends(how)

    @rule(data=st.data(), by_seq=st.booleans())
    def a_message_is_acknowledged(self, data: st.DataObject, by_seq: bool) -> None:
        if not self.items:
            return
        item = data.draw(st.sampled_from(self.items))
        named = item.message.seq if by_seq else item.message.id

        def change(tx: Tx) -> int:
            return mailbox.ack_named(tx, self.ann.id, named)

        if item.state in ("queued", "dead"):
            with pytest.raises(NothingToAcknowledge):
                self.bench.write(change)
            return
        done = [one for one in self.of("delivered") if one.message.seq <= item.message.seq]
        done += [item] if item.state == "parked" else []
        assert self.bench.write(change) == len(done)
        for one in done:
            one.state = "acked"

    @rule(data=st.data())
    def a_moment_is_acknowledged(self, data: st.DataObject) -> None:
        moments = [self.bench.clock.now(), *(one.message.at for one in self.items)]
        moment: datetime = data.draw(st.sampled_from(moments))
        done = [one for one in self.of("delivered") if one.message.at <= moment]
        assert self.bench.write(lambda tx: mailbox.ack_until(tx, self.ann.id, moment)) == len(done)
        for one in done:
            one.state = "acked"

    @rule()
    def parked_mail_is_revived(self) -> None:
        revived = self.of("parked")
        assert self.bench.write(lambda tx: mailbox.revive(tx, self.ann.id)) == len(revived)
        for one in revived:
            one.state, one.is_rejoined = "queued", False

    @invariant()
    def the_store_agrees(self) -> None:
        if not hasattr(self, "ann"):
            return

        def look(tx: ReadTx) -> tuple[list[Mail], list[Mail], bool, int, tuple[int, int]]:
            counts = mailbox.counts(tx, self.instance.stream).get(self.ann.id)
            return (
                mailbox.unread(tx, self.ann.id, 1000),
                mailbox.parked(tx, self.ann.id, 1000),
                mailbox.has_queued(tx, self.ann.id),
                mailbox.count_unread(tx, self.ann.id),
                (counts.unread, counts.parked) if counts else (0, 0),
            )

        unread, parked, has_queued, waiting, counted = self.bench.read(look)
        wanted = self.of("queued", "delivered")
        assert [(mail.seq, mail.state) for mail in unread] == [(one.message.seq, one.state) for one in wanted]
        assert [mail.seq for mail in parked] == [one.message.seq for one in self.of("parked")]
        assert has_queued == bool(self.of("queued"))
        assert waiting == len(wanted)
        assert counted == (len(wanted), len(parked))


@pytest.mark.parametrize("database", DATABASES)
def test_a_mailbox_behaves_like_its_model(request: pytest.FixtureRequest, database: str) -> None:
    with bench(database, request) as used:

        class OnThisStore(MailboxModel):
            def __init__(self) -> None:
                super().__init__(used)

        run_state_machine_as_test(OnThisStore, settings=used.settings)
