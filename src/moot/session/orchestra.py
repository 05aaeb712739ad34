"""Performs agents by the patterns in their records, and for each of those performs others.

An agent has four acts: its advisors are heard, its own session (or its team) works, and what comes of that is its
report, or the matter of whomever it chose or hands over to. Each act has a branch of the path to itself, so that the
tree is the same in every execution.
"""

from moot.core.records import replace
from moot.session.errand import Errand
from moot.session.events import Warned
from moot.session.pages import Pages
from moot.session.past import Past
from moot.session.patterns import advisors, handoff, router, team
from moot.session.patterns.router import HandoffTo
from moot.session.performing import Played, Seat
from moot.session.report import Report
from moot.session.reports import FinalReport
from moot.session.session import Session
from moot.session.source import Source
from moot.session.stage import Stage
from moot.session.subagents import SubAgents
from moot.session.term import TimeIsUp


class Orchestra:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    async def perform(self, errand: Errand, seat: Seat | None = None) -> Played:
        """Its report, or that of whoever has the last word in its place."""
        while True:
            played = await self._perform(errand, seat)
            if isinstance(played, Played):
                return played
            errand = played

    async def _perform(self, errand: Errand, seat: Seat | None) -> Played | Errand:
        """What one agent came to, or the errand of whoever goes on with that."""
        cast = self._stage.cast
        if (term := errand.term.joined(errand.agent)) is not errand.term:
            errand = replace(errand, term=term)
        prompt = await self._advised(errand)
        if isinstance(prompt, Report):
            return Played(handoff.failed(errand, prompt))
        played = await self._work(errand, prompt, seat)
        report = played.report
        if report.failure is not None:
            return Played(handoff.failed(errand, report))
        following = router.following(errand, report, cast) or handoff.following(errand, report, cast)
        if following is None:
            return played
        return replace(following, pages=played.session.pages if played.session else None)

    async def _advised(self, errand: Errand) -> str | Report:
        """What it is asked, or why it is not."""
        if not errand.agent.advisors or self._settled(errand) is not None:
            return errand.prompt

        def warn(text: str) -> None:
            self._stage.tell(errand.agent.name, Warned(text))

        try:
            async with errand.term.holds():
                return await advisors.enriched(errand, self._stage.cast, self.perform, warn)
        except TimeIsUp as error:
            report = Report("", errand.agent.name, "timeout", str(error))
            pages = Pages(self._stage.journal)
            pages.begin_session(errand.path, errand.agent.name, errand.trigger, {})
            pages.end_session(errand.path, report)
            await pages.turn()
            return report

    def _settled(self, errand: Errand) -> Report | None:
        """How it failed in an execution that is repeated now, if others were told."""
        return Past(self._stage.journal, errand.path).failure(errand.path) if errand.is_settled else None

    async def _work(self, errand: Errand, prompt: str, seat: Seat | None) -> Played:
        if errand.agent.team is not None:
            return await self._lead(errand, prompt)
        seat = None if errand.agent.handoff or errand.agent.router else seat
        agent = errand.agent if seat is None else seat.adapted(errand.agent)
        hearing = errand.hearing if seat is None else seat.hearing()
        ways_out = self._ways_out(errand) if seat is None else seat.sources(agent)
        own = (*ways_out, *self._helpers(errand))
        is_as_asked = seat is None and prompt is errand.prompt
        its_own = errand if is_as_asked else replace(errand, agent=agent, prompt=prompt, hearing=hearing)
        session = Session(its_own, self._stage, own, is_followed=handoff.is_direct(agent, self._stage.cast))
        report = await (session.run() if seat is None else seat.take(session))
        for one in ways_out:
            if isinstance(one, HandoffTo):
                one.close()
        return Played(report, session)

    async def _lead(self, errand: Errand, prompt: str) -> Played:
        """Who has a team asks no model itself, and is on record like everybody else."""
        if (ended := self._settled(errand)) is not None:
            return Played(ended)
        pages = Pages(self._stage.journal)
        pages.begin_session(errand.path, errand.agent.name, errand.trigger, {})
        await pages.turn()
        try:
            async with errand.term.holds():
                played = await team.play(errand, prompt, self._stage.cast, self.perform)
        except TimeIsUp as error:
            played = Played(Report("", errand.agent.name, "timeout", str(error)))
        pages.end_session(errand.path, played.report)
        await pages.turn()
        return played

    def _ways_out(self, errand: Errand) -> tuple[Source, ...]:
        agent = errand.agent
        reports = (FinalReport(agent),) if agent.reports else ()
        return (*reports, HandoffTo(agent)) if agent.router else reports

    def _helpers(self, errand: Errand) -> tuple[Source, ...]:
        return (SubAgents(errand, self._stage.cast, self.perform),) if errand.agent.agents else ()
