"""The crew of a host: who does which kind of job, and with what."""

import asyncio
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from moot.app import backends, settings
from moot.app.outfitter import Outfitter
from moot.app.project import Project
from moot.app.shelves import Shelves
from moot.backends.backend import Backend
from moot.core.ids import HostId
from moot.core.records import record
from moot.engine.expressions.sandbox import Sandbox
from moot.runner import expiry, handing_out, limit_workers, limits, neighbours, phases
from moot.runner.attempts import AttemptWorker
from moot.runner.flows.deeds import Deeds
from moot.runner.flows.worker import FlowWorker
from moot.runner.journals import Signs
from moot.runner.kickoff import KickoffWorker
from moot.runner.notify import NotifyWorker
from moot.runner.own_transaction import OwnTransaction
from moot.runner.reactions import begin_talk, notify_people, wake_agents
from moot.runner.retry import Retry
from moot.runner.setup import SetupWorker
from moot.runner.stage import Stage
from moot.runner.teams import advancing as advancing_teams
from moot.runner.teams import situation
from moot.runner.teams.material import MaterialWorker
from moot.runner.trails import Trails
from moot.runner.verify_worker import VerifyWorker
from moot.runner.worker import Worker
from moot.runner.worktree_worker import WorktreeWorker
from moot.store.store import Store
from moot.tools import advancing, asking, guards, isolation, lapsing, teamwork, verifying, voting

if TYPE_CHECKING:
    from moot.client.external import Surroundings


@record
class Crew:
    project: Project
    store: Store
    outfitter: Outfitter
    sandbox: Sandbox
    stopping: asyncio.Event
    retry: Retry
    trails: Trails
    stage: Stage | None  # records what happens, or plays it again

    def workers(self, host: HostId) -> Mapping[str, Worker]:
        """By the kind of job."""
        attempts, flows, own, stage = self._attempts(host), self._flows(), self._own(), self.stage
        setup = SetupWorker(self.store, self.project.root, self.outfitter.guardian)
        return {
            wake_agents.ATTEMPT: stage.attempts(attempts) if stage else attempts,
            phases.SETUP: stage.setup(setup) if stage else setup,
            advancing.ADVANCE: stage.flows(flows, self.sandbox) if stage else flows,
            isolation.WORKTREE: WorktreeWorker(self.outfitter.worktrees),
            **{kind: stage.own(worker) if stage else worker for kind, worker in own.items()},
        }

    def _attempts(self, host: HostId) -> AttemptWorker:
        found: Mapping[str, Backend] = backends.Backends()
        equip = self.outfitter.equip
        if self.stage is not None:
            found, equip = self.stage.backends(found), self.stage.equip(equip)
        time_limit = settings.time_limit(self.project.config)
        signs = Signs(self.stopping)
        return AttemptWorker(self.store, host, found, equip, self.retry, time_limit, self.trails, signs)

    def _flows(self) -> FlowWorker:
        project = self.project
        deeds = Deeds(
            self.store,
            project.root,
            project.folder / "steps",
            f"{neighbours.machine()} {project.folder}",
            self.outfitter.guardian,
            settings.servers(project.config),
            Shelves(project),
        )
        ears = self.outfitter.around.ears
        return FlowWorker(self.store, self.sandbox, deeds, self._around, self.stopping, ears=ears)

    def _around(self) -> "Surroundings":
        from moot.client.external import Surroundings  # noqa: PLC0415  # brings the whole MCP library along

        return Surroundings(self.project.root, os.environ, self.outfitter.guardian)

    def _own(self) -> Mapping[str, Worker]:
        """Of moot itself: what needs neither an agent nor a step."""
        store, project, outfitter = self.store, self.project, self.outfitter
        notify = settings.notify(project.config)
        return {
            begin_talk.KICKOFF: KickoffWorker(),
            voting.EXPIRE: OwnTransaction(store, expiry.end_proposal),
            asking.EXPIRE: OwnTransaction(store, expiry.end_request),
            notify_people.NOTIFY: NotifyWorker(store, project.root, notify, outfitter.guardian),
            guards.LIMIT: OwnTransaction(store, limit_workers.end_talk),
            limits.TIME: OwnTransaction(store, limit_workers.end_in_time),
            lapsing.LAPSE: OwnTransaction(store, lapsing.give_back),
            handing_out.HAND_OUT: OwnTransaction(store, handing_out.hand_out),
            teamwork.LOOK: OwnTransaction(store, advancing_teams.advance),
            situation.MATERIAL: MaterialWorker(store, outfitter.worktrees),
            verifying.VERIFY: VerifyWorker(store, outfitter.worktrees, outfitter.guardian),
        }
