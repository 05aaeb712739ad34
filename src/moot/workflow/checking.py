"""Checks the variables in every text of a workflow: that they exist, and stand where they can be filled in."""

from collections.abc import Collection, Mapping
from itertools import islice

from moot.core import problems, schemas, yaml
from moot.core.errors import MootError
from moot.core.nearest import hint
from moot.core.problems import Problem
from moot.core.records import record
from moot.core.yaml import Document
from moot.workflow import shell, templates, variables
from moot.workflow.drafts import Faults, Text
from moot.workflow.members import Member
from moot.workflow.templates import Place
from moot.workflow.workflow import TaskDefinition, Workflow

_MOST = 100  # mistakes that are told of one text


def check(
    workflow: Workflow, document: Document, members: Mapping[str, Member], environ: Mapping[str, str], faults: Faults
) -> None:
    """Note what is wrong with the variables, and with the names they are given."""
    _Checker(workflow, document, environ, faults).check(members)


@record
class _Spot:
    document: Document
    path: yaml.Path


@record
class _Checker:
    workflow: Workflow
    document: Document
    environ: Mapping[str, str]
    faults: Faults

    def check(self, members: Mapping[str, Member]) -> None:
        everything = variables.known(self.workflow) | self._set_in_setup()
        self._check_context()
        self._check_setup(everything)
        for name, member in members.items():
            document, path = member.places["system_prompt"]
            self._check_text(document, path, member.definition.system_prompt, everything)
            self._check_description(name, member)
        self._check_text(self.document, ("kickoff",), self.workflow.kickoff, everything)
        self._check_braces(("kickoff",), self.workflow.kickoff)
        self._check_text(self.document, ("result",), self.workflow.result, everything)
        self._check_braces(("result",), self.workflow.result)
        for number, task in enumerate(self.workflow.tasks):
            self._check_task(("tasks", number), task, everything)
        if self.workflow.notify is not None:
            self._check_command(_shell_of(self.document, ("notify",)), self.workflow.notify.shell, everything)

    def _check_task(self, path: yaml.Path, task: TaskDefinition, known: Collection[str]) -> None:
        self._check_text(self.document, (*path, "description"), task.description, known)
        for number, check in enumerate(task.checks):
            if isinstance(line := check.get("shell"), str):
                self._check_command((*path, "checks", number, "shell"), line, known)

    def _check_description(self, name: str, member: Member) -> None:
        document, path = member.places.get("description", (self.document, ("agents", name)))
        if templates.places(member.definition.description):
            fact = f"`agents.{name}.description`: variables are not filled in here"
            self._wrong(document, path, fact, "Write it out.")

    def _check_context(self) -> None:
        """Files are named before setup runs, and the names of the files cannot be made of themselves."""
        early = {one for one in variables.known(self.workflow, before=0) if not one.startswith("context.")}
        context, at = self.workflow.context, ("context", "config")
        for name, text in (("dir", context.dir), ("channel", context.channel), ("document", context.document)):
            self._check_text(self.document, (*at, name), text, early)
        for number, text in enumerate(context.documents):
            self._check_text(self.document, (*at, "documents", number), text, early)

    def _check_setup(self, everything: Collection[str]) -> None:
        seen: set[str] = set()
        for number, task in enumerate(self.workflow.setup):
            known = variables.known(self.workflow, before=number)
            self._check_command(("setup", number, "shell"), task.shell, known, later=everything)
            path = ("setup", number, "as")
            if task.name in variables.RESERVED:
                self._wrong(self.document, path, f"`{task.name}` is kept for other variables", "Choose another name.")
            if task.name in seen:
                self._wrong(self.document, path, f"`{task.name}` is set a second time", "Choose another name.")
            seen |= {task.name} if task.name else set()

    def _check_command(
        self, path: yaml.Path, command: str, known: Collection[str], later: Collection[str] = ()
    ) -> None:
        self._check_text(self.document, path, command, known, later=later)
        for one in shell.unsafe(command):
            fact = f"`{problems.spell(path)}`: a variable stands {one.fact}"
            self._wrong(self.document, path, fact, one.remedy)

    def _check_text(
        self, document: Document, path: yaml.Path, text: str, known: Collection[str], later: Collection[str] = ()
    ) -> None:
        spot = _Spot(document, path)
        for at, fact, remedy in islice(templates.faults(text), _MOST):
            self._wrong_at(spot, at, fact, remedy)
        first = {place.name: place for place in reversed(templates.places(text)) if place.name is not None}
        for place in islice((one for one in first.values() if one.name not in known), _MOST):
            self._check_name(spot, place, known, later)
        for at, inside in templates.step_time(text):
            if inside in known and path not in (("kickoff",), ("result",)):
                fact = f"`{{{{ {inside} }}}}` is not filled in here"
                self._wrong_at(spot, at, fact, f"Write ${{{{ {inside} }}}}.")

    def _check_name(self, spot: _Spot, place: Place, known: Collection[str], later: Collection[str]) -> None:
        name = place.name or ""
        if name.startswith("env."):
            try:
                variables.of_environment(self.workflow.env, name.removeprefix("env."), self.environ)
            except MootError as error:
                self._wrong_at(spot, place.start, error.fact.rstrip("."), error.remedy)
        elif name in later:
            fact = f"`{name}` is not set yet at this command"
            self._wrong_at(spot, place.start, fact, "Set it by a command that stands before.")
        elif templates.is_name(name):
            self._wrong_at(spot, place.start, f"there is no variable `{name[:80]}`", hint(name, known))

    def _check_braces(self, path: yaml.Path, text: str) -> None:
        for _, inside in templates.step_time(text)[:1]:
            fact = f"`{problems.spell(path)}`: `{{{{ }}}}` is for steps, and nothing fills it in here"
            name = inside if templates.is_name(inside) else "name"
            self._wrong(
                self.document, path, fact, f"Write ${{{{ {name} }}}}; for the braces themselves, ${{{{ '{{{{' }}}}."
            )

    def _set_in_setup(self) -> set[str]:
        """Also by commands that were left out because something else is wrong with them."""
        written = schemas.value_at(self.document.data, ("setup",))
        tasks: list[object] = written if isinstance(written, list) else []  # pyright: ignore[reportUnknownVariableType]
        return {name for task in tasks if isinstance(task, Mapping) and isinstance(name := task.get("as"), str)}  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]

    def _wrong_at(self, spot: _Spot, at: int, fact: str, remedy: str) -> None:
        """In a text of its own, where it stands; in a value, which value it is, too."""
        if isinstance(spot.document, Text):
            self._wrong(spot.document, (at,), fact, remedy)
        else:
            self._wrong(spot.document, (*spot.path, at), f"`{problems.spell(spot.path)}`: {fact}", remedy)

    def _wrong(self, document: Document, path: yaml.Path, fact: str, remedy: str) -> None:
        self.faults.add(document, Problem(path, fact, remedy))


def _shell_of(document: Document, path: yaml.Path) -> yaml.Path:
    return (*path, "shell") if isinstance(schemas.value_at(document.data, path), Mapping) else path
