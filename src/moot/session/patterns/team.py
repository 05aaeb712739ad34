"""Team: members work at once and hear each other's broadcasts; the supervisor hears all of them and has the last word.

A cycle: every member that is still there works until it waits or leaves. Then the supervisor is told, in one turn, what
was said. If it broadcasts, the next cycle begins, and what that brings is the answer to its call; if it reports, the
team is done, and whoever still works is cut short.
"""

import asyncio

from moot.core.formats import MARKDOWN
from moot.core.records import replace
from moot.core.teams import Team
from moot.session.agent import Agent, Cast
from moot.session.errand import Errand
from moot.session.hearing import Heard, Hearing
from moot.session.patterns import broadcasting
from moot.session.patterns.broadcasting import Ear, MemberVoice, SupervisorVoice
from moot.session.patterns.broker import Broker
from moot.session.performing import Perform, Played
from moot.session.report import Report
from moot.session.reports import FinalReport
from moot.session.session import Session
from moot.session.source import Source

_MEMBER = """You are {name}, a member of a team with {others}; {boss} supervises it. All you can do for the others is \
to broadcast with team_broadcast; what you write without it nobody sees. When you have nothing to add for now, end \
your turn without a call: you go on when there is news. When you are done for good, broadcast with final."""
_BOSS = """You supervise a team: {others}. You are told what they broadcast. With team_broadcast you tell all of them \
something, and are answered with what they make of it; final_report ends the team's work."""


async def play(errand: Errand, prompt: str, cast: Cast, perform: Perform) -> Played:
    assert errand.agent.team is not None
    return await _Play(errand, prompt, errand.agent.team, cast, perform).run()


class _Play:
    """One team at work."""

    def __init__(self, errand: Errand, prompt: str, team: Team, cast: Cast, perform: Perform) -> None:
        self._errand = errand
        self._prompt = f"{errand.agent.prompt}\n\n{prompt}".strip()
        self._team = team
        self._cast = cast
        self._perform = perform
        self._broker = Broker(team.members)
        self._seats = [_MemberSeat(name, team, self._broker) for name in team.members]

    async def run(self) -> Played:
        boss = _BossSeat(self._errand.agent, self._team, self._broker, self._cycle)
        try:
            async with asyncio.TaskGroup() as group:
                members = [group.create_task(self._member(seat)) for seat in self._seats]
                supervisor = self._errand.next(self._cast[self._team.supervisor], self._prompt, "supervisor")
                played = await self._perform(replace(supervisor, term=self._errand.term), boss)
                if played.report.is_put_off:
                    await self._cycle(is_first=True)  # what members have under way is not lost
                for member in members:
                    member.cancel()
        except BaseExceptionGroup as error:
            raise error.exceptions[0] from None
        return played

    async def _member(self, seat: "_MemberSeat") -> None:
        """From its first turn to its leave. Whoever has a last word without a seat, says it and is gone."""
        try:
            member = self._errand.next(self._cast[seat.name], self._prompt, "member")
            report = (await self._perform(member, seat)).report
            if report.is_put_off:
                self._broker.put_off = report
            elif report.failure is not None:
                why = f"member {seat.name} failed and is no longer in the team. Reason: {report.error}"
                self._broker.publish("failure", seat.name, why, seat.session)
            elif not seat.is_taken:
                self._broker.publish("update", seat.name, report.text, seat.session)
        finally:
            seat.leave()  # also when it is cut short: a supervisor that is asked again waits for nobody

    async def _cycle(self, *, is_first: bool) -> bool:
        """All who are there work until they wait. False if nobody is there."""
        there = [seat for seat in self._seats if not seat.is_gone]
        for seat in there:
            if not is_first:
                seat.go()
        for seat in there:
            await seat.waits.wait()
        return bool(there)


class _MemberSeat:
    """Of a member: it works, waits for the next cycle, and works again."""

    def __init__(self, name: str, team: Team, broker: Broker) -> None:
        self.name = name
        self.is_taken = False
        self.is_gone = False
        self.waits = asyncio.Event()
        self._may_go = asyncio.Event()
        self._team = team
        self._broker = broker
        self._voice = MemberVoice(name, broker)
        self._ear = Ear(name, broker)

    @property
    def session(self) -> Session | None:
        return self._voice.session

    def go(self) -> None:
        self.waits.clear()
        self._may_go.set()

    def leave(self) -> None:
        self.is_gone = True
        self.waits.set()

    def sources(self, agent: Agent) -> tuple[Source, ...]:
        return (self._voice,)

    def hearing(self) -> Hearing:
        return self._ear

    def adapted(self, agent: Agent) -> Agent:
        others = ", ".join(name for name in self._team.members if name != self.name) or "nobody else"
        told = _MEMBER.format(name=self.name, others=others, boss=self._team.supervisor)
        # It has no report that could have a shape: it is heard by its broadcasts.
        return replace(_adapted(agent, told, self._team.member_max_turns), may_be_silent=True, output=MARKDOWN)

    async def take(self, session: Session) -> Report:
        self.is_taken = True
        self._voice.session = self._ear.session = session
        report = await session.run()
        while report.failure is None and not self._voice.is_done:
            if self._voice.is_silent:
                self._voice.say(report.text)
            self._may_go.clear()
            self.waits.set()
            await self._may_go.wait()
            self._voice.is_silent = True
            report = await session.ask_again("member", self._news)
        return report

    def _news(self) -> Heard:
        return self._ear.take() or Heard("There is no news; the supervisor asks you on.")


class _BossSeat:
    """Of the supervisor, who begins when everybody has worked once."""

    def __init__(self, leader: Agent, team: Team, broker: Broker, cycle: broadcasting.Cycle) -> None:
        self._leader = leader
        self._team = team
        self._broker = broker
        self._cycle = cycle
        self._voice = SupervisorVoice(team.supervisor, broker, cycle)
        self._ear = Ear(team.supervisor, broker, is_boss=True)

    def sources(self, agent: Agent) -> tuple[Source, ...]:
        return (FinalReport(agent), self._voice)

    def hearing(self) -> Hearing:
        return self._ear

    def adapted(self, agent: Agent) -> Agent:
        told = _BOSS.format(others=", ".join(self._team.members))
        # It answers for the team, and may be asked again if that may be.
        return replace(_adapted(agent, told, self._team.supervisor_max_turns), is_chatty=self._leader.is_chatty)

    async def take(self, session: Session) -> Report:
        self._voice.session = self._ear.session = session
        await self._cycle(is_first=True)
        session.errand.term.begin_again()  # so far it has only waited
        return self._broker.put_off or await session.run()


def _adapted(agent: Agent, told: str, turns: int | None) -> Agent:
    limits = agent.limits if turns is None else replace(agent.limits, turns=turns)
    return replace(agent, prompt=f"{agent.prompt}\n\n{told}".strip(), limits=limits)
