"""The pages of one session: what is done is gathered, and written together with what is begun next."""

from moot.session.journal import Begun, Done, Journal


class Pages:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._done: list[Done] = []
        self._begun: list[Begun] = []

    def add(self, *done: Done) -> None:
        """It is on record with the next page, before anybody relies on it."""
        self._done += done

    def open(self, begun: Begun) -> None:
        """The same for something that begins with whatever comes first in it."""
        self._begun.append(begun)

    async def turn(self, *begun: Begun) -> None:
        """Write all of it, in one commit."""
        done, opened = self._done, self._begun
        self._done, self._begun = [], []
        if {one.path for one in opened} & {one.path for one in done}:  # it ended before anything was begun in it
            await self._journal.note(begun=opened)
            opened = []
        if done or opened or begun:
            await self._journal.note(done, (*opened, *begun))
