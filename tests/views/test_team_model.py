"""Whatever members of a team say, ask, answer and read in whatever order: its files show what the store says, and what
was done to the files in between makes no difference."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from moot.bus import mailbox
from moot.bus.messages import Kind
from moot.core.errors import MootError
from moot.core.ids import HostId
from moot.core.tx import Tx
from moot.registry import agents, hosts, instances, runs, stopping
from moot.registry.agents import Agent, NewAgent
from moot.registry.hosts import NewHost
from moot.registry.instances import Instance
from moot.registry.runs import NewRun
from moot.requests import requests
from moot.requests.requests import Answerer
from moot.requests.requests import Kind as RequestKind
from moot.teams import stages, teams
from moot.teams.teams import NewTeam, Team
from moot.tools import asking, attendance, talk
from moot.tools.asking import Question, Reply
from moot.tools.talk import Words
from moot.views.team.keeper import TeamViews
from tests.modelled import DATABASES, Bench, bench
from tests.tools.team import MEMBERS
from tests.views import shown

_NUMBERS = count()
EXAMPLES = 12  # after each of 40 steps everything is looked at, on disk too
WHO = st.sampled_from(list(MEMBERS))
KINDS: list[Kind] = ["message", "broadcast", "task", "question", "status"]
ASKED: list[RequestKind] = ["question", "plan_approval", "permission", "shutdown", "mode_set"]


class TeamModel(RuleBasedStateMachine):
    """A team at work, its files, and somebody who spoils them now and then."""

    def __init__(self, bench: Bench, root: Path) -> None:
        super().__init__()
        self.bench = bench
        self.root = root / f"project{next(_NUMBERS)}"
        self.root.mkdir()
        self.views = TeamViews(bench.store, self.root)

    @initialize(lead=st.sampled_from(["external", "scripted", "human"]))
    def form(self, lead: str) -> None:
        def change(tx: Tx) -> tuple[Instance, dict[str, Agent]]:
            instance = instances.ensure(tx, f"i{next(_NUMBERS)}")
            found = {
                name: agents.ensure(tx, instance, NewAgent(name, backend=lead if part == "lead" else "scripted"))
                for name, part in MEMBERS.items()
            }
            teams.form(tx, NewTeam(instance.name, instance.stream, "a goal", MEMBERS))
            return instance, found

        self.instance, self.members = self.bench.write(change)

    def tried(self, change: Callable[[Tx], object]) -> None:
        """Whether it may be done or not, the files show what came of it."""
        with suppress(MootError):
            self.bench.write(change)

    @rule(who=WHO, to=st.lists(WHO, max_size=2), kind=st.sampled_from(KINDS), is_high=st.booleans())
    def somebody_speaks(self, who: str, to: list[str], kind: Kind, is_high: bool) -> None:
        body = "urgent: héllo\n# no heading" if is_high else "hello"
        words = Words(body, to=tuple(to), kind=kind)
        self.tried(lambda tx: talk.say(tx, self.instance, self.members[who], words))

    @rule(who=WHO)
    def somebody_reads(self, who: str) -> None:
        def change(tx: Tx) -> None:
            for mail in mailbox.show(tx, self.members[who].id, None, 2):
                mailbox.ack_named(tx, self.members[who].id, mail.seq)

        self.tried(change)

    @rule(who=WHO, is_revived=st.booleans())
    def mail_is_given_up_or_revived(self, who: str, is_revived: bool) -> None:
        change = mailbox.revive if is_revived else mailbox.park_queued
        self.tried(lambda tx: change(tx, self.members[who].id))

    @rule(who=WHO, to=st.sampled_from([*MEMBERS, "human"]), kind=st.sampled_from(ASKED))
    def somebody_asks(self, who: str, to: str, kind: RequestKind) -> None:
        mode = "read-only" if kind == "mode_set" else None
        question = Question(to, kind, f"number {next(_NUMBERS)}", mode=mode)
        self.tried(lambda tx: asking.ask(tx, self.instance, self.members[who], question))

    @rule(data=st.data(), verdict=st.sampled_from(["approved", "denied", "cancelled", "expired"]))
    def a_request_comes_to_its_end(self, data: st.DataObject, verdict: str) -> None:
        found = self.bench.read(lambda tx: requests.open_of(tx, self.instance.stream))
        if not found:
            return
        one = data.draw(st.sampled_from(found))
        by = Answerer(one.addressee, one.addressee_id)
        match verdict:
            case "cancelled":
                self.tried(lambda tx: asking.cancel(tx, self.instance, one.id, None, is_operator=True))
            case "expired":
                self.bench.clock.advance(700)
                self.tried(lambda tx: asking.expire(tx, one.id))
            case _:
                said = "answered" if one.kind == "question" else "approved" if verdict == "approved" else "denied"
                self.tried(lambda tx: asking.answer(tx, self.instance, one.id, Reply(said, "because"), by))

    @rule(who=WHO)
    def somebody_beats(self, who: str) -> None:
        self.bench.clock.advance(5)
        agent = self.members[who]
        self.tried(lambda tx: agents.heartbeat(tx, agent.id, status="busy", current_task=f"task {next(_NUMBERS)}"))

    @rule(who=WHO, is_stopped=st.booleans())
    def somebody_is_stopped_or_released(self, who: str, is_stopped: bool) -> None:
        def change(tx: Tx) -> None:
            (stopping.stop if is_stopped else stopping.release)(tx, self.members[who])
            attendance.settle(tx, self.instance.name)

        self.tried(change)

    def begin(self, tx: Tx, team: Team) -> None:
        host = HostId(hosts.register(tx, NewHost("here", "1:1", ("run",))))
        run = runs.start(tx, self.instance, NewRun("team", "team", "run", {}, {}, host))
        teams.begin(tx, team, run.id)
        attendance.settle(tx, self.instance.name)

    @rule(data=st.data())
    def the_team_goes_on(self, data: st.DataObject) -> None:
        team = self.bench.read(lambda tx: teams.get(tx, self.instance.name))
        if team.run is None:
            self.bench.write(lambda tx: self.begin(tx, team))
            return
        to = data.draw(st.sampled_from(stages.WAYS[team.stage]))
        self.tried(lambda tx: teams.move(tx, team, to, "a reason"))

    @rule(data=st.data())
    def a_file_is_spoilt(self, data: st.DataObject) -> None:
        found = sorted(shown.paths(self.root, self.instance.name))
        if found:
            name = data.draw(st.sampled_from(found))
            (shown.folder(self.root, self.instance.name) / name).write_bytes(b"spoilt")
            self.views = TeamViews(self.bench.store, self.root)  # as another host would find it

    @rule()
    def all_files_are_deleted(self) -> None:
        shutil.rmtree(self.root / ".codex-teams", ignore_errors=True)
        self.views = TeamViews(self.bench.store, self.root)

    def teardown(self) -> None:
        if hasattr(self, "instance"):
            self.bench.write(lambda tx: teams.disband(tx, self.instance.name))  # a look is at all that there are

    @invariant()
    def the_files_show_what_the_store_says(self) -> None:
        if hasattr(self, "instance"):
            self.bench.run(self.views.look())
            self.bench.run(shown.check(self.bench.store, self.root, self.instance.name))


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.slow
def test_files_of_teams_show_what_the_store_says(database: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    with bench(database, request) as used:

        class OnThisStore(TeamModel):
            def __init__(self) -> None:
                super().__init__(used, tmp_path)

        run_state_machine_as_test(OnThisStore, settings=settings(used.settings, max_examples=EXAMPLES))
