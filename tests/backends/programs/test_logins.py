"""A login is seen where the program keeps it, and claimed nowhere else."""

from pathlib import Path

import pytest

from moot.backends.programs import logins
from moot.backends.programs.known import PROGRAMS

OAUTH = '{"security": {"auth": {"selectedType": "oauth-personal"}}}'


def write(place: Path, text: str = "{}") -> None:
    place.parent.mkdir(parents=True)
    place.write_text(text)


@pytest.mark.parametrize(
    ("name", "variable", "place", "text"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", ".credentials.json", "{}"),
        ("claude", "CLAUDE_CONFIG_DIR", "settings.json", '{"apiKeyHelper": "/bin/key"}'),
        ("codex", "CODEX_HOME", "auth.json", "{}"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json", OAUTH),
        ("opencode", "XDG_DATA_HOME", "opencode/auth.json", '{"openai": {}}'),
    ],
)
def test_a_login_is_found_in_the_programs_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, variable: str, place: str, text: str
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    look = PROGRAMS[name].has_login
    assert look({"HOME": str(tmp_path)}) is False
    assert look({}) is False
    write(tmp_path / "own" / place, text)
    assert look({"HOME": str(tmp_path), variable: str(tmp_path / "own")}) is True


@pytest.mark.parametrize(
    ("name", "place", "text"),
    [
        ("claude", ".claude/.credentials.json", "{}"),
        ("codex", ".codex/auth.json", "{}"),
        ("gemini", ".gemini/settings.json", OAUTH),
        ("opencode", ".local/share/opencode/auth.json", '{"openai": {}}'),
    ],
)
def test_a_login_is_found_in_the_home(tmp_path: Path, name: str, place: str, text: str) -> None:
    write(tmp_path / place, text)
    assert PROGRAMS[name].has_login({"HOME": str(tmp_path)}) is True


@pytest.mark.parametrize(
    ("name", "variable"),
    [("claude", "CLAUDE_CODE_USE_BEDROCK"), ("codex", "CODEX_ACCESS_TOKEN"), ("gemini", "GOOGLE_GENAI_USE_VERTEXAI")],
)
def test_a_login_may_come_by_the_environment(name: str, variable: str) -> None:
    assert PROGRAMS[name].has_login({variable: "1"}) is True


def test_gemini_uses_the_key_where_the_user_has_chosen_that(tmp_path: Path) -> None:
    write(tmp_path / ".gemini" / "settings.json", OAUTH.replace("oauth-personal", "gemini-api-key"))
    assert logins.gemini({"HOME": str(tmp_path)}) is False


def test_a_login_with_another_provider_is_none(tmp_path: Path) -> None:
    write(tmp_path / "opencode" / "auth.json", '{"openai": {}}')
    looks = [PROGRAMS["opencode"].service(model).has_login for model in ("openai/x", "anthropic/x")]
    assert [look({"XDG_DATA_HOME": str(tmp_path)}) if look else None for look in looks] == [True, False]


def test_what_cannot_be_seen_is_not_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert PROGRAMS["cursor"].has_login({"HOME": str(tmp_path)}) is None
    monkeypatch.setattr("sys.platform", "darwin")
    assert logins.claude({"HOME": str(tmp_path)}) is None
