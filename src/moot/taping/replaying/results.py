"""Results: what came of a run beside its conversation, told from what happened in it: its documents, and its votes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field

from moot.core.records import record, replace
from moot.documents import documents
from moot.proposals import votes
from moot.taping.replaying.drifts import difference
from moot.taping.replaying.likeness import lasting
from moot.taping.tape import Happened

Plain = Callable[[str], str]  # makes a text comparable with the tape


@record
class _Text:
    content: str
    is_whole: bool  # False: what stood there before the run is not known


@record
class _Vote:
    title: str
    ballots: Mapping[str, str] = field(default_factory=dict[str, str])  # by voter: the choice, and why
    end: str = "open"

    def __str__(self) -> str:
        return ", ".join([*(f"{who}: {choice}" for who, choice in self.ballots.items()), self.end])


def compare(recorded: Iterable[Happened], now: Iterable[Happened], plain: Plain) -> Iterator[str]:
    """Every difference, in words."""

    def known(text: str) -> str:
        return lasting(plain(text))

    old, new = sorted(recorded, key=lambda one: one.seq), sorted(now, key=lambda one: one.seq)
    yield from _compare_documents(_documents(old, known), _documents(new, known))
    yield from _compare_votes(_votes(old, known), _votes(new, known))


def _documents(events: Iterable[Happened], known: Plain) -> dict[str, _Text | None]:
    """As they stand at the end; None: deleted."""
    found: dict[str, _Text | None] = {}
    for one in (each for each in events if each.kind == documents.CHANGED):
        name, before = known(one.subject), found.get(known(one.subject))
        if one.facts["action"] == "deleted":
            found[name] = None
        elif one.facts["action"] == "appended" and before is not None:
            found[name] = replace(before, content=before.content + known(str(one.facts["content"])))
        else:
            is_whole = one.facts["action"] != "appended" or one.facts.get("version") == 1
            found[name] = _Text(known(str(one.facts["content"])), is_whole)
    return found


def _compare_documents(old: Mapping[str, _Text | None], new: Mapping[str, _Text | None]) -> Iterator[str]:
    for name in sorted({*old, *new}):
        if name not in new or name not in old:
            if _is_empty(old.get(name)) and _is_empty(new.get(name)):
                continue  # it was made for somebody to write into, or was there already
            how = "is changed, which the recording does not have" if name in new else "was changed, and is not now"
            yield f"the document {name} {how}"
        elif (before := old[name]) is None or (after := new[name]) is None:
            if before is not new[name]:
                yield f"the document {name} {'was deleted in the recording' if before is None else 'is deleted now'}"
        elif not _is_alike(before, after):
            yield f"the document {name} differs: {difference(before.content, after.content)}"


def _is_empty(text: _Text | None) -> bool:
    return text is None or not text.content


def _is_alike(before: _Text, after: _Text) -> bool:
    if before.is_whole and after.is_whole:
        return before.content == after.content
    return before.content.endswith(after.content) or after.content.endswith(before.content)


def _votes(events: Iterable[Happened], known: Plain) -> dict[tuple[str, int], _Vote]:
    """By title, and by number among those that are called the same."""
    found: dict[str, _Vote] = {}
    for one in events:
        if one.kind not in (votes.CAST, votes.CLOSED):
            continue
        facts, before = one.facts, found.get(one.subject, _Vote(known(str(one.facts["title"]))))
        if one.kind == votes.CAST:
            choice = " ".join(known(str(facts[name])) for name in ("choice", "reason")).strip()
            found[one.subject] = replace(before, ballots={**before.ballots, str(facts["by"]): choice})
        else:
            end = " ".join(known(str(facts[name] or "")) for name in ("status", "winner", "reason")).strip()
            found[one.subject] = replace(before, end=end)
    numbered: dict[tuple[str, int], _Vote] = {}
    for id in sorted(found, key=lambda one: (len(one), one)):
        title = found[id].title
        numbered[title, sum(title == other for other, _ in numbered)] = found[id]
    return numbered


def _compare_votes(old: Mapping[tuple[str, int], _Vote], new: Mapping[tuple[str, int], _Vote]) -> Iterator[str]:
    for title, number in sorted({*old, *new}):
        before, after = old.get((title, number)), new.get((title, number))
        if before != after:
            yield f"the vote on {title!r} differs: {after or 'nobody voted'} instead of {before or 'nobody voted'}"
