"""One request to a model, where it stands in the tree, and what it is made of that nobody could find out again."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from moot.core.json import Json
from moot.models.model import Request


@dataclass(frozen=True, slots=True)
class Question:
    path: str
    request: Request
    facts: Mapping[str, Json] = field(default_factory=dict[str, Json])
