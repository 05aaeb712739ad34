"""The queue between writing processes, with real processes."""

import os
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from moot.store.sqlite.turnstile import Turnstile
from tests.store.sqlite.others import DEADLINE, Counter, hold_turn, other, take_turns

OTHERS = 4


class Quiet(Turnstile):
    """Remembers how many turns others had had when it got its place."""

    def __init__(self, database: Path, count: Counter) -> None:
        super().__init__(database)
        self._count = count
        self.asked_at = 0

    def _draw(self) -> int:
        number = super()._draw()
        self.asked_at = self._count.value
        return number


def enter(turnstile: Turnstile) -> threading.Event:
    """Ask for a turn on a thread; set when it came."""
    came = threading.Event()

    def ask() -> None:
        with turnstile:
            came.set()

    threading.Thread(target=ask, daemon=True).start()
    return came


def test_a_quiet_process_is_passed_once_by_each_busy_one_at_most(tmp_path: Path) -> None:
    database, count = tmp_path / "moot.db", Counter(tmp_path / "count")
    passed: list[int] = []
    with ExitStack() as running:
        busy = [running.enter_context(other(take_turns, database, tmp_path / "count")) for _ in range(OTHERS)]
        for process in busy:
            assert process.hears() == "ready"
        quiet = Quiet(database, count)
        for _ in range(150):
            with quiet:
                passed.append(count.value - quiet.asked_at)
        for process in busy:
            process.say("enough")
        turns = [int(process.hears()) for process in busy]
        for process in busy:
            process.end()
    assert max(passed) <= OTHERS
    assert max(passed) > 1, "the others were not busy"
    assert sum(turns) == count.value, "two were in at the same time"
    assert min(turns) > 1


def test_a_killed_holder_leaves(tmp_path: Path) -> None:
    with other(hold_turn, tmp_path / "moot.db") as holder:
        assert [holder.hears(), holder.hears()] == ["drawn", "held"]
        came = enter(Turnstile(tmp_path / "moot.db"))
        assert not came.wait(0.05)
        holder.kill()
        assert came.wait(DEADLINE)


def test_a_killed_waiter_leaves_its_place(tmp_path: Path) -> None:
    with other(hold_turn, tmp_path / "moot.db") as holder:
        assert [holder.hears(), holder.hears()] == ["drawn", "held"]
        with other(hold_turn, tmp_path / "moot.db") as waiter:
            assert waiter.hears() == "drawn"
            waiter.kill()
        holder.end()
        assert enter(Turnstile(tmp_path / "moot.db")).wait(DEADLINE)


def test_turns_are_kept_between_two_stores_of_one_process(tmp_path: Path) -> None:
    first, second = Turnstile(tmp_path / "moot.db"), Turnstile(tmp_path / "moot.db")
    with first:
        came = enter(second)
        assert not came.wait(0.05)
    assert came.wait(DEADLINE)


def test_at_once_one_enters_only_where_nobody_is_before(tmp_path: Path) -> None:
    first, second = Turnstile(tmp_path / "moot.db"), Turnstile(tmp_path / "moot.db")
    assert first.is_entered_at_once()
    assert not second.is_entered_at_once()
    came = enter(second)
    assert not came.wait(0.05)
    first.leave()
    assert came.wait(DEADLINE)


def test_at_once_one_does_not_pass_those_who_wait(tmp_path: Path) -> None:
    with other(hold_turn, tmp_path / "moot.db") as holder:
        assert [holder.hears(), holder.hears()] == ["drawn", "held"]
        with other(hold_turn, tmp_path / "moot.db") as waiter:
            assert waiter.hears() == "drawn"
            holder.kill()
            assert waiter.hears() == "held"
            turnstile = Turnstile(tmp_path / "moot.db")
            assert not turnstile.is_entered_at_once()
            waiter.end()
        assert turnstile.is_entered_at_once()


def test_a_counter_that_was_spoilt_only_changes_numbers(tmp_path: Path) -> None:
    (tmp_path / "moot.db-turn").write_bytes(b"\xff" * 20)
    for _ in range(3):
        with Turnstile(tmp_path / "moot.db"):
            pass
    first, second = Turnstile(tmp_path / "moot.db"), Turnstile(tmp_path / "moot.db")
    with first:
        came = enter(second)
        assert not came.wait(0.05)
    assert came.wait(DEADLINE)


@pytest.mark.skipif(not hasattr(os, "O_PATH"), reason="needs a descriptor that cannot be locked")
def test_where_locks_do_not_work_everybody_goes_in(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    turnstile = Turnstile(tmp_path / "moot.db")
    turnstile.close()
    turnstile._file = os.open(tmp_path, os.O_PATH)  # pyright: ignore[reportPrivateUsage]
    with turnstile:
        assert "out of turn" in caplog.text
    turnstile.close()
