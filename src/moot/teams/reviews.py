"""Reviews: what each reviewer says of a round's work, once; and what they say together."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal

from moot.core import json
from moot.core.events import Event
from moot.core.ids import RunId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.store import queries
from moot.teams.errors import ReviewRefused
from moot.teams.teams import Team

sql = queries.beside(__file__)
Verdict = Literal["approved", "changes"]
REVIEWED = "team_reviewed"


@record
class Issue:
    """Something that is not as it should be, and what it is about as far as that is known."""

    text: str
    task: str | None = None  # the name of a task
    file: str | None = None
    by: tuple[str, ...] = ()  # the reviewers who have found it


@record
class Review:
    run: RunId
    round: int
    reviewer: str
    verdict: Literal["", "approved", "changes"]  # empty: not given yet
    issues: tuple[Mapping[str, Json], ...]
    asked: int  # how often
    at: datetime

    @property
    def is_given(self) -> bool:
        return self.verdict != ""

    @property
    def found(self) -> tuple[Issue, ...]:
        return tuple(
            Issue(str(one["text"]), _text(one.get("task")), _text(one.get("file")), (self.reviewer,))
            for one in self.issues
        )


def ask(tx: Tx, team: Team, reviewer: str) -> None:
    """For the round of the team, once more if that was done before."""
    tx.run(sql.ask, instance=team.instance, run=team.run, round=team.round, reviewer=reviewer, now=tx.now)


def renew(tx: Tx, team: Team) -> None:
    """Who has said nothing yet is asked as if for the first time."""
    tx.run(sql.renew, run=team.run, round=team.round)


def give(tx: Tx, team: Team, reviewer: str, verdict: Verdict, issues: Sequence[Issue]) -> bool:
    """What the reviewer says, once; the same again changes nothing (False). ReviewRefused if nobody has asked."""
    tx.lock("instances", team.instance)
    said = json.dumps([{"text": one.text, "task": one.task, "file": one.file} for one in issues])
    if tx.run(sql.give, run=team.run, round=team.round, reviewer=reviewer, verdict=verdict, issues=said, now=tx.now):
        facts = {"round": team.round, "by": reviewer, "verdict": verdict, "issues": len(issues)}
        tx.announce(Event(team.stream, REVIEWED, team.instance, facts))
        return True
    before = next((one for one in of_round(tx, team) if one.reviewer == reviewer), None)
    if before is None or not before.is_given:
        raise ReviewRefused(
            f"Nobody has asked {reviewer} for a review now.", "Wait until the work of a round is done; you are told."
        )
    if (before.verdict, json.dumps(list(before.issues))) != (verdict, said):
        raise ReviewRefused(f"{reviewer} has reviewed round {team.round} already.", "Nothing was changed.")
    return False


def of_round(tx: ReadTx, team: Team) -> list[Review]:
    """Those that were asked for in the round that the team is in, by the names of who gives them."""
    return tx.all(sql.of_round, Review, run=team.run, round=team.round)


def of_run(tx: ReadTx, run: RunId) -> list[Review]:
    return tx.all(sql.of_run, Review, run=run)


def compared(reviews: Iterable[Review]) -> list[Issue]:
    """All that was found, each once, with everybody who has found it."""
    found: dict[tuple[str, str, str], Issue] = {}
    for one in (issue for review in reviews for issue in review.found):
        key = (_folded(one.task), _folded(one.file), _folded(one.text))
        before = found.get(key)
        found[key] = one if before is None else Issue(before.text, before.task, before.file, (*before.by, *one.by))
    return list(found.values())


def _folded(text: str | None) -> str:
    return " ".join((text or "").casefold().split())


def _text(value: Json) -> str | None:
    return None if value is None else str(value)
