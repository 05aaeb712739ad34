"""Whatever stands in an agent file, it is read or refused: nothing breaks, and nothing takes long."""

import os
import string
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core import json
from moot.workflow import reading
from moot.workflow.keys import camel
from moot.workflow.reading import Surroundings
from moot.workflow.shape import AgentFileShape
from moot.workflow.workflow import Workflow, WorkflowInvalid

KEYS = [name for field in AgentFileShape.model_fields for name in {field, camel(field)}]
NAMES = st.sampled_from(["a", "b", "c", "./b.md", "../a", "x", ".", "/", "~", "a/b", ""])
WORDS = NAMES | st.text(alphabet=string.printable, max_size=10) | st.sampled_from(["json", "haiku", "api", "5m"])
SCALARS = st.none() | st.booleans() | st.integers(-5, 10**12) | st.floats(allow_nan=False, allow_infinity=False) | WORDS
INNER = st.sampled_from(["members", "supervisor", "destinations", "format", "schema", "memberMaxTurns", "say", "type"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(INNER | WORDS, inner, max_size=3), max_leaves=8
)
# What is likely to be right, so that what comes after is reached too.
LIKELY = st.fixed_dictionaries(
    {"model": st.sampled_from(["haiku", ["haiku", "opus"]])},
    optional={
        "handoff": NAMES,
        "agents": st.lists(NAMES, max_size=3),
        "advisors": st.lists(NAMES, max_size=3),
        "router": st.fixed_dictionaries({"destinations": st.lists(NAMES, max_size=3)}),
        "team": st.fixed_dictionaries({"members": st.lists(NAMES, max_size=3), "supervisor": NAMES}),
        "chat": st.booleans(),
        "input": st.sampled_from(["json", "markdown"]) | st.fixed_dictionaries({"schema": VALUES}),
        "output": st.sampled_from(["json", "markdown"]) | st.fixed_dictionaries({"schema": VALUES}),
        "answers": st.lists(VALUES, max_size=2),
    },
)
HEADS = st.dictionaries(st.sampled_from(KEYS) | WORDS, VALUES, max_size=6) | LIKELY


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as found:
        yield Path(found)


def load(file: Path) -> Workflow | None:
    """None if it was refused; each fault then has a place in a file."""
    try:
        return reading.draft_agent(file, Surroundings()).finish()
    except WorkflowInvalid as error:
        found = error.faults
    assert found
    assert all(one.line >= 1 and one.column >= 1 and one.fact for one in found)
    return None


@settings(deadline=None, max_examples=120)
@given(HEADS, HEADS, HEADS)
def test_any_head_is_read_or_refused(folder: Path, a: Any, b: Any, c: Any) -> None:
    for name, head in (("a", a), ("b", b), ("c", c)):
        (folder / f"{name}.md").write_bytes(b"---\n" + json.dumps(head).encode() + b"\n---\nA prompt.\n")
    found = load(folder / "a.md")
    assert found is None or found.agents[0].name == "a"


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_read_or_refused(folder: Path, text: str) -> None:
    (folder / "a.md").write_bytes(f"---\n{text}\n---\n".encode("utf-8", "surrogatepass"))
    load(folder / "a.md")


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("handoff: !!python/object/apply:os.system ['true']", "not YAML"),
        ("handoff: !custom x", "not YAML"),
        ("agents: &a [*a]", "this contains itself"),
        ("x: &x [a, a]\ny: &y [*x, *x]\n" + "".join(f"k{at}: [*y, *y]\n" for at in range(80)), "aliases"),
        ("handoff: b\nhandoff: c", "'handoff' stands here a second time"),
        ("output: {schema: {type: object, type: array}}", "'type' stands here a second time"),
        ("output: {schema: " + "{not: " * 120 + "{}" + "}" * 121, "levels deep"),
        ("chat: NO", "`chat` must be true or false, not text"),
        ("max_turns: 0o10", "`max_turns` must be a whole number, not text"),
        ("timeout: 2026-01-02", "is not a duration"),
        ("max_turns: " + "9" * 400, ""),
        ("1: 2", "must be text"),
        ("\thandoff: b", "Indent with spaces"),
        ("handoff: ../../../../etc/passwd", "there is no agent"),
        ("agents: [" + "x, " * 20_000 + "x]", "`agents` must not have more than 100 values"),
    ],
)
def test_odd_yaml_is_refused(tmp_path: Path, head: str, said: str) -> None:
    (tmp_path / "a.md").write_text(f"---\n{head}\nmodel: haiku\n---\n")
    with pytest.raises(WorkflowInvalid) as caught:
        reading.draft_agent(tmp_path / "a.md", Surroundings()).finish()
    assert said in str(caught.value)


@pytest.mark.parametrize(("head", "kind"), [("- a", "a list"), ("just text", "text"), ("3", "a number")])
def test_a_head_is_keys_and_values(tmp_path: Path, head: str, kind: str) -> None:
    (tmp_path / "a.md").write_text(f"---\n{head}\n---\n")
    with pytest.raises(WorkflowInvalid) as caught:
        reading.draft_agent(tmp_path / "a.md", Surroundings()).finish()
    assert f"a.md:2:1: this file must be keys and values, not {kind}." in str(caught.value)


def test_the_place_of_what_is_no_yaml_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\nmodel: haiku\nhandoff: [b\nchat: true\n---\n")
    with pytest.raises(WorkflowInvalid) as caught:
        reading.draft_agent(tmp_path / "a.md", Surroundings()).finish()
    (fault,) = caught.value.faults
    assert (fault.line, fault.fact.split(":")[0]) == (4, "this is not YAML")


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "latin.md").write_bytes(b"---\nmodel: caf\xe9\n---\n")
    (tmp_path / "nul.md").write_bytes(b"---\nmodel: a\0b\n---\n")
    (tmp_path / "huge.md").write_bytes(b"a" * 1_000_001)
    (tmp_path / "loop.md").symlink_to("loop.md")
    names = ("pipe", "folder", "latin", "nul", "huge", "loop")
    for name in names:
        assert load(tmp_path / f"{name}.md") is None
    (tmp_path / "a.md").write_text(f"---\nmodel: haiku\nagents: [{', '.join(names)}]\n---\n")
    with pytest.raises(WorkflowInvalid) as caught:
        reading.draft_agent(tmp_path / "a.md", Surroundings()).finish()
    assert [one.column for one in caught.value.faults] == [10, 16, 24, 31, 36, 42]
