"""The past of a session: what is on record of it when it is executed again, after a crash or a pause."""

from moot.core.records import record
from moot.core.tree_path import TreePath
from moot.models import keeping
from moot.models.model import Answer
from moot.session import reports
from moot.session.hearing import Heard
from moot.session.journal import Journal, Known
from moot.session.report import Report
from moot.session.turn import Facts, Turn

_NOTHING_HEARD = Facts()


@record
class Past:
    journal: Journal
    path: TreePath

    def turn(self, number: int) -> Turn:
        """With what was heard then, and whether it had to be the last."""
        path = self.path.turn(number)
        request = path.request()
        known = self.journal.known(request)
        return Turn(number, path, request, known, _NOTHING_HEARD if known is None else Facts.of(known.facts))

    def facts(self, number: int) -> Facts | None:
        """Of a turn; None if it was not made."""
        known = self.journal.known(self.path.turn(number).request())
        return None if known is None else Facts.of(known.facts)

    def words(self, number: int) -> Heard | None:
        """With which it was asked again."""
        known = self.journal.known(self.path.asked_again(number))
        return None if known is None else Heard.of(known.facts)

    def failure(self, path: TreePath) -> Report | None:
        """How what has this path failed, if it did; who is only put off has not."""
        known = self.journal.known(path)
        ended = reports.load(known.result) if known is not None and known.state == "failed" else None
        return None if ended is None or ended.is_put_off else ended

    def has_reported(self, path: TreePath) -> bool:
        known = self.journal.known(path)
        return known is not None and known.state == "done"


def answer(known: Known) -> Answer:
    return keeping.load(known.result) if known.state == "done" else Answer()
