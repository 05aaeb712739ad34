"""Reads one agent of a workflow: its own words, its agent file, its prompt and its script."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from moot.core import problems, schemas, yaml
from moot.core.errors import MootError
from moot.core.permissions import PRESETS, Permissions, Preset
from moot.core.problems import Problem
from moot.core.yaml import Document
from moot.workflow import agent_files, drafts, finding, merging, models
from moot.workflow.agent_files import AgentFile
from moot.workflow.catalog import Catalog
from moot.workflow.drafts import Faults
from moot.workflow.finding import Folders
from moot.workflow.merging import Choice, Layer
from moot.workflow.shape import AgentFileShape, AgentShape
from moot.workflow.workflow import AgentDefinition, Backend, Budget

_PATH = re.compile(r"\S+\.(?:md|txt)")
SHELL = ("/bin/sh", "-c")  # with a line behind it
_UNSTARTED: frozenset[Backend] = frozenset(("human", "external"))
_RUNS = ("model", "backend", "script", "answers")
_FIELDS = (
    "model",
    "system_prompt_mode",
    "description",
    "tools",
    "workspace",
    "timeout",
    "transport",
    "base_url",
    "env",
    "max_turns",
)
_RENAMED = {"is_isolated": "isolated", "keeps_conversation": "resume"}


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line says of all agents that moot starts."""

    backend: Backend | None = None
    permissions: Preset | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """An agent, and where what is said of it stands, for those who look further."""

    definition: AgentDefinition
    places: Mapping[str, tuple[Document, yaml.Path]]


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the agents of one file."""

    document: Document
    folder: Path
    folders: Folders
    defaults: tuple[Layer, ...]
    flags: Flags
    faults: Faults
    catalog: Catalog

    def member(self, name: str, said: AgentShape | None) -> Member:
        path: yaml.Path = ("agents", name)
        own = Layer(self.document, path, self.folder, said or AgentShape())
        found = self._agent_file(own)
        layers = (own, *([self._head(found)] if found else []), *self.defaults)
        places: dict[str, tuple[Document, yaml.Path]] = {"name": (self.document, path)}

        def chosen(field: str) -> Any:
            choice = merging.choose(layers, field)
            if choice is not None:
                places[field] = (choice.layer.document, choice.place)
            return choice.value if choice else None

        script, places["script"] = self._lines(own, "script")
        answers, places["answers"] = self._lines(own, "answers")
        backend = self._backend(chosen("backend"), own, has_script=_says_script(own))
        prompt, places["system_prompt"] = self._prompt(own, found)
        self._check_runs(layers, is_complete=found is not None or said is None or said.source is None)
        fields = {field: found for field in _FIELDS if (found := chosen(field)) is not None}
        fields["model"] = self._model(merging.choose(layers, "model"), backend)
        fields |= {field: found for field, said in _RENAMED.items() if (found := chosen(said)) is not None}
        fields["command"] = _command(chosen("command"))
        if backend == "command" and not fields["command"] and self.flags.backend is None:
            document, place = places["backend"]
            fact = f"`{problems.spell(path)}` is run by a command, and none is said"
            self.faults.add(document, Problem(place, fact, "Write command: [./agent.sh], or a line for the shell."))
        fields |= {field: tuple(found) for field in ("tools", "env") if (found := chosen(field)) is not None}
        definition = AgentDefinition(
            name=name,
            backend=backend,
            system_prompt=prompt,
            permissions=self._permissions(chosen("permissions")),
            budget=merging.budget(chosen("budget"), Budget()),
            retry=merging.retry(chosen("retry")),
            script=tuple(script),
            answers=tuple(answers),
            **fields,
        )
        return Member(definition, places)

    def _agent_file(self, own: Layer) -> AgentFile | None:
        """The file that `from` names."""
        written = cast(AgentShape, own.said).source
        if written is None:
            return None
        file = finding.agent_file(written, self.folder, self.folders)
        if file is None:
            where = "" if "/" in written else ", .moot/agents and ~/.moot/agents"
            self._wrong(own, "source", f"there is no agent file `{written[:200]}`", f"Looked in {self.folder}{where}.")
            return None
        try:
            return agent_files.read(file)
        except MootError as error:
            self._wrong(own, "source", error.fact.rstrip("."), error.remedy)
            return None

    def _head(self, file: AgentFile) -> Layer:
        said = drafts.fit(AgentFileShape, file.head, self.faults) or AgentFileShape()
        return Layer(file.head, (), Path(file.head.name).parent, said)

    def _prompt(self, own: Layer, agent_file: AgentFile | None) -> tuple[str, tuple[Document, yaml.Path]]:
        written = cast(AgentShape, own.said).system_prompt
        place = own.place("system_prompt")
        if written is None:
            return (agent_file.prompt, (agent_file.body, ())) if agent_file else ("", (own.document, place))
        if not _PATH.fullmatch(written.strip()):
            return written, (own.document, place)
        file = self.folder / Path(written.strip()).expanduser()
        try:
            text = drafts.read_text(file)
        except MootError as error:
            self._wrong(own, "system_prompt", error.fact, "Mend the path, or write the prompt itself there.")
            return "", (own.document, place)
        prompt = text.strip()
        return prompt, (drafts.as_text(file, text, prompt), ())

    def _lines(self, own: Layer, field: str) -> tuple[Sequence[Any], tuple[Document, yaml.Path]]:
        """A list, there or in a file of its own."""
        written: list[Any] | str | None = getattr(own.said, field)
        place = (own.document, own.place(field))
        if not isinstance(written, str):
            return written or (), place
        try:
            document = drafts.read_document(self.folder / Path(written).expanduser())
        except MootError as error:
            self._wrong(own, field, error.fact.rstrip("."), error.remedy)
            return (), place
        if not isinstance(document.data, list):
            self.faults.add(document, Problem((), "a script must be a list of lines", "Begin each line with `- `."))
            return (), place
        return cast(list[Any], document.data), (document, ())

    def _backend(self, written: Backend | None, own: Layer, *, has_script: bool) -> Backend | None:
        flag = self.flags.backend
        if flag is not None and written not in _UNSTARTED:
            return flag
        is_default = written is not None and getattr(own.said, "backend", None) is None
        if has_script and (written is None or is_default):
            return "scripted"
        if has_script and written != "scripted":
            self._wrong(own, "script", f"only scripted agents have one, and this is {written}", "Leave it out.")
        return written

    def _check_runs(self, layers: Sequence[Layer], *, is_complete: bool) -> None:
        """Something must say what runs it, even if that is wrong."""
        said = [schemas.value_at(layer.document.data, (*layer.path, key)) for layer in layers for key in _RUNS]
        if is_complete and all(one is None for one in said):
            path = layers[0].path
            fact = f"`{problems.spell(path)}` has neither a model nor a backend nor a script"
            self.faults.add(self.document, Problem(path, fact, "Say what runs it, as in model: sonnet.", True))

    def _model(self, choice: Choice | None, backend: Backend | None) -> str | None:
        if choice is None:
            return None
        try:
            return models.resolve(choice.value, backend, self.catalog)
        except MootError as error:
            self.faults.add(choice.layer.document, problems.of_error(choice.place, error))
            return None

    def _permissions(self, written: Any) -> Permissions:
        flag = self.flags.permissions
        return merging.permissions(written) if flag is None else PRESETS[flag]

    def _wrong(self, own: Layer, field: str, fact: str, remedy: str) -> None:
        place = own.place(field)
        self.faults.add(own.document, Problem(place, f"`{problems.spell(place)}`: {fact}", remedy))


def _command(written: list[str] | str | None) -> tuple[str, ...]:
    """A line is for the shell."""
    if isinstance(written, str):
        return (*SHELL, written)
    return tuple(written or ())


def _says_script(own: Layer) -> bool:
    """An empty script is one, too: of an agent that hears everything and says nothing."""
    said = cast(AgentShape, own.said)
    return said.script is not None or said.answers is not None
