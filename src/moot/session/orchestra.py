"""Performs agents by the patterns in their records, and for each of those performs others.

An agent has four acts: its advisors are heard, its own session (or its team) works, and what comes of that is its
report, or the matter of whomever it chose or hands over to. Each act has a branch of the path to itself, so that the
tree is the same in every execution.
"""

from moot.session.patterns import advisors, handoff, router, team
from moot.session.patterns.router import HandoffTo
from moot.session.reports import FinalReport
from moot.session.scene import Played, Scene
from moot.session.session import Part, Session
from moot.session.source import Source
from moot.session.stage import Stage
from moot.session.subagents import SubAgents


class Orchestra:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    async def perform(self, scene: Scene) -> Played:
        """Its report, or that of whoever has the last word in its place."""
        cast = self._stage.cast
        prompt = await advisors.enriched(scene, cast, self.perform)
        played = await self._work(scene, prompt)
        report = played.report
        if report.failure is not None:
            return Played(handoff.failed(scene, report))
        following = router.following(scene, report, cast) or handoff.following(scene, report, cast)
        return played if following is None else await self.perform(following)

    async def _work(self, scene: Scene, prompt: str) -> Played:
        if scene.agent.team is not None:
            return await team.play(scene, prompt, self._stage.cast, self.perform)
        seat = None if scene.agent.handoff or scene.agent.router else scene.seat
        agent = scene.agent if seat is None else seat.adapted(scene.agent)
        hearing = scene.hearing if seat is None else seat.hearing()
        ways_out = self._ways_out(scene) if seat is None else seat.sources(agent)
        own = (*ways_out, *self._helpers(scene))
        part = Part(agent, prompt, scene.path, scene.trigger, scene.facts, own, hearing, scene.is_settled)
        session = Session(part, self._stage)
        report = await (session.run() if seat is None else seat.take(session))
        return Played(report, session)

    def _ways_out(self, scene: Scene) -> tuple[Source, ...]:
        agent = scene.agent
        reports = (FinalReport(agent),) if agent.reports else ()
        return (*reports, HandoffTo(agent)) if agent.router else reports

    def _helpers(self, scene: Scene) -> tuple[Source, ...]:
        return (SubAgents(scene, self._stage.cast, self.perform),) if scene.agent.agents else ()
