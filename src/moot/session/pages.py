"""The pages of one session: what is done is gathered, and written together with what is begun next."""

from collections.abc import Mapping

from moot.core.json import Json
from moot.core.tree_path import Trigger
from moot.session import reports
from moot.session.journal import Done, Intent, Journal
from moot.session.report import Report


class Pages:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._done: list[Done] = []
        self._begun: list[Intent] = []

    def add(self, *done: Done) -> None:
        """It is on record with the next page, before anybody relies on it."""
        self._done += done

    def open(self, begun: Intent) -> None:
        """The same for something that begins with whatever comes first in it."""
        self._begun.append(begun)

    def begin_session(self, path: str, agent: str, trigger: Trigger, facts: Mapping[str, Json]) -> None:
        if self._journal.known(path) is None:
            self.open(Intent(path, "session", agent, agent, trigger, facts))

    def end_session(self, path: str, report: Report, whole: str | None = None) -> None:
        """Who is only interrupted, by the end of moot itself, has not ended. Whatever is still open in the whole of it
        was cut off: nobody waits for that any more, nor for what was set aside for it."""
        if report.failure == "shutdown":
            return
        settled = {one.path for one in self._done}
        lost = [one for one in self._journal.open_below(path if whole is None else whole) if one not in settled]
        self.add(*(Done(one, is_lost=True) for one in lost if one != path))
        known, plain = self._journal.known(path), reports.plain(report)
        if known is None or known.state != "done" or known.result != plain:
            error = None if report.failure is None else report.error
            self.add(Done(path, plain, stop=report.failure or "", error=error))

    async def turn(self, *begun: Intent) -> None:
        """Write all of it, in one commit."""
        done, opened = self._done, self._begun
        self._done, self._begun = [], []
        if opened and {one.path for one in opened} & {
            one.path for one in done
        }:  # it ended before it had begun anything
            await self._journal.note(begun=opened)
            opened = []
        if done or opened or begun:
            await self._journal.note(done, (*opened, *begun))
