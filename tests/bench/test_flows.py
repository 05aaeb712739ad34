"""What the bench of flows measures is what it says."""

from pathlib import Path

import pytest

from bench import flow_state, flow_steps, flowing
from bench.flow_steps import Bare, Spent


async def test_an_update_evaluates_and_writes_what_depends_on_it(tmp_path: Path) -> None:
    async with flowing.staged(tmp_path) as stage:
        state = await flow_state.begun(stage, 20)
        assert [await state.update(field) for field in ("all", "some", "one")] == [20, 10, 1]
        for field, rows in (("all", 21), ("some", 11), ("one", 2)):
            assert flow_state.rows(tmp_path, state.flow, await state.write(field)) == rows
        assert await state.compute_all() == 20


@pytest.mark.parametrize("side", flow_steps.LINES)
async def test_every_step_of_a_flow_is_one_commit(side: str, tmp_path: Path) -> None:
    spent = Spent()
    async with flowing.staged(tmp_path) as stage:
        await flow_steps.step(stage, flow_steps.LINES[side], 20, spent)
    (commits,) = spent.commits
    assert round(commits * 20) in (20, 21, 22)  # the host reacts to the beginning and to the end, sooner or later


def test_a_bare_commit_changes_one_row(tmp_path: Path) -> None:
    bare = Bare(tmp_path / "bare.db")
    bare.commit(3, Spent())
    assert bare.count == 3
    bare.close()
