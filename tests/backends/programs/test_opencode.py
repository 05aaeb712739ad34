"""opencode's settings, as the real one was seen to honour them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from moot.core.permissions import PRESETS, Permissions, Preset
from tests.backends.programs.cast import OPENCODE, cast
from tests.backends.programs.stage import FULL, Stage, play

CLOSED = {"edit": "deny", "bash": "deny", "webfetch": "deny", "websearch": "deny", "external_directory": "deny"}


async def settings(place: Stage, permissions: Permissions, **more: Any) -> tuple[dict[str, Any], list[str], Any]:
    """What it is told, its arguments, and whether it leaves the project's files alone."""
    role = cast(OPENCODE, place.root, [*OPENCODE.opening, *OPENCODE.ending("done")])
    manner = role.manner(replace(FULL, permissions=permissions, **more))
    _, ended = await play(role.backend, await place.assignment(manner=manner, system_prompt="Be kind."))
    assert ended.failure is None, ended.error
    seen = role.seen()
    told = json.loads(seen["env"]["OPENCODE_CONFIG_CONTENT"])
    return told, seen["argv"], seen["env"].get("OPENCODE_DISABLE_PROJECT_CONFIG")


@pytest.mark.parametrize("preset", ["read-only", "ask"])
async def test_one_that_may_not_do_everything_is_an_agent_that_no_file_knows(place: Stage, preset: Preset) -> None:
    (place.root / "workspace").mkdir()
    (place.root / "workspace" / "CLAUDE.md").write_text("Words of the project.")
    told, argv, ignores_project = await settings(place, PRESETS[preset])
    (name,) = told["agent"]
    assert argv[argv.index("--agent") + 1] == name
    assert name.startswith("moot-at_")
    assert told["agent"][name]["permission"] == {"moot_*": "allow", **CLOSED, "task": "deny"}
    assert ignores_project == "1"
    assert [place.rpartition("/")[2] for place in told["instructions"]] == ["CLAUDE.md", "system-prompt.md"]


async def test_its_own_agent_runs_what_may_do_everything(place: Stage) -> None:
    told, argv, ignores_project = await settings(place, PRESETS["full"])
    assert "agent" not in told
    assert set(told["permission"].values()) == {"allow"}
    assert ("--agent" in argv, ignores_project) == (False, None)


@pytest.mark.parametrize("preset", ["read-only", "full"])
async def test_a_system_prompt_replaces_that_of_the_agent_that_runs(place: Stage, preset: Preset) -> None:
    told, argv, _ = await settings(place, PRESETS[preset], replaces_system_prompt=True)
    name = argv[argv.index("--agent") + 1] if "--agent" in argv else "build"
    assert told["agent"][name]["prompt"].endswith("/system-prompt.md}")
    assert "instructions" not in told


async def test_another_address_gets_no_configuration_and_no_login_of_the_user(place: Stage) -> None:
    users = place.root / "home" / ".config"
    for name in ("git/config", "opencode/opencode.json"):
        (users / name).parent.mkdir(parents=True, exist_ok=True)
        (users / name).write_text("{}")
    own = {"OPENCODE_CONFIG": "/own.json", "OPENCODE_CONFIG_DIR": "/own"}
    role = cast(OPENCODE, place.root, [*OPENCODE.opening, *OPENCODE.ending("done")], None, **own)
    manner = replace(role.manner(), model="anthropic/m")
    _, ended = await play(role.backend, await place.assignment(manner=manner))
    assert ended.failure is None, ended.error
    assert own.items() <= role.seen()["env"].items()
    elsewhere = replace(manner, base_url="http://127.0.0.1:1", env=(OPENCODE.key,))
    given = await place.assignment(manner=elsewhere)
    _, ended = await play(role.backend, given)
    assert ended.failure is None, ended.error
    env = role.seen()["env"]
    assert own.keys() & env.keys() == set()
    assert [entry.name for entry in Path(env["XDG_CONFIG_HOME"]).iterdir()] == ["git"]
    assert (env["OPENCODE_AUTH_CONTENT"], env["OPENCODE_DISABLE_PROJECT_CONFIG"]) == ("{}", "1")
    assert (env["HOME"], env["OPENCODE_TEST_HOME"]) == (str(place.root / "home"), str(given.folder))
