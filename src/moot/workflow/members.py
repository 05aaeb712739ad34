"""Reads one agent of a workflow: its own words, its agent file, its prompt and its script."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, cast

from moot.core import problems, schemas, yaml
from moot.core.errors import MootError
from moot.core.formats import Format
from moot.core.permissions import PRESETS, Permissions, Preset
from moot.core.problems import Problem
from moot.core.records import record
from moot.core.yaml import Document
from moot.workflow import agent_files, connecting, drafts, finding, formats, merging, models, ties
from moot.workflow.agent_files import AgentFile
from moot.workflow.catalog import Catalog
from moot.workflow.connecting import Declared, Known
from moot.workflow.drafts import Faults
from moot.workflow.finding import Folders
from moot.workflow.merging import Choice, Layer
from moot.workflow.shape import AgentFileShape, AgentShape
from moot.workflow.ties import Reference
from moot.workflow.workflow import AgentDefinition, Backend, Budget, Fallback

_PATH = re.compile(r"\S+\.(?:md|txt)")
SHELL = ("/bin/sh", "-c")  # with a line behind it
_UNSTARTED: frozenset[Backend] = frozenset(("human", "external"))
_SCRIPTS = ("script", "answers")
_RUNS = ("model", "backend", *_SCRIPTS)
_FIELDS = (
    "system_prompt_mode",
    "description",
    "tools",
    "workspace",
    "timeout",
    "transport",
    "base_url",
    "env",
    "max_turns",
    "max_tool_calls_per_turn",
    "max_depth",
    "temperature",
    "max_output_tokens",
    "context_window",
)
_RENAMED = {"is_isolated": "isolated", "keeps_conversation": "resume", "is_chatty": "chat"}


@record
class Flags:
    """What the command line says of all agents that moot starts."""

    backend: Backend | None = None
    permissions: Preset | None = None
    functions: tuple[str, ...] = ()  # that they are offered, by a program that runs them


@record
class Member:
    """An agent, and where what is said of it stands, for those who look further."""

    definition: AgentDefinition
    places: Mapping[str, tuple[Document, yaml.Path]]
    references: tuple[Reference, ...] = ()  # to those it works with
    file: Path | None = None  # the agent file that it comes from
    servers: Mapping[str, Declared] = field(default_factory=dict[str, Declared])  # that it can be connected to


@record
class Reader:
    """Reads the agents of one file."""

    document: Document
    folder: Path
    folders: Folders
    defaults: tuple[Layer, ...]
    flags: Flags
    faults: Faults
    catalog: Catalog
    servers: Known = field(default_factory=Known)

    def member(self, name: str, said: AgentShape | None) -> Member:
        own = Layer(self.document, ("agents", name), self.folder, said or AgentShape())
        file = self._agent_file(own)
        return self._read(name, own, file, is_complete=file is not None or said is None or said.source is None)

    def of_file(self, name: str, file: AgentFile) -> Member:
        """An agent that only its file speaks of."""
        own = Layer(Document(file.head.name, {}, None), (), Path(file.head.name).parent, AgentShape())
        return self._read(name, own, file, is_complete=True)

    def _read(self, name: str, own: Layer, file: AgentFile | None, *, is_complete: bool) -> Member:
        layers = (own, *([self._head(file)] if file else []), *self.defaults)
        places: dict[str, tuple[Document, yaml.Path]] = {"name": (own.document, own.path)}

        def chosen(field: str) -> Any:
            choice = merging.choose(layers, field)
            if choice is not None:
                places[field] = (choice.layer.document, choice.place)
            return choice.value if choice else None

        backend = self._backend(layers)
        chosen("backend")
        lines = {field: self._lines(layers, field, backend) for field in _SCRIPTS}
        places |= {field: place for field, (_, place) in lines.items()}
        prompt, places["system_prompt"] = self._prompt(own, file)
        if is_complete and chosen("team") is None:
            self._check_runs(name, layers)
        fields: dict[str, Any] = {field: found for field in _FIELDS if (found := chosen(field)) is not None}
        model, *others = self._models(merging.choose(layers, "model"), backend) or [None]
        fields |= {field: found for field, said in _RENAMED.items() if (found := chosen(said)) is not None}
        fields |= {field: self._format(merging.choose(layers, field)) for field in ("input", "output")}
        fields["command"] = _command(chosen("command"))
        if backend == "command" and not fields["command"] and self.flags.backend is None:
            document, place = places["backend"]
            fact = f"`agents.{name}` is run by a command, and none is said"
            self.faults.add(document, Problem(place, fact, "Write command: [./agent.sh], or a line for the shell."))
        fields |= {
            field: tuple(found) for field in ("tools", "env", "capabilities") if (found := chosen(field)) is not None
        }
        for key in ("model", "output", *ties.FIELDS):
            chosen(key)
        patterns, references = ties.read(layers)
        own_servers = (connecting.read(getattr(one.said, connecting.FIELD, None), one, self.faults) for one in layers)
        servers = connecting.nearest((*own_servers, *self.servers.layers))
        fields["servers"] = connecting.connected(fields.get("tools", ()), servers, self.servers, self.faults)
        definition = AgentDefinition(
            name=name,
            backend=backend,
            model=model,
            fallbacks=tuple(Fallback(one) for one in others if one is not None),
            system_prompt=prompt,
            permissions=self._permissions(chosen("permissions")),
            budget=merging.budget(chosen("budget"), Budget()),
            retry=merging.retry(chosen("retry")),
            script=tuple(lines["script"][0]),
            answers=tuple(lines["answers"][0]),
            patterns=patterns,
            **fields,
        )
        return Member(definition, places, references, Path(file.head.name).absolute() if file else None, servers)

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

    def _lines(
        self, layers: Sequence[Layer], field: str, backend: Backend | None
    ) -> tuple[Sequence[Any], tuple[Document, yaml.Path]]:
        """A list, there or in a file of its own."""
        choice = merging.choose(layers, field)
        if choice is None or (backend != "scripted" and self.flags.backend is None and choice.layer is not layers[0]):
            return (), (layers[0].document, layers[0].place(field))
        written: list[Any] | str = choice.value
        place = (choice.layer.document, choice.place)
        if not isinstance(written, str):
            return written, place
        try:
            document = drafts.read_document(choice.layer.folder / Path(written).expanduser())
        except MootError as error:
            self._wrong(choice.layer, field, error.fact.rstrip("."), error.remedy)
            return (), place
        if not isinstance(document.data, list):
            self.faults.add(document, Problem((), "a script must be a list of lines", "Begin each line with `- `."))
            return (), place
        return cast(list[Any], document.data), (document, ())

    def _backend(self, layers: Sequence[Layer]) -> Backend | None:
        """What is said nearest: a backend, or lines that only a scripted one has. An empty script is one, too: of an
        agent that hears everything and says nothing."""
        choice = merging.choose(layers, "backend")
        written: Backend | None = choice.value if choice else None
        flag = self.flags.backend
        if flag is not None and written not in _UNSTARTED:
            return flag
        script = next((found for field in _SCRIPTS if (found := merging.choose(layers, field))), None)
        if script is None or written == "scripted":
            return written
        if choice is None or layers.index(script.layer) < layers.index(choice.layer):
            return "scripted"
        if script.layer is choice.layer:
            fact = f"only scripted agents have one, and this is {written}"
            self._wrong(script.layer, script.field, fact, "Leave it out.")
        return written

    def _check_runs(self, name: str, layers: Sequence[Layer]) -> None:
        """Something must say what runs it, even if that is wrong."""
        said = [schemas.value_at(layer.document.data, (*layer.path, key)) for layer in layers for key in _RUNS]
        if all(one is None for one in said) and not self._is_misspelt(layers):
            fact = f"`agents.{name}` has neither a model nor a backend, answers or a script"
            problem = Problem(layers[0].path, fact, "Say what runs it, as in model: sonnet.", True)
            self.faults.add(layers[0].document, problem)

    def _is_misspelt(self, layers: Sequence[Layer]) -> bool:
        """Whether it was told already that a key is wrong which would say so."""
        wanted = {f"Did you mean `{key}`?" for key in _RUNS}
        return any(
            problem.remedy in wanted and problem.path[: len(layer.path)] == layer.path
            for document, problem in self.faults.found
            for layer in layers
            if document.name == layer.document.name
        )

    def _models(self, choice: Choice | None, backend: Backend | None) -> list[str | None]:
        if choice is None:
            return []
        if isinstance(choice.value, str):
            return [self._model(choice, choice.value, choice.place, backend)]
        names: list[str] = choice.value
        return [self._model(choice, one, (*choice.place, at), backend) for at, one in enumerate(names)]

    def _model(self, choice: Choice, written: str, place: yaml.Path, backend: Backend | None) -> str | None:
        try:
            return models.resolve(written, backend, self.catalog)
        except MootError as error:
            self.faults.add(choice.layer.document, problems.of_error(place, error))
            return None

    def _format(self, choice: Choice | None) -> Format:
        found = formats.read(choice.value if choice else None)
        wrong = formats.fault(found, choice.place) if choice else None
        if choice is not None and wrong is not None:
            self.faults.add(choice.layer.document, wrong)
            return Format(found.kind)
        return found

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
