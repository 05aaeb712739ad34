"""Setting up a project for agents that moot starts and for those that come by themselves, and taking that back."""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from moot.api.access import Inside, find_project
from moot.app import choosing, first_files, first_workflow
from moot.app.choosing import Machine
from moot.app.first_files import CLIENTS, Change, Client, Setup, Undoing
from moot.app.first_workflow import MODELS, Runner
from moot.backends.programs.known import PROGRAMS
from moot.core import accounts
from moot.core.accounts import NoAccount, Wish
from moot.core.errors import NotAllowed
from moot.core.records import record

_PROGRAMS: Mapping[Client, tuple[str, ...]] = {
    "claude": ("claude",),
    "codex": ("codex",),
    "cursor": ("cursor", "cursor-agent", "agent"),
}
_BY_PROGRAM: Mapping[Runner, str] = {
    "claude": "claude",
    "codex": "codex",
    "cursor": "cursor",
    "gemini": "gemini",
    "opencode": "opencode",
}


@record
class Found:
    """Something that can run agents here, and on whose account."""

    runner: Runner
    words: str


def root() -> Path:
    """NotAllowed for an agent: what others are told in a project is for its people to say."""
    if Inside.found(os.environ) is not None:
        raise NotAllowed("An agent may not set up the project.", "Ask the person: mention @human.")
    return find_project().root


def runners() -> list[Found]:
    """What can run agents here, the best first: programs with a login or a key, then keys alone."""
    machine = choosing.this_machine()
    programs = [Found(one, _program(name, machine)) for one, name in _BY_PROGRAM.items()]
    keys = [Found(one, _key(one, machine)) for one in MODELS]
    return [one for one in (*programs, *keys) if one.words]


def unready() -> list[str]:
    """Of programs that are here and have no account, what would give them one."""
    machine = choosing.this_machine()
    found = [PROGRAMS[name] for name in _BY_PROGRAM.values() if machine.has(PROGRAMS[name].executable)]
    return [
        f"{one.executable} is installed, but not logged in: {one.log_in}"
        for one in found
        if machine.account(one.service(), Wish()).login == "missing"
    ]


def _program(name: str, machine: Machine) -> str:
    program = PROGRAMS[name]
    if not machine.has(program.executable):
        return ""
    account = machine.account(program.service(), Wish())
    return "" if account.login == "missing" else f"{program.executable} is installed, with {account}"


def _key(runner: Runner, machine: Machine) -> str:
    if not machine.has_models:
        return ""
    try:
        account = machine.account(accounts.PROVIDERS[runner], Wish())
    except NoAccount:
        return ""
    return f"{account.key} is set" if account.key else ""


def installed() -> tuple[Client, ...]:
    """Whose programs are here."""
    return tuple(one for one in CLIENTS if any(map(shutil.which, _PROGRAMS[one])))


def has_workflow() -> bool:
    """Whether the first workflow is there; it stays as it is then."""
    return (root() / first_workflow.PATH).exists()


def wanted(setup: Setup) -> list[Change]:
    return first_files.wanted(root(), setup)


def undone() -> Undoing:
    return first_files.undone(root())


def carry_out(changes: Sequence[Change]) -> None:
    first_files.carry_out(root(), changes)


def is_found() -> bool:
    """Whether a client would find the program that its entry names."""
    return shutil.which("moot") is not None
