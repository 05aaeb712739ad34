"""Pushing a branch: the one thing by which moot reaches another repository, and only where somebody has asked for it.

How a remote is reached (keys, helpers) is taken from the person's own configuration. Programs that the repository's
configuration names are not started.
"""

import os

from moot.workspaces.errors import GitFailed, NoRemote
from moot.workspaces.git import Git
from moot.workspaces.repository import HEADS, Repository

_SECONDS = 300.0
_USUAL = "origin"
_PROTOCOLS = "file:https:ssh"  # none that begins a program of its own
_SOCKET = "SSH_AUTH_SOCK"


async def push(repository: Repository, branch: str) -> str:
    """To the branch of the same name there, if that has nothing which is not here; the remote's name."""
    git = repository.git
    there = await remote(git)
    helpers = await _of_person(git, "credential.helper")
    asked = [part for helper in helpers for part in ("-c", f"credential.helper={helper}")]
    ssh = await _of_person(git, "core.sshCommand")
    variables = {"GIT_ALLOW_PROTOCOL": _PROTOCOLS, "GIT_SSH_COMMAND": ssh[-1] if ssh else "ssh -o BatchMode=yes"}
    if _SOCKET in os.environ:
        variables[_SOCKET] = os.environ[_SOCKET]
    name = HEADS + branch
    options = ("--porcelain", "--no-verify", "--recurse-submodules=no", "--receive-pack=git-receive-pack")
    await git.run(*asked, "push", *options, there, f"{name}:{name}", variables=variables, seconds=_SECONDS)
    return there


async def remote(git: Git) -> str:
    """Where branches are pushed to; NoRemote if nothing is there, or it is not clear which is meant."""
    found = (await git.line("remote")).split()
    if not found:
        raise NoRemote(f"{git.folder} has no remote to push to.", "Add one: git remote add origin URL")
    if _USUAL not in found and len(found) > 1:
        raise NoRemote(f"{git.folder} has several remotes, and none is named {_USUAL}.", "Name one so.")
    return _USUAL if _USUAL in found else found[0]


async def _of_person(git: Git, key: str) -> list[str]:
    try:
        return (await git.run("config", "--global", "--get-all", "-z", key, codes=(0, 1))).parts
    except GitFailed:  # there is no such configuration
        return []
