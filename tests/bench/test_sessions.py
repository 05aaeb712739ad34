import asyncio
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from bench import session_trees
from bench.peers import bare, environment, script
from bench.peers.bare import Notebook
from bench.peers.environment import PeersAbsent
from bench.peers.script import Scenario

SCENARIOS: list[Scenario] = list(script.PLAYS)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_moot_and_the_bare_loop_ask_the_same_number_of_times(scenario: Scenario, tmp_path: Path) -> None:
    timed = session_trees.as_attempts(scenario, 1, tmp_path)
    asked: list[str] = []
    asyncio.run(bare.play(scenario, lambda kind, path, data: asked.append(kind)))
    assert len(timed.shop.moments) == asked.count("model_begun") == script.PLAYS[scenario].turns


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_bare_loop_writes_the_events_of_moot(scenario: Scenario, tmp_path: Path) -> None:
    session_trees.as_attempts(scenario, 1, tmp_path)
    with closing(Notebook(tmp_path / "bare.db")) as notebook:
        asyncio.run(bare.play(scenario, notebook.note))
        assert notebook.count() == notebook.commits == 2 * recorded(tmp_path / "moot.db")


def test_events_that_are_gathered_are_all_there(tmp_path: Path) -> None:
    with closing(Notebook(tmp_path / "bare.db", is_gathered=True)) as notebook:
        asyncio.run(bare.play("chain", notebook.note))
        assert (notebook.count(), notebook.commits) == (16, 8)


@pytest.mark.chaos
def test_peers_that_cannot_be_installed_are_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = tmp_path / "requirements.txt"
    wanted.write_text(f"{tmp_path}/there-is-no-such-package\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(PeersAbsent):
        environment.python(tmp_path / "peers", wanted)
    assert not (tmp_path / "peers").exists()


def recorded(file: Path) -> int:
    """Rows of the journal, each of which was begun and done."""
    with closing(apsw.Connection(str(file))) as connection:
        ((count,),) = connection.execute("select count(*) from journal where state = 'done'").fetchall()
    assert isinstance(count, int)
    return count
