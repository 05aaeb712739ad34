"""The start of a child: arguments checked, a session of its own, only three descriptors, errors explained."""

import errno
import os
import shutil
import subprocess
from collections.abc import Mapping

from moot.core.errors import MootError
from moot.process import environment
from moot.process.errors import (
    ArgumentsTooLong,
    BadArguments,
    BadWorkingDirectory,
    ProgramNotExecutable,
    ProgramNotFound,
    ProgramNotStarted,
)
from moot.process.program import Program


def spawn(program: Program, marker: str) -> subprocess.Popen[bytes]:
    """Start the program, with the marker and its own one in its environment."""
    _check(program)
    env = environment.build() if program.env is None else environment.checked(program.env)
    markers = (marker,) if program.marker is None else (program.marker, marker)
    has_stdin = program.stdin is not None or program.stdin_stays_open
    try:
        return subprocess.Popen(
            program.argv,
            cwd=program.cwd,
            env=environment.marked(env, *markers),
            stdin=subprocess.PIPE if has_stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
    except OSError as error:
        raise _explained(program, env, error) from error


def _check(program: Program) -> None:
    if not program.argv or not program.argv[0]:
        raise BadArguments("No program is named.", "Put its name or path first in the arguments.")
    for place, argument in enumerate(program.argv):
        if not environment.is_passable(argument):
            raise BadArguments(
                f"Argument {place} of {program.argv[0]!r} holds a NUL or a lone surrogate.",
                "Pass such data by standard input.",
            )
    if program.cwd is not None and not environment.is_passable(str(program.cwd)):
        raise BadWorkingDirectory(f"{str(program.cwd)!r} cannot be a path.", "Name a directory.")


def _explained(program: Program, env: Mapping[str, str], error: OSError) -> MootError:
    name = program.argv[0]
    reason = os.strerror(error.errno or 0)
    if program.cwd is not None and error.filename == program.cwd:
        return BadWorkingDirectory(
            f"{name!r} cannot start in {str(program.cwd)!r}: {reason}.",
            "Name a directory that you may enter.",
        )
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return _not_found(name, env)
    if error.errno in (errno.EACCES, errno.EPERM, errno.ENOEXEC):
        return ProgramNotExecutable(
            f"{name!r} cannot be run: {reason}.",
            "Make it executable; a script's first line must name its interpreter (#!/bin/sh).",
        )
    if error.errno == errno.E2BIG:
        return ArgumentsTooLong(
            f"The arguments and environment of {name!r} are too long for the system.",
            "Pass long text by standard input or in a file.",
        )
    return ProgramNotStarted(f"{name!r} could not be started: {reason}.", "Free some processes, files or memory.")


def _not_found(name: str, env: Mapping[str, str]) -> ProgramNotFound:
    if shutil.which(name, path=env.get("PATH", os.defpath)):
        return ProgramNotFound(f"The interpreter that {name!r} names was not found.", "Correct its first line (#!).")
    where = "as given" if os.sep in name else "on the PATH"
    return ProgramNotFound(f"Program {name!r} was not found {where}.", "Install it, or give its full path.")
