"""Flows are seen with where they are, their state and what they did; one that waits for it takes a step more."""

from pathlib import Path

import pytest

from moot.app.project import Project
from moot.engine.expressions.sandbox import Sandbox
from moot.store.sqlite import SqliteStore
from moot.store.store import Store
from tests.flowing import carried_out
from tests.web import site as sites

FLOW = """\
name: flow
default_state: {raw: {files: []}}
state_schema:
  computed:
    count: {from: raw.files, transform: "input.length"}
steps:
  - {id: fill, type: state_update, path: raw.files, value: [a, b, c]}
  - {id: tell, type: user_message, message: "there are {{ count }}"}
"""


@pytest.fixture
def store(sqlite_store: SqliteStore) -> Store:
    """Nothing is read here that others do not read on both databases."""
    return sqlite_store


async def test_a_flow_is_shown_with_its_state_and_its_steps(store: Store, tmp_path: Path) -> None:
    async with (
        Sandbox().open() as sandbox,
        carried_out(store, tmp_path, sandbox, {"flow": FLOW}) as flows,
        sites.serving(store, Project(tmp_path)) as site,
        site.browser() as browser,
    ):
        id = await flows.run(credits=0)
        await flows.waits(id, "credit")
        (listed,) = (await browser.get("/api/flows"))["flows"]
        assert (listed["workflow_id"], listed["waits_for"], listed["steps_taken"]) == (id, "credit", 0)
        await browser.post(f"/api/flows/{id}/step", {"steps": 5})
        await flows.over(id)
        found = await browser.get(f"/api/flows/{id}")
        assert found["flow"]["status"] == "completed"
        assert {(one["section"], one["name"]): one["value"] for one in found["state"]} == {
            ("raw", "files"): ["a", "b", "c"],
            ("computed", "count"): 3,
        }
        assert [one["step_id"].split(".")[0] for one in found["steps"]] == ["fill", "tell"]
        assert {one["field"] for one in found["traces"]} == {"count"}
        plan = await browser.get(f"/api/flows/{id}/plan")
        assert {one["field"]: one["from"] for one in plan["state"]}["computed.count"] == ["raw.files"]
        for of, key in (("steps", "fill.state_update"), ("state", "computed.count")):
            picture = await browser.client.get(f"/api/flows/{id}/graph.svg?of={of}")
            assert f'data-key="{key}"' in picture.text, picture.text
        assert await browser.refused(f"/api/flows/{id}/step", {}) == (409, "INVALID_TRANSITION")
        assert await browser.refused("/api/flows/wf_none") == (404, "WORKFLOW_NOT_FOUND")
