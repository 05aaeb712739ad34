"""What could run agents here: programs with their versions, model APIs, and on whose account. What is missing is no
problem until somebody wants it; then this says what to do."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator

from moot.api import check
from moot.api.check import Check
from moot.app import choosing, workflows
from moot.app.choosing import Machine
from moot.app.project import Project
from moot.backends.programs.known import PROGRAMS, AgentProgram
from moot.core.accounts import Account, NoAccount, Wish
from moot.core.errors import MootError
from moot.models import opening
from moot.process import child
from moot.process.program import Program, as_text
from moot.workflow.catalog import Catalog, Provider

_SECONDS = 10.0  # for a program to tell its version
_MOST = 80  # characters of what it tells


async def checks(project: Project) -> AsyncIterator[Check]:
    """One for each backend that this version runs and that needs something."""
    machine = choosing.this_machine()
    usable = [one for one in PROGRAMS.values() if machine.runs(one.name)]
    for found in await asyncio.gather(*(_program(program, machine) for program in usable)):
        yield found
    try:
        yield _api(machine, workflows.catalog(project))
    except MootError as error:
        yield check.failed("api", error)


async def _program(program: AgentProgram, machine: Machine) -> Check:
    name = program.name
    path = shutil.which(program.executable, path=machine.environ.get("PATH", os.defpath))
    if path is None:
        return check.absent(name, f"{program.executable} was not found", f"Install it: {program.install}")
    version = await _version(path)
    if version is None:
        return check.problem(name, f"{path} does not tell its version.", f"Install it anew: {program.install}")
    account = machine.account(program.service(), Wish())
    if account.login == "missing":
        fact = f"{version} at {path}, but no login was found, and no key is set"
        return check.absent(name, fact, f"Log in: {program.log_in}\nOr set {' or '.join(program.all_keys)}.")
    unseen = ", if there is one: that cannot be seen from here" if account.login == "unseen" else ""
    return check.ok(name, f"{version} at {path}, with {account}{unseen}")


async def _version(path: str) -> str | None:
    """What `--version` prints, if it does in time."""
    try:
        ended = await child.run(Program((path, "--version"), deadline=_SECONDS, grace=0.5))
    except MootError:
        return None
    printed = as_text(ended.stdout).strip().splitlines()
    return printed[0][:_MOST] if ended.is_success and printed else None


def _api(machine: Machine, known: Catalog) -> Check:
    if not machine.has_models:
        return check.absent("api", "model APIs need an extra that is not installed", f"Run: {opening.INSTALL}")
    found = {one.name: _account(one, machine) for one in known.providers.values() if one.keys}
    keys = [f"{name} ({account})" for name, account in found.items() if account]
    missing = ", ".join(name for name, account in found.items() if not account)
    local = ", ".join(one.name for one in known.providers.values() if not one.keys)
    told = ", ".join(keys) or "no key is set"
    return check.ok("api", f"{told}; no key for {missing or 'nobody else'}; none needed for {local or 'nobody'}")


def _account(provider: Provider, machine: Machine) -> Account | None:
    try:
        return machine.account(provider.service, Wish())
    except NoAccount:
        return None
