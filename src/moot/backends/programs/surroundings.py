"""Where a program finds itself: its environment from an allow-list, its own files, and private ones if isolated.

The user's own directories are passed on as they are found and never written to.
"""

import os
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

from moot.backends import inside
from moot.backends.backend import Assignment, Manner
from moot.backends.programs import hiding
from moot.backends.programs.known import AgentProgram
from moot.backends.programs.launch import CannotLaunch
from moot.core import accounts
from moot.core.accounts import Account, NoAccount, Wish
from moot.core.records import record
from moot.process import environment

TOKEN = inside.TOKEN


@record
class Needs:
    """What a program takes of the environment."""

    program: AgentProgram
    variables: tuple[str, ...] = ()  # others that it reads
    users: tuple[str, ...] = ()  # those that lead to the user's own files or login: not for an isolated one
    account: tuple[str, ...] = ()  # those that go with the provider's own account: not for another address
    settings: Mapping[str, str] | None = None  # ours, for every run
    homes: Mapping[str, str] | None = None  # variables that name its own directories, and where they are if isolated

    @property
    def keys(self) -> tuple[str, ...]:
        """Any of which makes it independent of a login."""
        return self.program.all_keys


def surround(assignment: Assignment, needs: Needs, parent: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of the program."""
    manner = assignment.manner
    account(assignment, needs, parent)
    # Ours, unless the user has tuned what may be tuned.
    additions = {
        name: value
        for name, value in (needs.settings or {}).items()
        if name not in needs.variables or name not in parent
    }
    if manner.is_isolated:
        additions.update(inside.private_places(assignment.folder, needs.homes))
    additions.update(inside.variables(assignment, parent))
    additions["TMPDIR"] = str(_temporary(assignment.folder))  # what it leaves there goes with the attempt
    also = {*_passed_on(needs, manner), *manner.env}
    missing = inside.missing(manner, parent)
    if missing:
        raise CannotLaunch(
            "cannot_start",
            f"The environment has no {', '.join(missing)}, which {assignment.agent} asks for.",
            "Set it.",
        )
    source = inside.without_places(parent) if manner.is_isolated else parent
    return environment.build(additions, also=also, parent=source)


def _passed_on(needs: Needs, manner: Manner) -> set[str]:
    """The variables that it reads, but for those of the user's account and files where they have no business."""
    users, account = {*needs.users, *(needs.homes or {})}, {*needs.keys, *needs.account}
    not_isolated = users if manner.is_isolated else set[str]()
    not_elsewhere = account if manner.base_url is not None else set[str]()  # a key goes to its own provider only
    return {*needs.variables, *users, *account} - not_isolated - not_elsewhere


def _temporary(folder: Path) -> Path:
    place = folder / "tmp"
    place.mkdir(mode=0o700, exist_ok=True)
    return place


def account(assignment: Assignment, needs: Needs, parent: Mapping[str, str]) -> Account:
    """The key or the login that it uses; CannotLaunch if there is none that it may."""
    manner = assignment.manner
    wish = Wish(manner.base_url, manner.env, manner.is_isolated)
    try:
        return accounts.resolve(needs.program.service(manner.model), wish, parent)
    except NoAccount as error:
        fact = f"{assignment.agent} cannot be run by {needs.program.name}: {error.fact}."
        raise CannotLaunch("auth", fact, error.remedy) from None


def own_key(manner: Manner) -> str | None:
    """The variable with the key for an address of the user's own."""
    return accounts.named_key(manner.env)


def secrets(env: Mapping[str, str], assignment: Assignment, needs: Needs) -> tuple[str, ...]:
    """What must be told to nobody."""
    return hiding.secrets_of(env, (TOKEN, *needs.keys, *assignment.manner.env))


def find(program: AgentProgram, assignment: Assignment, env: Mapping[str, str]) -> tuple[str, ...]:
    """The program to start: as the agent's `command` says, or by its name."""
    if assignment.manner.command:
        return assignment.manner.command
    name = program.executable
    path = shutil.which(name, path=env.get("PATH", os.defpath))
    if path is None:
        raise CannotLaunch(
            "cannot_start", f"Program {name!r} was not found on the PATH.", f"Install it: {program.install}"
        )
    return (path,)


def most_turns(assignment: Assignment) -> int | None:
    """How often it may ask its model, if the agent's definition says so."""
    said = assignment.settings.get("max_turns")
    return said if isinstance(said, int) and not isinstance(said, bool) else None


def unlimited(assignment: Assignment, needs: Needs) -> tuple[str, ...]:
    """A warning, for a program that has no such limit."""
    if most_turns(assignment) is None:
        return ()
    return (f"{needs.program.name} knows no limit of turns: max_turns of {assignment.agent} does nothing.",)


def write(folder: Path, name: str, content: str) -> Path:
    """A file that only this user can read."""
    place = folder / name
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(
        os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w", encoding="utf-8"
    ) as file:
        file.write(content)
    return place


def model_name(model: str | None, providers: Collection[str]) -> str | None:
    """The name that the program knows a model by: without its own provider in front, as written otherwise."""
    if model is None:
        return None
    provider, slash, name = model.partition("/")
    if not slash:
        return model
    if provider not in providers:
        raise CannotLaunch(
            "refused",
            f"The model {model} is not one of {' or '.join(sorted(providers))}.",
            "Choose another model or backend.",
        )
    return name
