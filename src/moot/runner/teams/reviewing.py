"""Reviewing and comparing: lead and reviewers judge at the same time, moot takes together what they have found, and
what is to be mended goes back to whoever's work it is about."""

from collections import Counter
from collections.abc import Sequence

from moot.board import laying, tasks
from moot.board.plans import Planned
from moot.board.tasks import Task
from moot.core import text
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.registry import agents
from moot.runner.teams import notices, situation, waiting
from moot.runner.teams.situation import Situation
from moot.teams import reviews, teams
from moot.teams.reviews import Issue, Review
from moot.tools import agreement

_MOST_ASKED = 2


def review(tx: Tx, now: Situation) -> bool:
    """On to comparing, once everybody has reported."""
    found = reviews.of_round(tx, now.team)
    if not found:
        jobs.add(tx, NewJob(f"{situation.MATERIAL}:{now.run.id}", situation.MATERIAL, now.run.stream, now.run.id))
        return False
    missing = [one for one in found if not one.is_given]
    if not missing:
        return teams.move(tx, now.team, "comparing")
    for one in missing:
        is_quiet = now.is_started(one.reviewer) and now.is_quiet([one.reviewer])
        if not is_quiet or waiting.is_for_answer(tx, now, one.reviewer):
            continue
        if one.asked >= _MOST_ASKED:
            return teams.move(tx, now.team, "failed", f"{one.reviewer} gave no review")
        _ask_again(tx, now, one)
    return False


def ask(tx: Tx, now: Situation, document: str) -> None:
    """Everybody who judges, at the same time."""
    judges = (now.team.lead, *now.team.reviewers)
    for name in judges:
        reviews.ask(tx, now.team, name)
    notices.tell(tx, now, judges, _asked(tx, now, document))


def _ask_again(tx: Tx, now: Situation, one: Review) -> None:
    reviews.ask(tx, now.team, one.reviewer)
    body = f"Your review of round {one.round} is missing. Report with review_report: approved, or changes with issues."
    notices.tell(tx, now, (one.reviewer,), body)


def _asked(tx: ReadTx, now: Situation, document: str) -> str:
    done = [f"- {one.name}: {text.shortened(one.outcome or '', 500)}" for one in situation.ended_tasks(tx, now)]
    return "\n".join(
        [
            f"Review round {now.team.round} of: {now.team.goal}",
            "",
            "What was handed off:",
            *done,
            "",
            f"What was changed is in the document {document} (document_read).",
            "Judge on your own, then report with review_report: approved, or changes with the issues.",
            *([] if now.is_started(now.team.lead) else ["At a terminal type /approved, or /changes A; B."]),
        ]
    )


def compare(tx: Tx, now: Situation) -> bool:
    """All issues are to be mended, whoever has found them; without any, everything is merged."""
    found = reviews.compared(reviews.of_round(tx, now.team))
    if not found:
        notices.announce(tx, now, f"review-compare: round {now.team.round} is approved by everybody")
        return teams.move(tx, now.team, "merging")
    lines = [f"- {_spelled(one)} ({', '.join(one.by)})" for one in found]
    said = f"review-compare: {text.counted(len(found), 'issue')} in round {now.team.round}"
    notices.announce(tx, now, "\n".join([said, *lines]))
    if now.team.round >= now.team.most_rounds:
        left, rounds = text.counted(len(found), "issue"), text.counted(now.team.round, "round")
        return teams.move(tx, now.team, "failed", f"{left} left after {rounds}; moot resume allows another round")
    return teams.move(tx, now.team, "redelegating")


def redelegate(tx: Tx, now: Situation) -> bool:
    """Each issue is a task for the worker whose work it is about; then another round begins."""
    found = reviews.compared(reviews.of_round(tx, now.team))
    done = situation.ended_tasks(tx, now)
    planned = [
        Planned(
            f"issue {now.team.round}.{number}: {text.shortened(one.text, 80)}",
            _described(one),
            assigned=_concerned(tx, now, one, done, number),
            files=(one.file,) if one.file else (),
        )
        for number, one in enumerate(found, 1)
    ]
    laying.add_tasks(tx, now.board.id, planned)
    for one in planned:
        agreement.add_own(tx, now.team, one.name)
    return teams.move(tx, now.team, "working")


def _concerned(tx: ReadTx, now: Situation, issue: Issue, done: Sequence[Task], number: int) -> str:
    """Who did the task, or the most of what was to touch the file; else one after the other."""
    named = tasks.named(tx, now.board.id, issue.task) if issue.task else None
    about = [named] if named is not None else [one for one in done if issue.file and issue.file in one.files]
    by = Counter(agents.get(tx, one.done_by).name for one in about if one.done_by is not None)
    found = next((name for name, _ in by.most_common() if name in now.team.workers), None)
    return found or now.team.workers[(number - 1) % len(now.team.workers)]


def _described(issue: Issue) -> str:
    about = [f"Task: {issue.task}" if issue.task else "", f"File: {issue.file}" if issue.file else ""]
    return "\n".join(["A review has found this:", issue.text, *filter(None, about), f"Found by: {', '.join(issue.by)}"])


def _spelled(issue: Issue) -> str:
    about = ", ".join(part for part in (issue.task, issue.file) if part)
    return f"{about}: {issue.text}" if about else issue.text
