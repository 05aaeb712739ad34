"""Putting a team together: from `.moot/team.yaml`, another file or nothing at all, and from what the command says."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import field
from pathlib import Path
from typing import Any, cast, get_args

from moot.app.project import PEOPLE_FOLDER, Project
from moot.core.errors import InvalidInput
from moot.core.nearest import hint
from moot.core.records import record
from moot.core.yaml import Document
from moot.workflow import drafts, teams
from moot.workflow.workflow import Backend, WorkflowInvalid

FILE = "team.yaml"
USUAL = "the usual team"  # what is shown in place of a file
GOAL = "${{ inputs.goal }}"
_PARTS = ("lead", "reviewer", "worker")
# Names of the protocol for what moot always does: one process that runs everybody.
_AS_USUAL = ("auto", "in-process-shared")
_GATES = ("CODEX_EXPERIMENTAL_AGENT_TEAMS", "CODEX_TEAMS_GATE_TENGU_AMBER_FLINT")
_MODE, _POLL = "TEAMMATE_MODE", "INPROCESS_POLL_MS"


@record
class Wanted:
    """What the command says; None is as the file says, or as usual."""

    goal: str | None = None
    file: Path | None = None
    lead: Backend | None = None  # human or external
    workers: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    backends: tuple[str, ...] = ()  # `NAME`, or `WHO=NAME` for a part or a member
    terms: Mapping[str, bool | int] = field(default_factory=dict[str, bool | int])  # of `team:` in a file


def check_switches(environ: Mapping[str, str]) -> None:
    """The environment can switch teams off; what else the protocol knows there changes nothing."""
    for name in _GATES:
        if environ.get(name, "").strip() == "0":
            raise InvalidInput(f"Teams are switched off by {name}=0.", f"Unset {name}.")
    mode = environ.get(_MODE)
    if mode is not None and mode not in _AS_USUAL:
        raise InvalidInput(f"{_MODE} is {mode[:80]!r}.", f"It can be {' or '.join(_AS_USUAL)}.")
    poll = environ.get(_POLL)
    if poll is not None and not poll.isdecimal():
        raise InvalidInput(f"{_POLL} is {poll[:80]!r}.", "Write milliseconds.")


def worker_names(count: int) -> tuple[str, ...]:
    return teams.workers(count)


def assembled(project: Project, wanted: Wanted) -> tuple[Document, Path]:
    """The team as a workflow file would have it, and the file that stands for."""
    document, file = _read(project, wanted)
    data = deepcopy(cast(dict[str, Any], document.data))
    team = cast(dict[str, Any], data.setdefault("team", {}) or {})
    data["team"] = team
    team |= {name: list(names) for name, names in _named(wanted).items() if names}
    team |= wanted.terms
    agents: dict[str, Any] = data.get("agents") or {}
    parts = _parts(team, agents)
    for name in wanted.workers:
        agents.setdefault(name, None)
    data["agents"] = {name: agents.get(name) for name in parts}
    for who, backend in _backends(wanted, parts):
        data["agents"][who] = _run_by(data["agents"][who], backend)
    _aim(data, wanted.goal)
    return Document(document.name, data, document.root, document.text), file


def has_goal(project: Project, wanted: Wanted) -> bool:
    """Whether a file says what the team is to reach."""
    found = cast(dict[str, Any], _read(project, wanted)[0].data)
    return bool(str(found.get("kickoff") or "").strip())


def _read(project: Project, wanted: Wanted) -> tuple[Document, Path]:
    usual = project.root / PEOPLE_FOLDER / FILE
    file = wanted.file or (usual if usual.is_file() else None)
    if file is None:
        return Document(USUAL, {"name": "team"}, None), project.root / PEOPLE_FOLDER / FILE
    found = drafts.read_document(file)
    if not isinstance(found.data, dict):
        raise WorkflowInvalid(f"{file} says nothing of a team.", "See docs/team.md for an example.")
    return found, file


def _named(wanted: Wanted) -> Mapping[str, tuple[str, ...]]:
    return {"workers": wanted.workers, "reviewers": wanted.reviewers}


def _parts(team: Mapping[str, Any], agents: Mapping[str, Any]) -> dict[str, str]:
    """Who is in it, and in which part; what is wrong with that is told when the file is read."""
    lead = str(team.get("lead") or teams.LEAD)
    reviewers = [str(one) for one in team.get("reviewers") or teams.REVIEWERS]
    others = [str(one) for one in agents if one not in (lead, *reviewers)]
    workers = [str(one) for one in team.get("workers") or others or teams.workers(teams.WORKERS)]
    return {lead: "lead", **dict.fromkeys(reviewers, "reviewer"), **dict.fromkeys(workers, "worker")}


def _backends(wanted: Wanted, parts: Mapping[str, str]) -> list[tuple[str, str]]:
    """Whom each backend runs that the command names, the last word last."""
    found: list[tuple[str, str]] = []
    for one in wanted.backends:
        who, _, backend = one.rpartition("=")
        if backend in _AS_USUAL:
            continue
        if backend not in get_args(Backend):
            known = [*get_args(Backend), *_AS_USUAL]
            raise InvalidInput(f"There is no backend {backend[:80]!r}.", hint(backend, known))
        names = [name for name, part in parts.items() if who in ("", name, part)]
        if not names:
            known = ", ".join(dict.fromkeys((*_PARTS, *parts)))
            raise InvalidInput(f"{who[:80]!r} is nobody in the team.", f"Name one of {known}.")
        found += [(name, backend) for name in names]
    if wanted.lead is not None:
        found += [(name, wanted.lead) for name, part in parts.items() if part == "lead"]
    return found


def _run_by(said: object, backend: str) -> dict[str, Any]:
    """The command's word goes before that of the file, and before a script."""
    kept = cast(dict[str, Any], said) if isinstance(said, dict) else {}
    return {**{name: one for name, one in kept.items() if name not in ("script", "answers")}, "backend": backend}


def _aim(data: dict[str, Any], goal: str | None) -> None:
    """The goal is the value of an input: whatever stands in it, nothing of it is filled in or called."""
    if goal is None:
        return
    inputs: dict[str, Any] = data.get("inputs") or {}
    data["inputs"] = {**inputs, "goal": {"type": "string", "default": goal, "description": "What the team is to reach"}}
    data["kickoff"] = data.get("kickoff") if "inputs.goal" in str(data.get("kickoff") or "") else GOAL
