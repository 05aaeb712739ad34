"""git: the only place that runs it, with a deadline, with capped output, and without anything that a repository brings.

A repository says in its configuration which programs git is to start: hooks, filters, drivers, editors, helpers. Those
belong to whoever wrote them, so all that are found there are switched off by variables, which nothing in a repository
outweighs. A filter leaves files as they are, a merge driver becomes git's own. Nothing is fetched.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from moot.core.errors import MootError
from moot.core.records import record
from moot.process import child, environment
from moot.process.program import Finished, Program, as_text
from moot.workspaces.errors import (
    BareRepository,
    BranchTaken,
    DiskFull,
    GitFailed,
    GitTooOld,
    NotARepository,
    RepositoryLocked,
    RepositoryUnsafe,
)

LEAST = (2, 38)  # merges without a working tree
_SECONDS = 120.0
_CAP = 32 << 20
_SHOWN = 2000
_NONE = "none"  # the only way on which something could be fetched; there is no such thing
_DRIVER = re.compile(r"(filter|merge)\.(.+)\.[^.]+", re.DOTALL)
# A merge driver cannot be unset, and an empty one would take our side without a word.
_OWN_DRIVER = "git merge-file --marker-size=%L %A %O %B"
_OFF: Mapping[str, Mapping[str, str]] = {
    "filter": {"clean": "", "smudge": "", "process": "", "required": "false"},
    "merge": {"driver": _OWN_DRIVER, "recursive": "text"},
}
_ALWAYS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.sshCommand": "false",
    "core.askPass": "false",
    "core.editor": "false",
    "core.pager": "cat",
    "credential.helper": "",
    "merge.default": "text",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "gpg.program": "false",
    "submodule.recurse": "false",  # git would go on in there with a configuration that we have not looked at
    "gc.auto": "0",
    "maintenance.auto": "false",
}
_VARIABLES = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "GIT_EDITOR": "false",
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_PAGER": "cat",
    "GIT_SSH_COMMAND": "false",
    "GIT_ALLOW_PROTOCOL": _NONE,
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_AUTHOR_NAME": "moot",
    "GIT_AUTHOR_EMAIL": "moot@localhost",
    "GIT_COMMITTER_NAME": "moot",
    "GIT_COMMITTER_EMAIL": "moot@localhost",
}
_HALF_MADE = b"/commondir: "  # is there by then, and empty
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)  # seconds until it is written
_FACTS: tuple[tuple[str, type[MootError], str], ...] = (
    ("No space left on device", DiskFull, "Make room and try again."),
    ("File too large", DiskFull, "Make room and try again."),
    (".lock': File exists", RepositoryLocked, "Wait until the other git is done; if none runs, remove the lock file."),
    ("dubious ownership", RepositoryUnsafe, "If you trust it: git config --global --add safe.directory FOLDER."),
    ("not a git repository", NotARepository, "Make it one with git init, or name another with repo_path."),
    ("already checked out at", BranchTaken, "Choose another branch, or free this one there."),
    ("already used by worktree at", BranchTaken, "Choose another branch, or free this one there."),
    ("a branch named", BranchTaken, "Choose another name."),
    ("cannot lock ref", BranchTaken, "Choose another name."),
)


@record
class Answer:
    code: int
    out: bytes

    @property
    def text(self) -> str:
        """One line, or the empty text."""
        return as_text(self.out)

    @property
    def parts(self) -> list[str]:
        """What was separated by NUL, as paths are written in Python."""
        return [part.decode(errors="surrogateescape") for part in self.out.split(b"\0") if part]


class Git:
    """git in one folder. Made by `at`."""

    def __init__(self, folder: Path, marker: str, config: Mapping[str, str], of: Path | None = None) -> None:
        self.folder = folder
        self.marker = marker
        self.of = of  # git's own folder for it; None: git looks for it
        self._config = config

    async def run(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        variables: Mapping[str, str] | None = None,
        codes: tuple[int, ...] = (0,),
        seconds: float = _SECONDS,
    ) -> Answer:
        """What it answered; the fact that kept it from it, unless it ended with one of these codes."""
        program = Program(
            ("git", *arguments),
            cwd=self.folder,
            env={**self._env, **(variables or {})},
            stdin=stdin,
            deadline=seconds,
            output_cap=_CAP,
            marker=self.marker,
        )
        finished = await self._settled(program)
        if finished.ended != "exited" or finished.exit_code not in codes:
            _explain(arguments, finished)
        if finished.stdout_truncated:
            raise GitFailed(f"git {arguments[0]} had more to say than moot listens to.", "Use git itself for this.")
        assert finished.exit_code is not None
        return Answer(finished.exit_code, finished.stdout)

    async def _settled(self, program: Program) -> Finished:
        """Again, where it has met a worktree that another git is only making: it takes that for damage, and has changed
        nothing."""
        finished = await child.run(program)
        for pause in _PAUSES:
            if finished.exit_code == 0 or _HALF_MADE not in finished.stderr:
                break
            await asyncio.sleep(pause)
            finished = await child.run(program)
        return finished

    async def says(self, *arguments: str) -> bool:
        """The answer to a question: yes by 0, no by 1."""
        return (await self.run(*arguments, codes=(0, 1))).code == 0

    async def line(self, *arguments: str) -> str:
        return (await self.run(*arguments)).text

    async def commit_of(self, name: str) -> str | None:
        """The commit that a full name of a reference, or an id, stands for."""
        asked = ("--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        found = await self.run("rev-parse", *asked, codes=(0, 1, 128))
        return found.text if found.code == 0 else None

    @property
    def has_filters(self) -> bool:
        """Whether files are written otherwise by who does not switch them off."""
        return any(name.startswith("filter.") for name in self._config)

    async def elsewhere(self, folder: Path, of: Path | None = None) -> "Git":
        """The same repository in another of its worktrees, where its configuration may say something else. `of` is the
        folder that git has for it, where what lies in the worktree is not to be believed."""
        return await _looked_through(Git(folder, self.marker, {}, of))

    @cached_property
    def _env(self) -> dict[str, str]:
        config = {**self._config, **_ALWAYS}
        counted = {"GIT_CONFIG_COUNT": str(len(config))}
        for number, (key, value) in enumerate(config.items()):
            counted |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        plain = {name: value for name, value in environment.build().items() if not name.startswith("LC_")}
        told = {} if self.of is None else {"GIT_DIR": str(self.of), "GIT_WORK_TREE": str(self.folder)}
        return {**plain, **_VARIABLES, **counted, **told}


async def at(folder: Path, marker: str) -> Git:
    """git in this folder, once its configuration was looked through; whatever is not a repository is refused."""
    bare = Git(folder, marker, {})
    await _check_version(bare)
    if await bare.line("rev-parse", "--is-bare-repository") == "true":
        raise BareRepository(f"{folder} is a bare repository.", "Name one with files, with repo_path.")
    return await _looked_through(bare)


async def _looked_through(git: Git) -> Git:
    listed = await git.run("config", "--list", "--name-only", "-z")
    return Git(git.folder, git.marker, dict(_switched_off(listed.parts)), git.of)


def _switched_off(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What outweighs each driver that a configuration, or what it includes, defines."""
    for name in names:
        if (found := _DRIVER.fullmatch(name)) is not None:
            yield from ((f"{found[1]}.{found[2]}.{key}", value) for key, value in _OFF[found[1]].items())


async def _check_version(git: Git) -> None:
    told = await git.line("version")
    found = re.search(r"(\d+)\.(\d+)", told)
    if found is None or (int(found[1]), int(found[2])) < LEAST:
        wanted = ".".join(map(str, LEAST))
        raise GitTooOld(f"moot needs git {wanted} or newer, and this is {told[:80]!r}.", "Install a newer one.")


def _explain(arguments: tuple[str, ...], finished: Finished) -> NoReturn:
    said = as_text(finished.stderr)
    shown = said[-_SHOWN:].strip()
    for words, fact, remedy in _FACTS:
        if words in said:
            raise fact(shown, remedy)
    raise GitFailed(f"git {arguments[0]} {finished.how}: {shown}".rstrip(": ") + ".", "See what git says there.")
