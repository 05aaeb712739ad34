"""What is on record of a tree of sessions, for whoever goes on with it."""

from collections.abc import Mapping, Sequence
from typing import cast

from moot.core import json
from moot.core.json import Json
from moot.ledger.journal import Entry, Tree
from moot.session.journal import Known

_SHOWS_MAIL = "inbox_check"


def known(entries: Sequence[Entry]) -> dict[str, Known]:
    found: dict[str, Known] = {}
    for one in entries:  # the tries of a path in their order: the last is the one that succeeded, if any did
        result = None if one.result is None else json.loads(one.result)
        found[one.path] = Known(one.state, one.number, one.facts, result)
    return found


def mail(tree: Tree) -> Sequence[str]:
    """What it was begun with."""
    return cast(Sequence[str], tree.facts.get("mail", ()))


def told(tree: Tree, entries: Sequence[Entry]) -> frozenset[str]:
    found = set(mail(tree))
    for one in entries:
        heard = cast(Mapping[str, Json], one.facts.get("heard") or {})
        found.update(cast(Sequence[str], heard.get("mail", ())))
        if one.kind == "tool" and one.state == "done" and one.result is not None:
            found.update(_told_by_tool(one.name, json.load_object(one.result)))
    return frozenset(found)


def _told_by_tool(name: str, outcome: Mapping[str, Json]) -> Sequence[str]:
    """With its answer; or by its answer, if it shows the inbox."""
    told = cast(Sequence[str], outcome.get("mail", ()))
    if name != _SHOWS_MAIL or outcome["is_error"]:
        return told
    shown = cast(Sequence[Mapping[str, Mapping[str, str]]], json.loads(str(outcome["text"])))
    return [one["entry"]["id"] for one in shown]
