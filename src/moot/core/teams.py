"""Teams: who is in one."""

from moot.core.records import record


@record
class Team:
    """Members confer by broadcasts; the supervisor hears them and decides."""

    members: tuple[str, ...]
    supervisor: str
    member_max_turns: int | None = None
    supervisor_max_turns: int | None = None
