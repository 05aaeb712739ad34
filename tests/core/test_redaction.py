import pytest

from moot.core.secrecy import HIDDEN, redact


@pytest.mark.parametrize(
    "secret",
    [
        "sk-ant-api03-abcdefghijk",
        "sk-proj-abc_def-123456",
        "sk-abc***************xyz",
        "AIzaSyA1234567890",
        "ghp_abcdefgh12345",
        "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4",
    ],
)
def test_what_looks_like_a_key_is_hidden(secret: str) -> None:
    assert redact(f"Incorrect key ({secret}) given.") == f"Incorrect key ({HIDDEN}) given."


def test_what_is_known_to_be_secret_is_hidden_wherever_it_stands() -> None:
    assert redact("a=hunter22&b=(hunter22)", ["hunter22"]) == f"a={HIDDEN}&b=({HIDDEN})"


def test_the_longer_secret_goes_first() -> None:
    assert redact("secret-and-more", ["secret", "secret-and-more"]) == HIDDEN


def test_passwords_in_addresses_and_headers_are_hidden() -> None:
    assert redact("https://me:hunter22@host/v1?key=abc&x=1") == f"https://{HIDDEN}@host/v1?key={HIDDEN}&x=1"
    assert redact("Authorization: Bearer abcdef123") == f"Authorization: Bearer {HIDDEN}"


def test_plain_words_stay() -> None:
    text = "The task is skipped: ask-for-help, 429, https://example.com/a:b"
    assert redact(text, ["", "is"]) == text
