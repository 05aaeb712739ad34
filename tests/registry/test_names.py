"""Names are plain words: nothing that looks like another name, a path, an option or an address."""

from collections.abc import Callable

import pytest

from moot.core.errors import InvalidInput
from moot.registry import names
from moot.registry.errors import NameRefused


@pytest.mark.parametrize("name", ["a", "coder", "Code-Reviewer_2", "x9", "a" * 63, "systems", "all-hands"])
def test_a_plain_word_is_a_name(name: str) -> None:
    assert names.check_agent(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "two words",
        " coder",
        "coder\n",
        "a/b",
        "../etc",
        "@coder",
        "coder@host",
        "-rf",
        "--help",
        "_coder",
        "1st",
        "coder-",
        "coder_",
        "co.der",
        "a" * 64,
        "a" * 300,
        "ｃｏｄｅｒ",  # noqa: RUF001
        "cоder",  # noqa: RUF001
        "co\u200bder",
        "coder\u200d",
        "\u202ecoder",
        "é",
        "a\0",
        "\ud800",
        "\u212aelvin",
        "<b>",
        "$(id)",
    ],
    ids=ascii,
)
def test_anything_else_is_refused(name: str) -> None:
    with pytest.raises(NameRefused) as refused:
        names.check_agent(name)
    assert refused.value.code == "NAME_REFUSED"
    assert isinstance(refused.value, InvalidInput)
    assert len(refused.value.fact) < 400


@pytest.mark.parametrize("name", sorted(names.RESERVED))
@pytest.mark.parametrize("spell", [str.lower, str.upper, str.title])
def test_the_names_of_moot_itself_are_nobodys(name: str, spell: Callable[[str], str]) -> None:
    with pytest.raises(NameRefused, match="kept for moot"):
        names.check_agent(spell(name))


def test_the_reserved_names_are_these() -> None:
    assert sorted(names.RESERVED) == [
        "all", "everyone", "human", "monitor", "moot", "operator", "orchestrator", "system",
    ]  # fmt: skip


def test_case_does_not_make_another_name() -> None:
    assert names.fold("Coder") == names.fold("CODER") == "coder"


@pytest.mark.parametrize("name", ["default", "a", "9", "feature-1.2_x", "a" * 63])
def test_an_instance_may_look_like_a_version(name: str) -> None:
    assert names.check_instance(name) == name


@pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "-x", "a/b", "a b", "a" * 64, "ü", "a\n", "a\0"], ids=ascii)
def test_an_instance_is_never_a_path_or_an_option(name: str) -> None:
    with pytest.raises(NameRefused):
        names.check_instance(name)


@pytest.mark.parametrize("name", ["worktrees", "Worktrees", "moot.raw", "MOOT.db"])
def test_an_instance_has_no_folder_that_something_else_has(name: str) -> None:
    with pytest.raises(NameRefused):
        names.check_instance(name)
