"""The page of a project: everything that it shows and does, put together."""

import hashlib
from collections.abc import Callable, Sequence

from moot.api.page import (
    agents,
    costs,
    decisions,
    documents,
    flows,
    messages,
    overview,
    plans,
    saying,
    steering,
    timeline,
)
from moot.api.page.desk import Desk
from moot.app.project import Project
from moot.core.records import replace
from moot.store.store import Store
from moot.web.page import Page, PageOptions
from moot.web.resource import Resource

_NOUNS: Sequence[Callable[[Desk], list[Resource]]] = (
    overview.resources,
    messages.resources,
    saying.resources,
    decisions.resources,
    documents.resources,
    agents.resources,
    steering.resources,
    plans.resources,
    flows.resources,
    timeline.resources,
    costs.resources,
)


def make(store: Store, project: Project, *, is_read_only: bool = False, beat: float | None = None) -> Page:
    at = Desk(store, project)
    found = [one for noun in _NOUNS for one in noun(at)]
    options = PageOptions(cookie_of(project), is_read_only)
    return Page(store, found, options if beat is None else replace(options, beat=beat))


def cookie_of(project: Project) -> str:
    """Pages of several projects, each on its own port, share one jar of cookies."""
    return f"moot_{hashlib.sha256(str(project.root).encode()).hexdigest()[:12]}"
