"""What could run agents here: programs with their versions, model APIs with their keys. What is missing is no problem
until somebody wants it; then this says what to do."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator

from moot.api import check
from moot.api.check import Check
from moot.app import choosing, workflows
from moot.app.choosing import Machine
from moot.app.programs import MODELS_EXTRA, PROGRAMS, AgentProgram
from moot.app.project import Project
from moot.core.errors import MootError
from moot.process import child
from moot.process.program import Program, as_text
from moot.workflow.catalog import Catalog

_SECONDS = 10.0  # for a program to tell its version
_MOST = 80  # characters of what it tells


async def checks(project: Project) -> AsyncIterator[Check]:
    """One for each backend that this version runs and that needs something."""
    machine = choosing.this_machine()
    usable: list[tuple[str, AgentProgram]] = [one for one in PROGRAMS.items() if machine.runs(one[0])]
    for found in await asyncio.gather(*(_program(name, program, machine) for name, program in usable)):
        yield found
    try:
        yield _api(machine, workflows.catalog(project))
    except MootError as error:
        yield check.failed("api", error)


async def _program(name: str, program: AgentProgram, machine: Machine) -> Check:
    path = shutil.which(program.executable, path=machine.environ.get("PATH", os.defpath))
    if path is None:
        return check.ok(name, f"cannot be used: {program.executable} was not found. Install it: {program.install}")
    version = await _version(path)
    if version is None:
        return check.problem(name, f"{path} does not tell its version.", f"Install it anew: {program.install}")
    key = machine.key(program.keys)
    account = f"key {key}" if key else "your login (no key is set)"
    return check.ok(name, f"{version} at {path}, with {account}")


async def _version(path: str) -> str | None:
    """What `--version` prints, if it does in time."""
    try:
        ended = await child.run(Program((path, "--version"), deadline=_SECONDS, grace=0.5))
    except MootError:
        return None
    printed = as_text(ended.stdout).strip().splitlines()
    return printed[0][:_MOST] if ended.is_success and printed else None


def _api(machine: Machine, known: Catalog) -> Check:
    if not machine.runs("api"):
        return check.ok("api", "cannot be used: this version of moot does not run it")
    if not machine.has_models:
        return check.ok("api", f"cannot be used: its extra is not installed. Run: {MODELS_EXTRA}")
    found = {one.name: machine.key(one.keys) for one in known.providers.values() if one.keys}
    keys = [f"{name} ({key})" for name, key in found.items() if key]
    missing = ", ".join(name for name, key in found.items() if not key)
    local = ", ".join(one.name for one in known.providers.values() if not one.keys)
    told = f"keys for {', '.join(keys)}" if keys else "no key is set"
    return check.ok("api", f"{told}; none for {missing or 'nobody else'}; no key needed for {local or 'nobody'}")
