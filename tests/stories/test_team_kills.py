"""A team whose host, workers and lead are killed again and again, and whose files are spoilt: it comes to its end,
nothing is left unread, nothing is merged twice, nobody stays behind, and the files are what the store says."""

import random
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from moot.teams import teams
from moot.workspaces import workspaces
from tests.cli.terminal import Terminal
from tests.views import shown
from tests.workspaces.repos import Repo

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "team"
SECONDS = 120.0
HOW = ("--lead", "external", "--no-approve-plan", "--json")
MOST_WORKERS = 2  # killed: a third failure of the same mail is one that a team has to be told of


@pytest.fixture
def project(terminal: Terminal) -> Terminal:
    shutil.copytree(EXAMPLE, terminal.folder, dirs_exist_ok=True)
    (terminal.folder / ".gitignore").write_text("home/\n", encoding="utf-8")
    terminal.ok("team", "setup")
    return terminal


@contextmanager
def ended(process: "subprocess.Popen[bytes]") -> Generator["subprocess.Popen[bytes]"]:
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


class Told:
    """What a host says: read from the beginning of its run, so that it is never held up by it."""

    def __init__(self, host: "subprocess.Popen[bytes]") -> None:
        assert host.stdout is not None
        self._out, self._lines = host.stdout, list[bytes]()
        while b'"type":"run"' not in (line := self._out.readline()).replace(b" ", b""):
            assert line, host.stderr and host.stderr.read()
        self._reading = threading.Thread(target=lambda: self._lines.extend(self._out), daemon=True)
        self._reading.start()

    def check(self, code: int) -> bool:
        self._reading.join(SECONDS)
        assert code == 0, b"".join(self._lines[-20:]).decode()
        return True


class Story:
    """A team at work, and whoever is killed on the way."""

    def __init__(self, project: Terminal, kills: int, seed: int, longest: float = 1.5) -> None:
        self.project, self.chance = project, random.Random(seed)
        self.left, self.killed = kills, Counter[str]()
        self.longest = longest  # seconds between two of them

    def tell(self) -> None:
        lead = [self._lead()]
        try:
            command = ("team", "up", "say hello", "--file", "team.yaml", *HOW)
            while not self._run(command, lead) and not self._is_done():
                command = ("resume", "@team", "--json")
        finally:
            for one in lead:
                one.kill()
                one.wait()

    def _is_done(self) -> bool:
        """The host may have been killed when it had nothing left to do but to say so, here and in the files, which
        whoever looks puts right."""
        (team,) = self.project.ok("team", "status", "--json").json
        return bool(team["status"]["status"] == "done")

    def _lead(self) -> "subprocess.Popen[bytes]":
        argv = [sys.executable, "-m", "tests.stories.team_lead", str(self.project.folder)]
        return subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _run(self, command: tuple[str, ...], lead: list["subprocess.Popen[bytes]"]) -> bool:
        """Whether the team has come to its end; False if its host was killed."""
        with ended(self.project.start(*command)) as host:
            told = Told(host)
            while self.left:
                try:
                    return told.check(host.wait(self.chance.uniform(0.05, self.longest)))
                except subprocess.TimeoutExpired:
                    self.left -= 1
                    if self._kill(host, lead) == "host":
                        return False
            return told.check(host.wait(SECONDS))

    def _kill(self, host: "subprocess.Popen[bytes]", lead: list["subprocess.Popen[bytes]"]) -> str:
        who = self.chance.choice(("host", "host", "lead", "worker", "files"))
        if who == "worker":
            if self.killed["worker"] >= MOST_WORKERS or not killed_worker(host):
                return ""
        elif who == "files":
            spoil(self.project.folder, self.chance)
        elif who == "lead":
            for one in lead:
                one.kill()
                one.wait()
            lead[:] = [self._lead()]
        else:
            host.kill()
            host.wait()
        self.killed[who] += 1
        return who


def killed_worker(host: "subprocess.Popen[bytes]") -> bool:
    """The first that is still at work; False if none is."""
    with suppress(psutil.Error):
        for one in psutil.Process(host.pid).children(recursive=True):
            with suppress(psutil.Error):
                if "worker.sh" in one.cmdline():
                    one.kill()
                    return True
    return False


def spoil(root: Path, chance: random.Random) -> None:
    """The files that others look at are gone, or say something else."""
    place = shown.folder(root, "team")
    for name in sorted(shown.paths(root, "team")):
        with suppress(OSError):
            if chance.random() < 0.5:
                (place / name).unlink()
            else:
                (place / name).write_bytes(b'{"requests": [], "stage": "done"}')


def everything_is_in_order(project: Terminal) -> None:
    # What the lead has started ends when it finds its client gone; nobody else is there.
    here = [one for one in psutil.process_iter(["cwd"]) if (one.info["cwd"] or "").startswith(str(project.folder))]
    _, alive = psutil.wait_procs(here, timeout=SECONDS)
    assert alive == []
    (team,) = project.ok("team", "status", "--json").json
    # Only now: files may have been spoilt after the last look of a host, and are put right by the next of anybody.
    project.act(lambda connection: shown.check(connection.store, project.folder, "team"))
    assert (team["stage"], team["reason"]) == ("done", "")
    assert [one for one in team["status"]["agents"] if one["unread"] or one["parked"]] == []
    happened = project.ok("log", "--events", "-n", "100000", "--instance", "team", "--json").json
    done = Counter(one["subject"] for one in happened if one["kind"] == "task_status"
                   and one["data"]["status"] == "completed")  # fmt: skip
    assert set(done.values()) == {1}
    merged = Counter(one["data"]["branch"] for one in happened if one["kind"] == workspaces.MERGED)
    assert merged == {"moot/team/worker-2": 1, "moot/team/worker-3": 1}
    way = [(one["data"]["from"], one["data"]["to"], one["data"]["round"]) for one in happened
           if one["kind"] == teams.STAGE]  # fmt: skip
    assert len(way) == len(set(way)), way
    repo = Repo(project.folder)
    words = {name: repo.show(f"moot/team/worker-1:words/{name}.txt") for name in ("de", "en", "fr", "it")}
    assert words == {"de": "Hallo", "en": "Hello", "fr": "Bonjour", "it": "Ciao"}
    rows = {one["worktree_path"] for one in project.ok("workspace", "ls", "--json").json}
    assert {str(one) for one in repo.worktrees()} == rows | {str(project.folder)}


def test_a_team_survives_whoever_is_killed(project: Terminal) -> None:
    story = Story(project, kills=6, seed=1)
    story.tell()
    assert sum(story.killed.values()) > 0
    everything_is_in_order(project)


@pytest.mark.chaos
@pytest.mark.parametrize("seed", range(12))
def test_a_team_survives_many_kills(project: Terminal, seed: int) -> None:
    story = Story(project, kills=30, seed=seed, longest=0.8)
    story.tell()
    everything_is_in_order(project)
