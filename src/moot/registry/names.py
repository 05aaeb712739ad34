"""Names of agents and instances: plain ASCII words, so that no two look alike."""

import re

from moot.registry.errors import NameRefused

# Ends like it begins: in `@ann-` and `@ann_` the mark belongs to the sentence.
_NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?")
_INSTANCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
# Names that mean moot itself, the person, or everybody: nobody else may take them.
SERVICES = frozenset(("system", "monitor", "orchestrator"))
WORKTREES = "worktrees"  # beside the folders of instances, and full of files that are no documents
RESERVED = SERVICES | {"human", "operator", "all", "everyone", "moot"}


def check_agent(name: str) -> str:
    """The name itself, or NameRefused."""
    if not _NAME.fullmatch(name):
        raise NameRefused(
            f"{name[:80]!r} cannot be an agent's name.",
            "Use up to 63 letters, digits, '-' or '_', a letter first and a letter or digit last.",
        )
    if fold(name) in RESERVED:
        raise NameRefused(f"The name {name!r} is kept for moot itself.", "Choose another.")
    return name


def check_instance(name: str) -> str:
    if not _INSTANCE.fullmatch(name) or fold(name).startswith("moot."):  # those are moot's own files
        raise NameRefused(
            f"{name[:80]!r} cannot be an instance's name.",
            "Use up to 63 letters, digits, '-', '_' or '.', beginning with a letter or digit, but not with 'moot.'.",
        )
    if fold(name) == WORKTREES:
        raise NameRefused(f"The name {name!r} is kept for the folder that agents work in.", "Choose another.")
    return name


def fold(name: str) -> str:
    """Two names with the same folded form are the same name."""
    return name.casefold()
