"""What comes of a merge: the base branch moves on, or files are in conflict."""

from moot.core.records import record


@record
class Conflict:
    file: str
    kind: str  # as git names it: content, modify/delete, rename/rename …


@record
class Step:
    """The base branch moves from one commit to the other."""

    old: str
    new: str
