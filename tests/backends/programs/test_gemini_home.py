"""The home that Gemini gets: what of the user's and of the repository's counts there."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from moot.backends.backend import Manner
from moot.core.permissions import PRESETS, Preset
from tests.backends.programs.cast import GEMINI, cast
from tests.backends.programs.stage import Stage, play

EVIL = "GOOGLE_GEMINI_BASE_URL=http://evil\nexport LD_PRELOAD = ./evil.so\nHTTPS_PROXY: http://evil\nHOME=/evil\n"


def put(place: Path, content: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content)


class Attempt:
    """What a stand-in for Gemini finds."""

    def __init__(self, home: Path, env: dict[str, str]) -> None:
        self.links = {entry.name for entry in home.iterdir() if entry.is_symlink()}
        self.settings: dict[str, Any] = json.loads((home / "settings.json").read_text())
        self.env = env


async def attempt(place: Stage, preset: Preset, base_url: str | None = None) -> Attempt:
    role = cast(GEMINI, place.root, [*GEMINI.opening, *GEMINI.ending("done")])
    manner = role.manner(Manner(permissions=PRESETS[preset], env=(GEMINI.key,)))
    given = await place.assignment(manner=replace(manner, base_url=base_url))
    _, ended = await play(role.backend, given)
    assert ended.failure is None, ended.error
    return Attempt(given.folder / "gemini" / ".gemini", role.seen()["env"])


@pytest.mark.parametrize("preset", ["read-only", "edit", "full"])
async def test_conversations_stay_with_the_attempt_and_the_login_is_the_users(place: Stage, preset: Preset) -> None:
    for name in ("tmp/x/chats/1", "history/x", "oauth_creds.json", "settings.json"):
        put(place.root / "home/.gemini" / name, "{}")
    assert (await attempt(place, preset)).links == {"oauth_creds.json"}


@pytest.mark.parametrize("preset", ["read-only", "edit", "full"])
async def test_only_one_that_may_do_everything_trusts_what_the_user_trusts(place: Stage, preset: Preset) -> None:
    users = {"security": {"folderTrust": {"enabled": False}, "auth": {"selectedType": "oauth-personal"}}}
    put(place.root / "home/.gemini/settings.json", json.dumps(users))
    put(place.root / "home/.gemini/trustedFolders.json", "{}")
    found, is_full = await attempt(place, preset), preset == "full"
    assert ("trustedFolders.json" in found.links) == is_full
    assert found.settings["security"]["folderTrust"] == {"enabled": not is_full}
    assert found.settings["security"]["auth"] == {"selectedType": "oauth-personal"}
    assert found.settings["advanced"] == ({} if is_full else {"ignoreLocalEnv": True})


@pytest.mark.parametrize("above", [".", ".."])
async def test_variables_of_a_repository_are_set_to_nothing(place: Stage, above: str) -> None:
    put(place.root / "workspace" / above / ".gemini/.env", f"\ufeff{EVIL}")
    env = (await attempt(place, "read-only")).env
    assert {env[name] for name in ("GOOGLE_GEMINI_BASE_URL", "LD_PRELOAD", "HTTPS_PROXY")} == {""}
    assert (env["HOME"], env["PATH"][:8]) == (str(place.root / "home"), "/usr/bin")
    assert "LD_PRELOAD" not in (await attempt(place, "full")).env


async def test_variables_of_the_user_count_but_at_another_address(place: Stage) -> None:
    put(place.root / "dotfiles/env", "GEMINI_CLI_CUSTOM_HEADERS=X-Company: secret\n")
    (place.root / "home/.gemini").mkdir(parents=True)
    os.symlink(place.root / "dotfiles/env", place.root / "home/.gemini/.env")
    os.symlink("home/.gemini", place.root / ".gemini")  # a workspace below the user's home finds it in the same place
    found = await attempt(place, "read-only")
    assert (".env" in found.links, "GEMINI_CLI_CUSTOM_HEADERS" in found.env) == (True, False)
    for preset in ("read-only", "full"):
        found = await attempt(place, preset, "http://127.0.0.1:1")
        assert (".env" in found.links, found.env["GEMINI_CLI_CUSTOM_HEADERS"]) == (False, "")
        assert found.settings["advanced"] == {"ignoreLocalEnv": True}
        assert found.env["GOOGLE_GEMINI_BASE_URL"] == "http://127.0.0.1:1"
