"""The border around a command: where it may write, and what of the user's home it may read.

It writes in its directory and in a folder for temporary files. It reads what the user may, but of homes only its
directory and what programs are made of: a list of secrets would miss one.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from moot.process.confinement import Confinement

# Shared memory is there for locks between processes, as Python's multiprocessing makes them.
_SHARED = Path("/dev/shm")
_DEVICES = tuple(Path("/dev") / name for name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts"))
# What programs are made of, where no PATH leads there; git gives up on settings that it sees and cannot read.
_IN_HOME = (
    *(".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"),
    *(".local/bin", ".local/lib", ".local/share/uv", ".local/share/pipx", ".local/share/mise", ".local/share/pnpm"),
    *(".cargo/bin", ".cargo/config.toml", ".cargo/registry", ".cargo/git", ".rustup", "go/bin", "go/pkg"),
    *(".pyenv", ".rbenv", ".nvm", ".asdf", ".sdkman", ".volta"),
)
# What lies beside a directory of programs; not all that does: several keep their logins there.
_BESIDE = ("lib", "lib64", "libexec", "include", "share", "conf", "jmods", "pyvenv.cfg")
_STORE, _WORKTREES, _SETTINGS = ".workflow", "worktrees", ".moot"


def around(root: Path, scratch: Path, env: Mapping[str, str]) -> Confinement:
    home = Path(os.path.realpath(env.get("HOME") or "/"))
    homes = home.parent if home.parent.name == "home" else home
    beside = (one / _STORE for one in root.parents)  # of the project, where the directory is a part of it
    stores = (*(one for one in root.parents if one.name == _STORE), *(one for one in beside if one.is_dir()))
    closed = tuple(one for one in (homes, *stores) if one != Path("/"))
    return Confinement(
        write=(root, scratch, *((_SHARED,) if _SHARED.is_dir() else ())),
        device=_DEVICES,
        closed=closed,
        read=(*_readable(home, closed, env.get("PATH", "")), *_repository(root)),
        empty=(root / _STORE,),
        frozen=(root / _SETTINGS,),
    )


def _repository(root: Path) -> tuple[Path, ...]:
    """Of a worktree in moot's own folder, what git keeps elsewhere; by its place, for it could itself say anything."""
    is_worktree = root.parent.name == _WORKTREES and root.parent.parent.name == _STORE
    return (root.parent.parent.parent / ".git",) if is_worktree else ()


def variables(scratch: Path) -> dict[str, str]:
    """Where temporary files and caches go: those in the home cannot be written to."""
    cache = scratch / "cache"
    return {"TMPDIR": str(scratch), "XDG_CACHE_HOME": str(cache), "npm_config_cache": str(cache / "npm")}


@cache  # it takes half as long as to start the command
def _readable(home: Path, closed: tuple[Path, ...], path: str) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(one for one in _programs(home, path) if _is_below(one, closed)))


def _programs(home: Path, path: str) -> Iterator[Path]:
    known = [home / name for name in _IN_HOME]
    yield from known
    named = [Path(os.path.realpath(one)) for one in path.split(":") if one.startswith("/")]
    for folder in (*named, Path(sys.prefix) / "bin", Path(sys.base_prefix) / "bin"):
        if _is_below(home, (folder,)):
            continue
        yield folder
        beside = folder.parent
        if beside != home and not any(_is_below(one, (beside,)) for one in known):
            yield from (beside / name for name in _BESIDE)


def _is_below(path: Path, folders: tuple[Path, ...]) -> bool:
    return any(path == one or one in path.parents for one in folders)
