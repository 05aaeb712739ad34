"""What is said of those an agent works with: the patterns, and for each name where it stands."""

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import cast

from moot.core import yaml
from moot.core.problems import Problem, spell
from moot.core.records import record
from moot.core.teams import Team
from moot.core.yaml import Document
from moot.workflow import merging
from moot.workflow.merging import Choice, Layer
from moot.workflow.patterns import Kind, Patterns
from moot.workflow.shape import AgentFileShape, RouterShape, TeamShape

FIELDS = ("agents", "advisors", "handoff", "router", "team")
_SUFFIX = ".md"


@record
class Reference:
    """A name of somebody, as it is written."""

    kind: Kind
    written: str
    document: Document
    place: yaml.Path
    folder: Path  # of the file that it stands in
    is_in_agent_file: bool

    @property
    def name(self) -> str:
        return name_of(self.written)

    def problem(self, fact: str, remedy: str) -> tuple[Document, Problem]:
        return self.document, Problem(self.place, f"`{spell(self.place)}`: {fact}", remedy)


def name_of(written: str) -> str:
    """An agent's name; of a path, that of the file."""
    return PurePath(written).name.removesuffix(_SUFFIX) if is_path(written) else written


def is_path(written: str) -> bool:
    return "/" in written or written.endswith(_SUFFIX)


def read(layers: Sequence[Layer]) -> tuple[Patterns, tuple[Reference, ...]]:
    """Of each pattern what is said nearest."""
    choices = {field: choice for field in FIELDS if (choice := merging.choose(layers, field)) is not None}
    references = [one for choice in choices.values() for one in _references(choice)]

    def names(kind: Kind) -> tuple[str, ...]:
        return tuple(one.name for one in references if one.kind == kind)

    team = cast(TeamShape, choices["team"].value) if "team" in choices else None
    patterns = Patterns(
        names("agent"),
        names("advisor"),
        next(iter(names("handoff")), None),
        names("destination"),
        None
        if team is None
        else Team(names("member"), name_of(team.supervisor), team.member_max_turns, team.supervisor_max_turns),
    )
    return patterns, tuple(references)


def _references(choice: Choice) -> Iterator[Reference]:
    layer = choice.layer
    for kind, inner, written in _names(choice):
        is_in_file = isinstance(layer.said, AgentFileShape)
        yield Reference(kind, written, layer.document, (*choice.place, *inner), layer.folder, is_in_file)


def _names(choice: Choice) -> Iterator[tuple[Kind, yaml.Path, str]]:
    """With where each stands below the key."""
    match choice.value:
        case RouterShape(destinations=found):
            yield from _listed("destination", found, "destinations")
        case TeamShape(members=found, supervisor=supervisor):
            yield from _listed("member", found, "members")
            yield "supervisor", ("supervisor",), supervisor
        case str() as name:
            yield "handoff", (), name
        case names:
            yield from _listed("agent" if choice.field == "agents" else "advisor", cast(list[str], names))


def _listed(kind: Kind, names: Sequence[str], *below: str) -> Iterator[tuple[Kind, yaml.Path, str]]:
    for at, name in enumerate(names):
        yield kind, (*below, at), name
