"""How those in a team speak and hear."""

from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from moot.core.json import Json
from moot.core.tool import Effect
from moot.models import reserving
from moot.models.model import ToolSpec
from moot.session import forms
from moot.session.forms import Form
from moot.session.hearing import Heard
from moot.session.patterns.broker import Broadcast, Broker
from moot.session.report import Report
from moot.session.session import Session
from moot.session.source import Outcome, Unrecorded

NAME = "team_broadcast"
_LEFT = "broadcast; you have left the team"
MOST = 200_000  # letters of news at once
_TOO_LONG = "The members have broadcast {count:,} characters, which is more than you can be told; they were dropped."


class Cycle(Protocol):
    async def __call__(self, *, is_first: bool) -> bool: ...


class _Words(Form):
    message: str
    final: bool | None = None
    failed: bool | None = None


class _BossWords(Form):
    message: str


class MemberVoice(Unrecorded):
    """Of a member: it is heard by all, and its last broadcast is its leave."""

    is_final = True

    def __init__(self, member: str, broker: Broker) -> None:
        self.session: Session | None = None
        self.is_done = False
        self.is_silent = True  # in this cycle
        self._member = member
        self._broker = broker

    def specs(self) -> Sequence[ToolSpec]:
        return (_MEMBERS,)

    def say(self, message: str) -> None:
        self.is_silent = False
        if message.strip():
            self._broker.publish("update", self._member, message, self.session)

    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> Outcome:
        form = forms.read(_Words, arguments)
        if isinstance(form, str) or not form.message.strip():
            return _unsaid(form)
        if form.failed:  # what the others are told of it is told of everybody who fails
            return Outcome(_LEFT, report=Report(form.message, self._member, "reported", form.message))
        self.say(form.message)
        if form.final:
            self.is_done = True
            return Outcome(_LEFT, report=Report(form.message, self._member))
        return Outcome("broadcast")


class SupervisorVoice(Unrecorded):
    """Of the supervisor: what it says begins the next cycle, and what the members make of it is the answer."""

    def __init__(self, name: str, broker: Broker, cycle: Cycle) -> None:
        self.session: Session | None = None
        self._name = name
        self._broker = broker
        self._cycle = cycle

    def specs(self) -> Sequence[ToolSpec]:
        return (_BOSS,)

    def effect(self, name: str) -> Effect:
        return "outside"

    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> Outcome:
        form = forms.read(_BossWords, arguments)
        if isinstance(form, str) or not form.message.strip():
            return _unsaid(form)
        assert self.session is not None
        self._broker.publish("update", self._name, form.message, self.session)
        is_heard = await self._cycle(is_first=False)
        if self._broker.put_off is not None:
            return Outcome("put off", is_error=True, report=self._broker.put_off)
        if not is_heard:
            self.session.end_soon("all members have left the team")
            return Outcome("Nobody heard it: all members have left the team.", is_error=True)
        found = heard(self._broker.news(self._name), self.session, is_end=True)
        return Outcome(found.text if found else "The members had nothing to say.")


def _unsaid(wrong: Form | str) -> Outcome:
    why = wrong if isinstance(wrong, str) else "`message` is empty"
    return Outcome(f"Nothing was said: {why}. Call it again.", is_error=True)


class Ear:
    """Hears, between two turns, what others have broadcast. Whoever waits is told in the next cycle."""

    calls_back = False

    def __init__(self, name: str, broker: Broker, *, is_boss: bool = False) -> None:
        self.session: Session | None = None  # which can take so much, and no more
        self._name = name
        self._broker = broker
        self._is_boss = is_boss  # who is ended if it is told more than it can take

    def begin(self) -> None: ...

    def take(self) -> Heard | None:
        return heard(self._broker.news(self._name), self.session, is_end=self._is_boss)

    async def stop(self) -> Heard | None:
        return None

    def was_told(self, facts: Mapping[str, Json]) -> None:
        self._broker.was_told(self._name, [str(one) for one in cast(Sequence[Json], facts.get("broadcasts") or ())])


def heard(news: Sequence[Broadcast], session: Session | None, *, is_end: bool = False) -> Heard | None:
    """For a session that can take so much. What is too long is dropped and said to be, and told no other time; if it
    `is_end`, the session comes to its end with that."""
    if not news:
        return None
    ids: list[Json] = [one.id for one in news]
    count = sum(reserving.letters_of(one.message) for one in news)
    if session is not None and count > min(MOST, session.room):
        if is_end:
            session.end_soon("the team has said more than fits into the conversation")
        dropped = _TOO_LONG.format(count=count)
        news = (Broadcast("moot", 0, "failure", dropped, session.turns, news[0].at),)
    told = "\n\n".join(one.told() for one in news)
    return Heard(f"## TEAM BROADCASTS\n\n{told}", {"broadcasts": ids})


def _spec(words: str, more: Mapping[str, Json]) -> ToolSpec:
    schema: Mapping[str, Json] = {
        "type": "object",
        "properties": {"message": {"type": "string"}, **more},
        "required": ["message"],
    }
    return ToolSpec(NAME, words, schema)


_FINAL: Json = {"type": "boolean", "default": False, "description": "You leave the team with this."}
_FAILED: Json = {"type": "boolean", "default": False, "description": "You leave it because you cannot do it."}
_MEMBERS = _spec("Tell everybody in the team something.", {"final": _FINAL, "failed": _FAILED})
_BOSS = _spec("Tell all members something; the answer is what they broadcast then.", {})
