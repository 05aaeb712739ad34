"""Who misspells a name is told the one they may have meant."""

import pytest

from moot.core.nearest import hint, nearest

KNOWN = ("script", "description", "backend")


@pytest.mark.parametrize(
    ("written", "meant"),
    [("scrip", "script"), ("Script", "script"), ("BACKENDS", "backend"), ("zzz", None), ("", None)],
)
def test_the_nearest_name_is_found(written: str, meant: str | None) -> None:
    assert nearest(written, KNOWN) == meant


def test_the_remedy_names_it_or_all_there_are() -> None:
    assert hint("scrip", KNOWN) == "Did you mean `script`?"
    assert hint("zzz", KNOWN) == "Known are: backend, description, script."
    assert hint("zzz", ()) == "Leave it out."
