"""A flow that was under way before places were kept with flows goes on where it was."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import FlowId, InstanceName
from moot.core.tx import Tx
from moot.engine.flow import flows, strands
from moot.engine.frames import Frame
from moot.registry import instances
from moot.store import migrate, postgres, sqlite
from moot.store.store import Store

ID, FRAMES = FlowId("wf_old"), '[["",3,0],["then",1,2]]'
PLACE = (Frame("", 3), Frame("then", 1, 2))


@pytest.fixture(params=["sqlite", "postgres"])
def open_anew(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Store]:
    if request.param == "sqlite":
        return lambda: sqlite.open_file(tmp_path / "store" / "moot.db", create=True)
    url: str = request.getfixturevalue("pg_url")
    return lambda: postgres.open_url(url, create=True)


async def test_a_flow_that_was_begun_before_goes_on_where_it_was(
    open_anew: Callable[[], Store], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "_FOLDER", _before_places(tmp_path / "migrations"))
        store = open_anew()
        await store.write(_begin, caller=SYSTEM)
        await store.close()
    store = open_anew()
    found = await store.read(lambda tx: strands.of_flow(tx, ID))
    assert {number: (one.frames, one.tries) for number, one in found.items()} == {0: (PLACE, 2), 1: (PLACE, 2)}
    await store.close()


def _before_places(folder: Path) -> Path:
    folder.mkdir()
    for file in Path(migrate.__file__).with_name("migrations").glob("*.sql"):
        if file.name < "0024":
            shutil.copy(file, folder)
    return folder


def _begin(tx: Tx) -> None:
    instance = instances.ensure(tx, InstanceName("house"))
    texts = dict.fromkeys(("name", "source"), "w") | dict.fromkeys(("given", "own"), "{}")
    nobody = dict.fromkeys(("holder", "tool_groups", "credits"))
    tx.put(
        flows.sql.add,
        id=ID,
        instance=instance.name,
        stream=instance.stream,
        driver="moot",
        role="operator",
        now=tx.now,
        **texts,
        **nobody,
    )
    for number in (0, 1):
        nothing = dict.fromkeys(("parent", "holder", "work", "given_at", "waits_on", "wakes_at"))
        zeros = dict.fromkeys(("fork", "since", "seen_step", "retries"), 0)
        tx.put(
            strands.sql.put,
            flow=ID,
            number=number,
            task_id="",
            frames=FRAMES,
            tries=2,
            status="moving",
            own="{}",
            step_id="",
            is_applied=False,
            error="",
            **nothing,
            **zeros,
        )
