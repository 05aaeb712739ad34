"""Real git repositories for tests, with git's own words for what is in them."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

ENV = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "ann",
    "GIT_AUTHOR_EMAIL": "ann@example.com",
    "GIT_COMMITTER_NAME": "ann",
    "GIT_COMMITTER_EMAIL": "ann@example.com",
}


@dataclass(frozen=True)
class Repo:
    """A repository, or one of its worktrees."""

    top: Path

    def git(self, *arguments: str, check: bool = True) -> str:
        done = subprocess.run(
            ("git", *arguments), cwd=self.top, env=ENV, capture_output=True, text=True, check=False, timeout=60
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(self, name: str, content: str) -> None:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    def read(self, name: str) -> str:
        return (self.top / name).read_text(encoding="utf-8")

    def commit(self, message: str = "change", **files: str) -> str:
        """Files by name, with `__` for a dot and `_` kept."""
        for name, content in files.items():
            self.write(name.replace("__", "."), content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.tip("HEAD")

    def tip(self, name: str) -> str:
        return self.git("rev-parse", "--verify", "--quiet", name, check=False)

    def show(self, name: str) -> str:
        """The content of `branch:file`."""
        return self.git("show", name)

    def status(self) -> list[str]:
        return self.git("status", "--porcelain").splitlines()

    def subjects(self, branch: str) -> list[str]:
        return self.git("log", "--format=%s", branch).splitlines()

    def branches(self) -> list[str]:
        return self.git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").splitlines()

    def worktrees(self) -> list[Path]:
        lines = self.git("worktree", "list", "--porcelain").splitlines()
        return [Path(line.removeprefix("worktree ")) for line in lines if line.startswith("worktree ")]


def make(top: Path) -> Repo:
    """One with a commit on main."""
    top.mkdir(parents=True, exist_ok=True)
    repo = Repo(top)
    repo.git("init", "--quiet", "-b", "main")
    repo.write(".gitignore", "ignored\n.workflow\n")
    repo.commit("begin", a__txt="one\ntwo\nthree\n", b__txt="b\n")
    return repo
