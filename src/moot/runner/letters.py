"""Mail for a session while it runs. What it was told, be it by an attempt before this one, it is not told again."""

from collections.abc import Collection

from moot.backends.backend import Assignment, Letter
from moot.bus.mailbox import Mail
from moot.core import quoting
from moot.runner.journals import StoredJournal
from moot.session.hearing import Heard
from moot.session.incoming import Incoming

_MOST_OF_MAIL = 50_000  # characters of one message


class Letters(Incoming):
    """First what has come between the attempts, then what comes while this one runs."""

    def __init__(self, assignment: Assignment, journal: StoredJournal | None) -> None:
        super().__init__(self._wait)
        self._assignment = assignment
        self._journal = journal
        self._waiting: tuple[Mail, ...] = () if journal is None else journal.untold()

    def take(self) -> Heard | None:
        if self._waiting:
            waiting, self._waiting = self._waiting, ()
            return _heard(waiting)
        return super().take()

    async def give_back(self) -> None:
        """Nobody has listened."""
        if self._waiting and self._journal is not None:
            await self._journal.give_back(self._waiting)

    async def _wait(self) -> Heard | None:
        while True:
            letters = await self._assignment.more()
            new = [one for one in letters if self._journal is None or not self._journal.was_told(one.id)]
            if new or not letters:
                return _heard(new) if new else None


def _heard(letters: Collection[Letter | Mail]) -> Heard:
    text = quoting.arrived(
        quoting.letter(one.sender, one.body, _MOST_OF_MAIL, is_urgent=one.priority == "high") for one in letters
    )
    return Heard(text, {"mail": [one.id for one in letters]})
