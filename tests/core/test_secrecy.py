"""Which values are secret, and that nothing of them is left in a text, in whatever form and however it is cut."""

import base64
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from moot.core import secrecy
from moot.core.secrecy import HIDDEN, Veil

CANARY = "canary~~~???/0123+45ü"
PEM = "-----BEGIN KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0B\n" * 2 + "end\n-----END KEY-----"


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "gh_token", "DB_PASSWORD", "GH_PAT", "EXTRA_HEADERS", "SENTRY_DSN", "WEBHOOK_URL", "PIN"]
)
def test_a_variable_is_secret_by_its_name(name: str) -> None:
    assert secrecy.is_secret_name(name)
    assert secrecy.secrets_of({name: "https://host/canary"}) == ("https://host/canary",)


@pytest.mark.parametrize("name", ["PATH", "GIT_AUTHOR_NAME", "LANG", "PATHS", "SPIN_RATE"])
def test_other_variables_are_secret_only_if_they_are_named(name: str) -> None:
    assert not secrecy.is_secret_name(name)
    assert secrecy.secrets_of({name: "canary"}) == ()
    assert secrecy.secrets_of({name: "canary"}, [name]) == ("canary",)


def test_short_values_common_words_and_places_are_no_secrets(tmp_path: Path) -> None:
    assert secrecy.secrets_of({"MY_KEY": "short"}, ["MY_KEY"]) == ()
    assert secrecy.secrets_of({"XDG_SESSION_TYPE": "wayland", "GDMSESSION": "ubuntu"}) == ()
    assert secrecy.secrets_of({"CREDENTIALS_FILE": str(tmp_path)}) == ()
    assert secrecy.secrets_of({"CREDENTIALS_FILE": str(tmp_path / "gone")}) == (str(tmp_path / "gone"),)


def test_an_address_is_secret_if_it_may_hold_a_password() -> None:
    assert secrecy.is_secret_name("MOOT_URL")
    assert secrecy.secrets_of({"MOOT_URL": "http://127.0.0.1:9/mcp"}) == ()
    for address in ("postgres://me:hunter2@host/db", "https://host/?sig=abc"):
        assert secrecy.secrets_of({"DATABASE_URL": address}) == (address,)


@pytest.mark.parametrize(
    "form",
    [
        CANARY,
        quote(CANARY, safe=""),
        base64.b64encode(CANARY.encode()).decode(),
        base64.urlsafe_b64encode(CANARY.encode()).decode(),
    ],
)
def test_a_known_secret_is_hidden_in_every_form(form: str) -> None:
    assert secrecy.hide(f"<{form}> and {form}", [CANARY]) == f"<{HIDDEN}> and {HIDDEN}"


@pytest.mark.parametrize("before", ["", "u", "me", "me:", "name"])
def test_a_secret_is_hidden_in_the_middle_of_base64(before: str) -> None:
    encoded = base64.b64encode(f"{before}{CANARY}, and more".encode()).decode()
    shown = secrecy.hide(encoded, [CANARY])
    assert HIDDEN in shown
    for piece in shown.split(HIDDEN):
        assert len(piece) < 24, "no more than what stands beside it is left"


def test_a_secret_of_several_lines_is_hidden_as_json_and_line_by_line() -> None:
    assert secrecy.hide(json.dumps({"key": PEM}), [PEM]) == f'{{"key": "{HIDDEN}"}}'
    assert secrecy.hide("MIIEvQIBADANBgkqhkiG9w0B", [PEM]) == HIDDEN
    assert secrecy.hide("in the end", [PEM]) == "in the end"


def test_of_two_secrets_the_longer_is_hidden_whole() -> None:
    assert secrecy.hide("secret-and-more, secret", ["secret", "secret-and-more"]) == f"{HIDDEN}, {HIDDEN}"
    assert secrecy.hide("say hidden things", ["things", "hidden"]) == f"say {HIDDEN} {HIDDEN}"


def test_text_without_secrets_stays_as_it_is() -> None:
    text = "ünï \ud800 \0 short"
    assert secrecy.hide(text, [CANARY, "short", ""]) == text
    assert secrecy.hide(text, []) == text


def test_what_only_looks_secret_is_hidden_where_that_is_asked_for() -> None:
    assert secrecy.hide("sk-proj-abcdef123", [CANARY]) == "sk-proj-abcdef123"
    assert secrecy.redact(f"sk-proj-abcdef123 {CANARY}", [CANARY]) == f"{HIDDEN} {HIDDEN}"


def test_a_secret_that_begins_before_the_end_is_taken_out_whole() -> None:
    veil = Veil(["canary-1"])
    data = b"ab canary-1 canary-1 x"
    assert [veil.clean(data, end) for end in (0, 3, 4, 11, 12, 13, len(data))] == [
        (b"", 0),
        (b"ab ", 3),
        (b"ab [hidden]", 11),
        (b"ab [hidden]", 11),
        (b"ab [hidden] ", 12),
        (b"ab [hidden] [hidden]", 20),
        (b"ab [hidden] [hidden] x", 22),
    ]
