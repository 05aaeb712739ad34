"""The documents tools: the words they answer with, the versions they tell, and what they refuse."""

import orjson
import pytest

from moot.core.ids import InstanceName, ProposalId
from moot.core.json import Json
from moot.core.tool import ToolAnswer
from moot.documents import documents, ownership
from moot.store.store import Store
from tests.tools.desk import DEFAULT, OPERATOR, Desk, member, open_desk

WRITES: list[tuple[str, dict[str, Json]]] = [
    ("document_write", {"content": "x"}),
    ("document_append", {"content": "x"}),
    ("document_create", {"file": "new.md", "content": "x"}),
    ("document_delete", {"file": "notes.md"}),
]
BAD_FILES = ["../x.md", "/etc/passwd", "", "a\0b", "\ud800", "channel.md", ".git/config", "CLAUDE.md", "x" * 600]


async def give(desk: Desk, owner: str | None) -> None:
    await desk.house.write(lambda tx: ownership.give(tx, DEFAULT, owner))


def words(answer: ToolAnswer) -> str:
    assert not answer.is_error, answer.text
    return answer.text


async def test_the_answers_are_the_words_that_everyone_knows(store: Store) -> None:
    desk = await open_desk(store)
    ann = member(await desk.house.join("ann"))
    assert words(await desk.call(ann, "document_read")) == ""
    assert words(await desk.call(ann, "document_write", {"content": "# Notes\n"})) == "written"
    assert words(await desk.call(ann, "document_append", {"content": "more"})) == "appended"
    assert words(await desk.call(ann, "document_create", {"file": "a/b.md", "content": "b"})) == "created"
    assert words(await desk.call(ann, "document_read")) == "# Notes\nmore"
    assert words(await desk.call(ann, "document_read", {"file": "a/b.md"})) == "b"
    assert orjson.loads(words(await desk.call(ann, "document_list"))) == ["a/b.md", "notes.md"]
    assert words(await desk.call(ann, "document_delete", {"file": "a/b.md"})) == "deleted"
    past = orjson.loads(words(await desk.call(ann, "document_history")))
    assert [(one["version"], one["action"], one["author"]) for one in past] == [
        (1, "written", "ann"),
        (2, "appended", "ann"),
    ]


async def test_results_tell_the_version(store: Store) -> None:
    desk = await open_desk(store)
    ann = member(await desk.house.join("ann"))
    assert (await desk.done(ann, "document_read"))["version"] == 0
    assert await desk.done(ann, "document_write", content="one") == {
        "status": "written", "file": "notes.md", "version": 1, "changed": True,
    }  # fmt: skip
    await desk.done(OPERATOR, "document_write", content="two", if_version=1)
    read = await desk.done(ann, "document_read")
    assert (read["version"], read["content"], read["author"]) == (2, "two", "human")
    assert (await desk.done(ann, "document_read", version=1))["content"] == "one"
    (listed,) = (await desk.done(ann, "document_list"))["documents"]
    assert (listed["file"], listed["version"], listed["size"], listed["entry_point"]) == ("notes.md", 2, 3, True)


async def test_a_stale_version_is_refused(store: Store) -> None:
    desk = await open_desk(store)
    ann = member(await desk.house.join("ann"))
    await desk.done(ann, "document_write", content="one", if_version=0)
    for tool, arguments in WRITES:
        if tool != "document_create":
            assert await desk.refused(ann, tool, **arguments, if_version=7) == "DOCUMENT_CHANGED"
    answer = await desk.call(ann, "document_write", {"content": "two", "if_version": 0})
    assert "version 1" in answer.text


async def test_others_than_the_owner_are_told_to_suggest(store: Store) -> None:
    desk = await open_desk(store)
    ann, bob = await desk.house.join("ann"), await desk.house.join("bob")
    await desk.done(member(bob), "document_write", content="first")
    await give(desk, "ann")
    for tool, arguments in WRITES:
        assert await desk.refused(member(bob), tool, **arguments) == "NOT_DOCUMENT_OWNER"
    answer = await desk.call(member(bob), "document_write", {"content": "x"})
    assert "Only @ann can write to documents. Use document_suggest instead." in answer.text
    for caller in (member(ann), OPERATOR):
        for tool, arguments in WRITES:
            await desk.done(caller, tool, **arguments)
        await desk.done(OPERATOR, "document_delete", file="new.md")
        await desk.done(OPERATOR, "document_write", content="again")
    assert (await desk.done(member(bob), "document_read"))["content"] == "again"


async def test_nobody_writes_during_an_election(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    await desk.done(member(ann), "document_write", content="first")
    await desk.house.write(lambda tx: ownership.elect(tx, DEFAULT, ProposalId("pr_1")))
    for tool, arguments in WRITES:
        assert await desk.refused(member(ann), tool, **arguments) == "ELECTION_IN_PROGRESS"
    await desk.done(OPERATOR, "document_write", content="by a person")
    assert (await desk.done(member(ann), "document_read"))["content"] == "by a person"


async def test_a_suggestion_reaches_the_owner_as_a_message(store: Store) -> None:
    desk = await open_desk(store)
    ann, bob = await desk.house.join("ann"), await desk.house.join("bob")
    await give(desk, "ann")
    arguments: dict[str, Json] = {"suggestion": "Add the port.", "file": "todo.md", "reason": "It is missing."}
    answer = await desk.call(member(bob), "document_suggest", arguments)
    assert words(answer) == "Suggestion sent to @ann"
    text = "@ann [DOC_SUGGEST] in todo.md\nAdd the port.\nReason: It is missing."
    assert await desk.said() == [f"bob: {text}"]
    assert await desk.house.unread(ann) == [f"queued {text}"]
    assert words(await desk.call(member(bob), "document_suggest", {"suggestion": "Shorter."})) == words(answer)
    assert (await desk.said())[-1] == "bob: @ann [DOC_SUGGEST]\nShorter."


async def test_without_an_owner_suggestions_go_to_system_and_wake_nobody(store: Store) -> None:
    desk = await open_desk(store)
    ann, bob = await desk.house.join("ann"), await desk.house.join("bob")
    answer = await desk.call(member(bob), "document_suggest", {"suggestion": "Shorter."})
    assert words(answer) == "Suggestion sent to @system"
    assert await desk.said() == ["bob: @system [DOC_SUGGEST]\nShorter."]
    assert await desk.house.unread(ann) == []


async def test_an_owner_who_has_left_is_told(store: Store) -> None:
    desk = await open_desk(store)
    bob = await desk.house.join("bob")
    await give(desk, "ann")
    assert await desk.refused(member(bob), "document_suggest", suggestion="x") == "AGENT_NOT_FOUND"
    assert await desk.said() == []


@pytest.mark.parametrize("file", BAD_FILES)
async def test_a_path_that_leads_elsewhere_is_refused_by_every_tool(store: Store, file: str) -> None:
    desk = await open_desk(store)
    calls: dict[str, dict[str, Json]] = {
        "document_read": {}, "document_write": {"content": "x"}, "document_append": {"content": "x"},
        "document_create": {"content": "x"}, "document_delete": {}, "document_history": {},
        "document_suggest": {"suggestion": "x"},
    }  # fmt: skip
    for tool, arguments in calls.items():
        code = await desk.refused(OPERATOR, tool, **arguments, file=file)
        assert code in ("PATH_REFUSED", "INVALID_INPUT"), (tool, code)
    assert (await desk.done(OPERATOR, "document_list"))["documents"] == []
    assert await desk.said() == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("document_write", {}),
        ("document_write", {"content": 5}),
        ("document_write", {"content": "a\0b"}),
        ("document_write", {"content": "\ud800"}),
        ("document_write", {"content": "x", "if_version": -1}),
        ("document_write", {"content": "x", "if_version": True}),
        ("document_write", {"content": "x", "if_version": "1"}),
        ("document_write", {"content": "x", "unknown": 1}),
        ("document_write", {"content": "x" * (documents.MOST_CHARACTERS + 1)}),
        ("document_read", {"version": 0}),
        ("document_read", {"version": 2**70}),
        ("document_history", {"limit": 0}),
        ("document_suggest", {"suggestion": ""}),
        ("document_list", {"limit": 5}),
    ],
)
async def test_bad_arguments_are_refused(store: Store, tool: str, arguments: dict[str, Json]) -> None:
    desk = await open_desk(store)
    assert await desk.refused(OPERATOR, tool, **arguments) in ("INVALID_INPUT", "DOCUMENT_TOO_LARGE")
    assert (await desk.done(OPERATOR, "document_list"))["documents"] == []


async def test_what_is_not_there_is_not_found(store: Store) -> None:
    desk = await open_desk(store)
    for tool in ("document_read", "document_delete", "document_history"):
        assert await desk.refused(OPERATOR, tool, file="no.md") == "DOCUMENT_NOT_FOUND"
    assert await desk.refused(OPERATOR, "document_read", version=2**50) == "DOCUMENT_NOT_FOUND"


async def test_an_observer_reads_and_does_not_write(store: Store) -> None:
    desk = await open_desk(store)
    eve = member(await desk.house.join("eve"), "observer")
    await desk.done(OPERATOR, "document_write", content="x")
    assert (await desk.done(eve, "document_read"))["content"] == "x"
    for tool, arguments in (*WRITES, ("document_suggest", {"suggestion": "x"})):
        assert await desk.refused(eve, tool, **arguments) == "NOT_ALLOWED"


async def test_a_repeated_attempt_appends_once(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    first = await desk.attempt(ann)
    assert words(await first.call("document_append", content="once\n")) == "appended"
    await desk.lose(first)
    again = await desk.attempt(ann, fence=2)
    assert words(await again.call("document_append", content="once\n")) == "appended"
    assert (await desk.done(OPERATOR, "document_read"))["content"] == "once\n"
    assert await first.refused("document_append", content="late") == "ATTEMPT_ENDED"


async def test_documents_of_another_instance_are_not_seen(store: Store) -> None:
    desk = await open_desk(store)
    await desk.done(OPERATOR, "document_write", content="secret")
    there = type(OPERATOR)("human", "operator", InstanceName("other"))
    assert (await desk.done(there, "document_read"))["content"] == ""
    assert (await desk.done(there, "document_list"))["documents"] == []
