"""The checker finds an order where there is one, and none where there is none."""

import pytest

from tests.linearizable import History, Operation, is_linearizable

Told = Operation[str, str]


def register(state: str, asked: str, answered: str | None) -> str | None:
    """A value that is written and read: `write x` is answered with `ok`, `read` with the value."""
    if asked.startswith("write "):
        return asked.removeprefix("write ")
    return state if answered in (state, None) else None


POSSIBLE = {
    "nothing": [],
    "one after the other": [Told("write 1", "ok", 0, 1), Told("read", "1", 2, 3)],
    "a read during a write sees the old": [Told("write 1", "ok", 0, 5), Told("read", "0", 1, 2)],
    "a read during a write sees the new": [Told("write 1", "ok", 0, 5), Told("read", "1", 1, 2)],
    "two writes at once in either order": [
        Told("write 1", "ok", 0, 5),
        Told("write 2", "ok", 0, 5),
        Told("read", "1", 6, 7),
        Told("read", "1", 8, 9),
    ],
    "an unknown write happened": [Told("write 1", None, 0), Told("read", "0", 1, 2), Told("read", "1", 3, 4)],
    "an unknown write did not happen": [Told("write 1", None, 0), Told("read", "0", 5, 6)],
}
IMPOSSIBLE = {
    "a stale read": [Told("write 1", "ok", 0, 1), Told("read", "0", 2, 3)],
    "a value from nowhere": [Told("read", "7", 0, 1)],
    "old after new": [Told("write 1", "ok", 0, 9), Told("read", "1", 1, 2), Told("read", "0", 3, 4)],
    "two readers who disagree": [
        Told("write 1", "ok", 0, 9),
        Told("write 2", "ok", 0, 9),
        Told("read", "1", 10, 11),
        Told("read", "2", 12, 13),
    ],
}


@pytest.mark.parametrize("history", POSSIBLE.values(), ids=POSSIBLE)
def test_what_could_have_happened_is_found(history: list[Told]) -> None:
    assert is_linearizable(history, "0", register)


@pytest.mark.parametrize("history", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_could_not_have_happened_is_found_out(history: list[Told]) -> None:
    assert not is_linearizable(history, "0", register)


async def test_a_history_remembers_what_was_never_answered() -> None:
    history: History[str, str] = History()

    async def fine() -> str:
        return "ok"

    async def lost() -> str:
        raise ConnectionError

    await history.run("write 1", fine)
    with pytest.raises(ConnectionError):
        await history.run("write 2", lost)
    assert [(one.asked, one.answered) for one in history.operations] == [("write 1", "ok"), ("write 2", None)]
    assert history.operations[0].ended <= history.operations[1].begun
