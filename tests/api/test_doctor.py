"""Addresses are shown without their secrets."""

import pytest

from moot.api.doctor import without_secrets


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:p@ss@db.example:5432/work?sslmode=require&password=x", "postgresql://db.example:5432/work"),
        ("postgresql:///work?host=/run", "postgresql:///work"),
        ("postgres://db/work", "postgres://db/work"),
    ],
)
def test_user_password_and_settings_are_left_out(url: str, shown: str) -> None:
    assert without_secrets(url) == shown
