"""A board behaves like a few lines of Python over dictionaries, whatever is done to it in whatever order."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from moot.board import boards, claims, laying, progress, states, tasks
from moot.board.boards import NewBoard
from moot.board.claims import LEASE, Holder, Taken
from moot.board.plans import Need, Plan, Planned
from moot.board.progress import Result
from moot.board.states import BoardStatus
from moot.board.tasks import Task
from moot.core.errors import MootError
from moot.core.ids import DEFAULT_INSTANCE, BoardId, StreamId
from moot.core.tx import ReadTx, Tx
from moot.registry import instances
from tests.board.desk import ANN, BOB
from tests.modelled import DATABASES, Bench, bench

ANN_ANEW = Holder(ANN.agent, ANN.name, "another token")
HOLDERS = st.sampled_from([ANN, BOB, ANN_ANEW])
NAMES = "abcd"
ENDED = ("completed", "skipped")
HELD = ("planning", "in_progress", "verifying")


@dataclass
class Expected:
    """A task as the model sees it."""

    needs: frozenset[str]  # those that block it
    status: str = "pending"
    holder: Holder | None = None
    until: datetime | None = None
    may_wait: bool = True  # once it was claimed, what its plan says later does not count


@dataclass
class Model:
    status: str = "planning"
    tasks: dict[str, Expected] = field(default_factory=dict[str, Expected])  # in the order of the plan

    def waits(self, name: str) -> int:
        one = self.tasks[name]
        return sum(self.tasks[need].status not in ENDED for need in one.needs) if one.may_wait else 0

    @property
    def ready(self) -> list[str]:
        return [name for name, one in self.tasks.items() if one.status == "pending" and not self.waits(name)]

    @property
    def is_left(self) -> bool:
        return any(one.status not in ENDED for one in self.tasks.values())

    @property
    def is_moving(self) -> bool:
        return bool(self.ready) or any(one.status in HELD for one in self.tasks.values())

    def settle(self) -> None:
        if self.is_moving:
            self.status = "in_progress" if self.status == "failed" else self.status
        elif not self.is_left:
            self.status = "completed" if self.status in ("ready", "in_progress", "failed") else self.status
        elif self.status == "in_progress":
            self.status = "failed"


@st.composite
def planned(draw: st.DrawFn, names: str = NAMES) -> tuple[Planned, ...]:
    """Tasks that need only such as come before them in the alphabet, in any order."""
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
    return tuple(
        Planned(
            name,
            needs=tuple(
                Need(other, draw(st.sampled_from(["blocks", "blocks", "informs"])))
                for other in sorted(chosen)
                if other < name and draw(st.booleans())
            ),
        )
        for name in chosen
    )


def blocking(task: Planned) -> frozenset[str]:
    return frozenset(need.name for need in task.needs if need.kind == "blocks")


class BoardModel(RuleBasedStateMachine):
    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        self.model = Model()
        self.id, self.stream = bench.write(self._made)

    @staticmethod
    def _made(tx: Tx) -> tuple[BoardId, StreamId]:
        instance = instances.ensure(tx, DEFAULT_INSTANCE)
        made = boards.create(tx, NewBoard(instance.name, instance.stream, "a board", "prompt", "do it"))
        return made.id, instance.stream

    @property
    def now(self) -> datetime:
        return self.bench.clock.now()

    def attempted(self, change: Callable[[Tx], object], code: str | None) -> bool:
        """Do it; whether it was done, as the model has it."""
        refusal = None
        try:
            self.bench.write(change)
        except MootError as error:
            refusal = error.code
        assert refusal == code
        return refusal is None

    def any_of(self, data: st.DataObject) -> tuple[str, Expected] | None:
        return data.draw(st.sampled_from(list(self.model.tasks.items()))) if self.model.tasks else None

    def task(self, tx: Tx, name: str) -> Task:
        found = tasks.named(tx, self.id, name)
        assert found is not None
        return tasks.locked(tx, found.id)

    def is_held_by(self, one: Expected, holder: Holder) -> bool:
        return one.status in HELD and one.holder == holder and one.until is not None and one.until > self.now

    @rule(seconds=st.sampled_from([1, 200, 301]))
    def time_goes_by(self, seconds: int) -> None:
        self.bench.clock.advance(seconds)

    @initialize(new=planned())
    def first_plan(self, new: tuple[Planned, ...]) -> None:
        self.plan_it(new)

    @rule(new=planned())
    def plan(self, new: tuple[Planned, ...]) -> None:
        self.plan_it(new)

    def plan_it(self, new: tuple[Planned, ...]) -> None:
        names = {task.name for task in new}
        old = {name: one for name, one in self.model.tasks.items() if name not in names}
        code = "INVALID_PLAN" if any(one.status in HELD for one in old.values()) else None
        if not self.attempted(lambda tx: laying.set_plan(tx, self.id, Plan(tasks=new)), code):
            return
        kept = {name: one for name, one in self.model.tasks.items() if one.status in (*ENDED, *HELD)}
        self.model.tasks = {task.name: kept.get(task.name) or Expected(blocking(task)) for task in new}
        self.model.tasks |= {name: one for name, one in old.items() if one.status in ENDED}
        self.go_on()

    @rule(data=st.data())
    def add(self, data: st.DataObject) -> None:
        free = [name for name in NAMES if name not in self.model.tasks]
        if not free:
            return
        name = data.draw(st.sampled_from(free))
        others = data.draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=True).map(sorted))
        new = Planned(name, needs=tuple(Need(other) for other in others))
        code = None if name not in others and set(others) <= self.model.tasks.keys() else "INVALID_PLAN"
        if self.attempted(lambda tx: laying.add_tasks(tx, self.id, (new,)), code):
            self.model.tasks[name] = Expected(blocking(new))
            self.go_on()

    def go_on(self) -> None:
        self.model.status = {"planning": "ready", "completed": "in_progress", "failed": "in_progress"}.get(
            self.model.status, self.model.status
        )
        self.model.settle()

    @rule(data=st.data(), holder=HOLDERS)
    def claim(self, data: st.DataObject, holder: Holder) -> None:
        found = self.any_of(data)
        if found is None:
            return
        self.claim_task(*found, holder)

    def claim_task(self, name: str, one: Expected, holder: Holder) -> None:
        is_open = self.model.status in ("ready", "in_progress")
        is_free = name in self.model.ready
        is_own = one.holder is not None and one.holder.agent == holder.agent
        is_lost = one.status in ("planning", "in_progress") and one.until is not None and one.until <= self.now
        taken = self.bench.write(lambda tx: claims.claim(tx, self.task(tx, name).id, holder, self.stream))
        assert isinstance(taken, Taken) == (is_open and (is_free or is_own or is_lost))
        if not isinstance(taken, Taken):
            return
        one.status = one.status if is_own else "planning"
        one.holder, one.until, one.may_wait = holder, self.now + LEASE, False
        self.model.status = "in_progress"

    @rule(data=st.data(), holder=HOLDERS, how=st.sampled_from(["completed", "completed", "failed", "released"]))
    def end(self, data: st.DataObject, holder: Holder, how: str) -> None:
        found = self.any_of(data)
        if found is None:
            return
        self.end_task(*found, holder, how)

    def end_task(self, name: str, one: Expected, holder: Holder, how: str) -> None:
        def change(tx: Tx) -> None:
            task = claims.hold(tx, self.task(tx, name).id, holder.hand, self.stream)
            match how:
                case "completed":
                    progress.complete(tx, task, Result("done"))
                case "failed":
                    progress.fail(tx, task, Result(error="broken"))
                case _:
                    claims.release(tx, task, "enough")

        if self.attempted(change, None if self.is_held_by(one, holder) else "CLAIM_LOST"):
            one.status, one.holder, one.until = "pending" if how == "released" else how, None, None
            if how != "released":
                self.model.settle()

    @rule(how=st.sampled_from(["completed", "failed"]))
    def work(self, how: str) -> None:
        """Whatever can be claimed first, to its end: so boards come to theirs."""
        if self.model.ready and self.model.status in ("ready", "in_progress"):
            name = self.model.ready[0]
            self.claim_task(name, self.model.tasks[name], ANN)
            self.end_task(name, self.model.tasks[name], ANN, how)

    @rule(data=st.data(), how=st.sampled_from(["skipped", "pending"]))
    def decide(self, data: st.DataObject, how: str) -> None:
        """What was not done is not to be done, or once more; most often of what has failed."""
        failed = [(name, one) for name, one in self.model.tasks.items() if one.status == "failed"]
        found = data.draw(st.sampled_from(failed)) if failed else self.any_of(data)
        if found is None:
            return
        name, one = found
        may = one.status not in ENDED if how == "skipped" else one.status == "failed"

        def change(tx: Tx) -> None:
            if how == "skipped":
                progress.skip(tx, self.task(tx, name), Result())
            else:
                progress.retry(tx, self.task(tx, name))

        if self.attempted(change, None if may else "INVALID_TRANSITION"):
            one.status, one.holder, one.until = how, None, None
            self.model.settle()

    @rule(holder=HOLDERS)
    def give_a_sign_of_life(self, holder: Holder) -> None:
        held = [one for one in self.model.tasks.values() if self.is_held_by(one, holder)]
        assert self.bench.write(lambda tx: claims.renew_all(tx, holder.agent, holder.hand)) == len(held)
        for one in held:
            one.until = self.now + LEASE

    @rule(holder=HOLDERS)
    def leave(self, holder: Holder) -> None:
        held = [one for one in self.model.tasks.values() if one.holder and one.holder.agent == holder.agent]
        assert self.bench.write(lambda tx: claims.release_all(tx, holder.agent, "gone")) == len(held)
        for one in held:
            one.status, one.holder, one.until = "pending", None, None

    @rule(status=st.sampled_from(["paused", "in_progress"]))
    def move(self, status: BoardStatus) -> None:
        before = self.model.status
        is_there = before == status
        code = None if is_there or status in states.BOARD[before] else "INVALID_TRANSITION"  # pyright: ignore[reportArgumentType]
        if self.attempted(lambda tx: progress.move_board(tx, self.id, status), code) and not is_there:
            self.model.status = status
            if status == "in_progress":
                self.model.settle()

    @invariant()
    def the_store_agrees(self) -> None:
        def look(tx: ReadTx) -> tuple[str, list[Task], list[str]]:
            ready = [one.name for one in tasks.available(tx, self.id, 100)]
            return boards.get(tx, self.id).status, tasks.page(tx, self.id), ready

        status, found, ready = self.bench.read(look)
        assert status == self.model.status
        assert {one.name: one.status for one in found} == {name: one.status for name, one in self.model.tasks.items()}
        for one in found:
            expected = self.model.tasks[one.name]
            assert (one.hand, one.lease_until) == (expected.holder and expected.holder.hand, expected.until)
            assert one.status != "pending" or one.blockers == self.model.waits(one.name)
        lapsed = {
            name for name, one in self.model.tasks.items() if one.status in HELD and one.until and one.until <= self.now
        }
        assert set(ready) == lapsed | set(self.model.ready)
        assert ready[len(lapsed) :] == sorted(self.model.ready, key=[one.name for one in found].index)

    def teardown(self) -> None:
        """Signs of life count all that an agent holds, on any board."""
        for holder in (ANN, BOB):
            self.bench.write(lambda tx, holder=holder: claims.release_all(tx, holder.agent, "over"))


@pytest.mark.parametrize("database", DATABASES)
def test_a_board_behaves_like_its_model(request: pytest.FixtureRequest, database: str) -> None:
    with bench(database, request) as used:

        class OnThisStore(BoardModel):
            def __init__(self) -> None:
                super().__init__(used)

        run_state_machine_as_test(OnThisStore, settings=used.settings)
