"""Gathers everybody whom agents lead to, each read once, before anything runs."""

from collections import deque
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path

from moot.core.errors import MootError
from moot.core.nearest import nearest
from moot.core.problems import Problem
from moot.core.records import record
from moot.core.yaml import Document, YamlInvalid
from moot.workflow import agent_files, finding, ties
from moot.workflow.members import Member, Reader
from moot.workflow.patterns import WHAT
from moot.workflow.ties import Reference

_MOST = 200  # agents that are reached; those who build trees walk along all of them


@record
class Gatherer:
    """Goes from the agents of a file to all others."""

    reader: Reader
    own: Mapping[str, Member]
    found: dict[str, Member] = field(default_factory=dict[str, Member])

    def gather(self) -> dict[str, Member]:
        """All of them by name, those of the file first."""
        self.found.update(self.own)
        waiting = deque(self.own.values())
        while waiting:
            for reference in waiting.popleft().references:
                if (new := self._follow(reference)) is not None:
                    waiting.append(new)
        return self.found

    def _follow(self, reference: Reference) -> Member | None:
        """Somebody who was not known yet."""
        name, written = reference.name, reference.written
        folders = self.reader.folders
        is_own = name in self.own and not ties.is_path(written)
        if is_own and not reference.is_in_agent_file:
            return None
        file = finding.agent_file(written, reference.folder, folders)
        known = self.found.get(name)
        if file is None:
            if not is_own:
                self._wrong(reference, f"there is no agent `{written[:80]}`", self._looked(reference))
        elif known is not None:
            self._compare(reference, known, file)
        elif len(self.found) - len(self.own) >= _MOST:
            self._wrong(reference, f"this leads to more than {_MOST} agents", "Use fewer.")
        else:
            return self._read(reference, file)
        return None

    def _compare(self, reference: Reference, known: Member, file: Path) -> None:
        if known.file is not None and _is_same(known.file, file):
            return
        other = str(known.file) if known.file else "an agent of this workflow"
        fact = f"`{reference.name}` may be {file} or {other}"
        self._wrong(reference, fact, "Give one of them another name.")

    def _read(self, reference: Reference, file: Path) -> Member | None:
        try:
            found = agent_files.read(file)
        except YamlInvalid as error:
            self.reader.faults.add(*agent_files.fault(file, error))
            return None
        except MootError as error:
            self._wrong(reference, error.fact.rstrip("."), error.remedy)
            return None
        member = self.reader.of_file(reference.name, found)
        self.found[reference.name] = member
        return member

    def _looked(self, reference: Reference) -> str:
        """Where, and who is there."""
        here = reference.folder
        if ties.is_path(reference.written) and "/" in reference.written:
            return f"Looked in {here}."
        folders = (here, *self.reader.folders.agents())
        near = nearest(reference.name, {*self.own, *finding.agent_names(folders)})
        meant = f"Did you mean `{near}`? " if near else ""
        among = "among the agents of the workflow, and " if not reference.is_in_agent_file else ""
        return f"{meant}Looked {among}in {here}, .moot/agents and ~/.moot/agents."

    def _wrong(self, reference: Reference, fact: str, remedy: str) -> None:
        self.reader.faults.add(*reference.problem(fact, remedy))


def settle_backends(found: Mapping[str, Member], reader: Reader) -> dict[str, Member]:
    """Patterns are played by sessions of moot itself, and only those have certain tools: whoever takes part in one, or
    is given one, is a model, over an API if nothing else is said, or scripted."""
    led_to = {one.name: one for member in found.values() for one in member.references}
    settled = dict(found)
    for name, member in found.items():
        needs = next(iter(member.references), None) or led_to.get(name)
        if needs is None and not member.definition.fallbacks and not member.definition.session_tools:
            continue
        if member.definition.backend is None:
            settled[name] = replace(member, definition=replace(member.definition, backend="api"))
        elif not _is_session(member):
            reader.faults.add(*_refusal(member, needs, is_flag=reader.flags.backend is not None))
    return settled


def _is_session(member: Member) -> bool:
    definition = member.definition
    if definition.backend == "scripted":
        has_no_session = definition.patterns.team is not None
        return not definition.script and (bool(definition.answers) or has_no_session)
    return definition.backend == "api"


def _refusal(member: Member, needs: Reference | None, *, is_flag: bool) -> tuple[Document, Problem]:
    definition = member.definition
    field = "tools"
    if definition.session_tools:
        why, needs = f"has the tool `{definition.session_tools[0][:80]}`", None
    elif needs is None:
        why, field = "has several models", "model"
    else:
        why = "works with others" if member.references else f"is {WHAT[needs.kind]}"
    how = "by a script" if definition.backend == "scripted" else f"on {definition.backend}"
    fact = f"`{definition.name}` {why}, which needs the backend api, and it runs {how}"
    remedy = "Write backend: api, or give it answers."
    said = None if is_flag else member.places.get("backend")
    if said is None and definition.script:
        said = member.places["script"]
    if said is None:
        said = (needs.document, needs.place) if needs is not None else member.places[field]
    document, path = said
    return document, Problem(path, fact, remedy)


def _is_same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
