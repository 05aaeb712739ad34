"""What only Codex does: a sandbox instead of questions, its own login and settings."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from moot.backends.backend import Called, Manner, Usage, Warned
from moot.backends.programs.driver import ProgramBackend
from moot.core.permissions import PRESETS, Permissions
from tests import fake_models
from tests.backends.programs.stage import FULL, Stage, play
from tests.clis.subjects import CODEX
from tests.clis.trials import put
from tests.fake_models import Answer, Asked, call, say

pytestmark = pytest.mark.clis


async def test_what_would_have_to_be_asked_for_is_closed_and_told(place: Stage, parent: dict[str, str]) -> None:
    async with fake_models.serve(lambda _: say("hello")) as server:
        manner = CODEX.manner(server, Manner(permissions=PRESETS["ask"]))
        told, ended = await play(CODEX.backend(parent), await place.assignment(manner=manner))
        offered = server.asked[0].tools
    assert ended.failure is None, ended.error
    warning = "codex cannot ask for permission without a terminal: what it would ask for (edit, shell, network)"
    assert Warned(f"{warning} it may not do.") in told
    assert "exec_command" not in offered
    assert "web_search" not in json.dumps(server.asked[0].body.get("tools"))


async def test_no_rules_lift_the_sandbox(place: Stage, parent: dict[str, str], home: Path) -> None:
    target = place.root / "workspace" / "x.txt"
    put(home / ".codex/rules/default.rules", 'prefix_rule(pattern=["touch"], decision="allow")\n')

    def scenario(asked: Asked) -> Answer:
        return say("I could not.") if asked.results else call("exec_command", cmd=f"touch {target}")

    async with fake_models.serve(scenario) as server:
        manner = CODEX.manner(server, Manner(permissions=Permissions("deny", "allow", "deny")))
        _, ended = await play(CODEX.backend(parent), await place.assignment(manner=manner))
    assert (ended.failure, ended.text) == (None, "I could not."), ended.error
    assert not target.exists()


async def test_what_is_permitted_is_done(place: Stage, parent: dict[str, str]) -> None:
    target = place.root / "workspace" / "x.txt"

    def scenario(asked: Asked) -> Answer:
        if not asked.results:
            return call("exec_command", cmd=f"printf hello > {target}")
        return say("Written.")

    async with fake_models.serve(scenario) as server:
        told, ended = await play(CODEX.backend(parent), await place.assignment(manner=CODEX.manner(server)))
    assert (ended.failure, ended.text) == (None, "Written."), ended.error
    assert target.read_text() == "hello"
    assert Called("shell") in told


async def test_its_users_own_login_is_used_and_its_settings_are_not(
    place: Stage, parent: dict[str, str], home: Path
) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "auth.json").write_text(json.dumps({"OPENAI_API_KEY": "sk-canary-of-the-login"}))
    (home / ".codex" / "config.toml").write_text('model = "model-of-the-user"\n')
    async with fake_models.serve(lambda _: say("hello")) as server:
        command = ("codex", "-c", f'openai_base_url="{server.v1}"')  # the provider's own, but here
        given = await place.assignment(manner=replace(FULL, model=CODEX.model, command=command))
        _, ended = await play(ProgramBackend(CODEX.kind(), parent=parent), given)
        asked = server.asked[0]
    assert ended.failure is None, ended.error
    assert (asked.headers.get("authorization"), asked.model) == ("Bearer sk-canary-of-the-login", "gpt-5")
    assert (home / ".codex" / "config.toml").read_text() == 'model = "model-of-the-user"\n'


async def test_an_isolated_one_sees_nothing_of_the_user(place: Stage, parent: dict[str, str], home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "auth.json").write_text(json.dumps({"OPENAI_API_KEY": "sk-canary-of-the-login"}))
    async with fake_models.serve(lambda _: say("hello")) as server:
        manner = replace(CODEX.manner(server), is_isolated=True)
        _, ended = await play(CODEX.backend(parent), await place.assignment(manner=manner))
        headers = server.asked[0].headers
    assert ended.failure is None, ended.error
    assert "canary-of-the-login" not in repr(headers)
    assert [file.name for file in (home / ".codex").iterdir()] == ["auth.json"]


async def test_an_isolated_one_needs_a_key(place: Stage, parent: dict[str, str]) -> None:
    given = await place.assignment(manner=replace(FULL, is_isolated=True))
    _, ended = await play(ProgramBackend(CODEX.kind(), parent=parent), given)
    assert (ended.failure, ended.usage) == ("auth", Usage())
    assert "Set CODEX_API_KEY or OPENAI_API_KEY." in ended.error
