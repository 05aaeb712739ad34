"""The stages of a team, and every way from one to another."""

from collections.abc import Mapping
from typing import Literal

Stage = Literal[
    "formed",
    "planning",
    "delegating",
    "working",
    "reviewing",
    "comparing",
    "redelegating",
    "merging",
    "done",
    "failed",
]
# The way of every team, as its members are told at the start. Programs of others look for this very line.
LINE = (
    "lead-research+plan -> delegate(workers) -> peer-qa(continuous) -> on-demand-research-by-lead -> worker-complete"
    " -> parallel-review(lead+reviewer) -> review-compare -> issue-redelegate(if-needed) -> assigned-worker-push/merge"
)
LIVE: tuple[Stage, ...] = ("planning", "delegating", "working", "reviewing", "comparing", "redelegating", "merging")
# From `failed` a team also goes back to the stage in which it has failed, when a person lets it go on.
WAYS: Mapping[Stage, tuple[Stage, ...]] = {
    "formed": ("planning",),
    "planning": ("delegating", "failed"),
    "delegating": ("working", "failed"),
    "working": ("reviewing", "failed"),
    "reviewing": ("comparing", "failed"),
    "comparing": ("redelegating", "merging", "failed"),
    "redelegating": ("working", "failed"),
    "merging": ("done", "failed"),
    "done": ("planning",),
    "failed": ("planning", *LIVE[1:]),
}


def is_way(before: Stage, after: Stage) -> bool:
    return after in WAYS[before]
