"""A desk: whose inbox a command looks into, and how much of it."""

from moot.core.ids import InstanceName
from moot.core.records import record


@record
class Desk:
    agent: str | None
    instance: InstanceName | None
    store: str | None
    person: str | None
    limit: int
    is_unread_only: bool
    is_pending_only: bool
    is_of_files: bool = False  # of a team: what its files show
