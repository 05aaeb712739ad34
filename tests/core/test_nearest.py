"""Who misspells a name is told the one they may have meant."""

from pathlib import Path

import pytest

from moot.core.nearest import file_hint, hint, nearest

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


@pytest.mark.parametrize(
    ("written", "remedy"),
    [
        ("revie.yaml", "Did you mean `review.yaml`?"),
        ("reviw", "Did you mean `review.yaml`?"),
        ("vote", "Did you mean `vote.yml`?"),
        ("plans.yaml", "Check the path."),  # text, and a folder
        ("zzz.yaml", "Check the path."),
        ("nowhere/review.yaml", "Check the path."),
        ("a\0b.yaml", "Check the path."),
    ],
)
def test_a_file_is_named_that_is_called_almost_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, remedy: str
) -> None:
    for name in ("review.yaml", "vote.yml", "plans.txt"):
        (tmp_path / name).touch()
    (tmp_path / "planss.yaml").mkdir()
    monkeypatch.chdir(tmp_path)
    assert file_hint(Path(written), (".yaml", ".yml")) == remedy
