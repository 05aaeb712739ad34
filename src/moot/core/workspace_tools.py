"""The names of the tools by which a session works on files and runs commands, for those who only choose among them."""

from collections.abc import Iterable, Mapping
from typing import Literal

from moot.core.permissions import Answer, Permissions

Group = Literal["files", "edit", "shell"]
GROUPS: Mapping[Group, tuple[str, ...]] = {
    "files": ("file_read", "file_list", "file_search"),
    "edit": ("file_edit", "file_write"),
    "shell": ("shell",),
}
NAMES = frozenset(name for names in GROUPS.values() for name in names)


def chosen(named: Iterable[str]) -> tuple[str, ...]:
    """The tools that are named, alone or by their group; what belongs to others is passed over."""
    wanted = frozenset(named)
    return tuple(name for group, names in GROUPS.items() for name in names if group in wanted or name in wanted)


def answer(name: str, permissions: Permissions) -> Answer:
    """What an agent's permissions say of a tool. To look is always allowed to who was given the tool."""
    if name in GROUPS["edit"]:
        return permissions.edit
    return permissions.shell if name in GROUPS["shell"] else "allow"
