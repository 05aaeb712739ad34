"""A Python program takes part in a project: what it says, reads, claims and answers is what commands and agents see."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import moot
from moot.api.tasks import Refused, TaskRefused
from moot.core.errors import InvalidInput, NotAllowed
from moot.registry.errors import AgentNotFound
from moot.registry.instances import InstanceNotFound
from moot.store.errors import StoreNotFound
from moot.testing import meeting, project

PLAN = {
    "summary": "Two tasks.",
    "approach": "One after the other.",
    "tasks": [
        {"name": "fix", "description": "Mend it."},
        {"name": "test", "description": "Prove it.", "depends_on": ["fix"]},
    ],
}
ECHO = """\
name: echo
context: {document_owner: none}
agents:
  echo: {backend: scripted, script: [{on: hello, say: "@human hello yourself"}]}
kickoff: "@echo hello"
"""
ASKING = """\
name: asking
context: {document_owner: none}
agents:
  asker:
    backend: scripted
    script:
      - {on: begin, calls: [{request_create: {to: human, type: plan_approval, title: "May I?", body: All of it.}}]}
      - {on: approved, say: Then I go on.}
kickoff: "@asker begin"
"""


@pytest.fixture(params=["sqlite", "postgres"])
async def m(
    request: pytest.FixtureRequest, anyio_backend: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> AsyncIterator[moot.Meeting]:
    monkeypatch.setenv("HOME", str(tmp_path))
    url: str | None = None if request.param == "sqlite" else request.getfixturevalue("pg_made_url")
    with project({"echo.yaml": ECHO, "asking.yaml": ASKING}) as folder:
        async with moot.connect(folder, store=url) as opened:
            yield opened


async def test_what_is_sent_is_followed_from_a_message_on(m: moot.Meeting) -> None:
    first = (await m.send("before")).message
    said = (await m.send("one", reply_to=first)).message
    assert (await anext(aiter(m.follow(first)))).id == said.id
    assert [one.body for one in await m.messages()] == ["before", "one"]
    assert said.thread == first.thread


async def test_without_a_message_only_what_comes_is_followed(m: moot.Meeting) -> None:
    await m.send("before")
    follower = aiter(m.follow())
    heard = asyncio.ensure_future(anext(follower))
    async with asyncio.timeout(60):
        while not heard.done():  # nobody knows when it has begun to look
            await m.send("now")
            await asyncio.wait([heard], timeout=0.05)
    assert heard.result().body == "now"


async def test_a_name_that_nobody_has_is_told(m: moot.Meeting) -> None:
    said = await m.send("@nobody hello")
    assert (said.recipients, said.unknown) == ((), ("nobody",))
    with pytest.raises(AgentNotFound):
        await m.send("hello", to=["nobody"])


async def test_a_run_can_be_followed_and_answered_by_the_same_program(m: moot.Meeting) -> None:
    folder = m.connection.project.root
    outcome = await m.run(folder / "echo.yaml", permissions="edit", check=False)
    assert outcome.exit_code == 4
    mail = await m.inbox()
    assert [one.body for one in mail] == ["@human hello yourself"]
    assert await m.acknowledge(mail) == 1
    assert await m.inbox() == []
    assert [one.standing.agent.name for one in await m.agents()] == ["echo"]
    assert (await m.resume()).is_done


async def test_a_request_to_the_person_is_answered_while_the_run_waits(m: moot.Meeting) -> None:
    folder = m.connection.project.root

    async def answer() -> None:
        with m.connection.store.listen() as woken:
            while not (asked := await m.requests()):
                woken.clear()
                await woken.wait(5)
        assert [one.title for one in asked] == ["May I?"]
        assert (await m.approve(asked[0], "Go on.")).state == "approved"

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(answer())
        outcome = await m.run(folder / "asking.yaml", permissions="edit", waits_for_people=True)
    assert outcome.messages[-1].body == "Then I go on."


async def test_documents_are_written_read_and_refused_on_a_stale_version(m: moot.Meeting) -> None:
    first = await m.documents.write("# Notes\n")
    await m.documents.append("- one\n")
    assert (await m.documents.read()).content == "# Notes\n- one\n"
    assert (await m.documents.read(version=first.version)).content == "# Notes\n"
    with pytest.raises(moot.MootError, match="version"):
        await m.documents.write("lost", if_version=first.version)
    await m.documents.write("x", "plans/next.md")
    assert [one.file for one in await m.documents.all()] == ["notes.md", "plans/next.md"]
    assert [one.action for one in await m.documents.history()] == ["written", "appended"]
    await m.documents.delete("plans/next.md")
    assert [one.file for one in await m.documents.all()] == ["notes.md"]


async def test_tasks_are_claimed_ended_and_taken_up_by_name(m: moot.Meeting) -> None:
    made = await m.call("workflow_create", name="mend", source_type="prompt", source_content="mend it")
    laid = await m.call("workflow_set_plan", id=made["id"], plan=PLAN)
    assert laid["tasks_created"] == 2
    with pytest.raises(TaskRefused, match="It waits for fix"):
        await m.tasks.claim("test")
    claimed = await m.tasks.claim("fix")
    assert claimed.status == "planning"
    assert (await m.tasks.release("fix")).status == "pending"
    assert (await m.tasks.fail("fix", "no luck")).status == "failed"
    assert (await m.tasks.retry("fix")).status == "pending"
    assert (await m.tasks.done("fix", "It is mended.")).outcome == "It is mended."
    assert (await m.tasks.skip("test")).status == "skipped"
    assert [(one.task.name, one.task.status) for one in await m.tasks.all()] == [
        ("fix", "completed"),
        ("test", "skipped"),
    ]
    assert (await m.tasks.get("fix")).id == claimed.id
    with pytest.raises(InvalidInput, match="outcome is empty"):
        await m.tasks.done("fix", " ")


async def test_any_tool_can_be_called_and_its_refusal_is_an_error_with_its_code(m: moot.Meeting) -> None:
    sent = await m.call("channel_send", message="hello")
    assert sent["status"] == "sent"
    with pytest.raises(Refused) as refused:
        await m.call("task_get", id="tk_none")
    assert refused.value.code == "TASK_NOT_FOUND"


async def test_another_person_of_the_project_is_spoken_for_and_no_agent(m: moot.Meeting) -> None:
    folder, url = m.connection.project.root, m.store_url
    await m.call("agent_register", name="bot", runtime="mcp")
    with pytest.raises(NotAllowed, match="bot is no person"):
        async with moot.connect(folder, store=url, person="bot"):
            pass
    with pytest.raises(AgentNotFound):
        async with moot.connect(folder, store=url, person="nobody"):
            pass


async def test_reading_makes_no_store_where_that_is_not_wanted(tmp_path: Path) -> None:
    with project() as folder:
        with pytest.raises(StoreNotFound):
            async with moot.connect(folder, create=False):
                pass
        assert not (folder / ".workflow").exists()


async def test_an_instance_may_be_one_that_is_not_there_yet_unless_it_is_no_name() -> None:
    async with meeting(instance="later") as m:
        assert await m.messages() == []
        assert (await m.send("first")).message.seq == 1
    with pytest.raises(InvalidInput):
        async with meeting(instance="../x"):
            pass
    assert issubclass(InstanceNotFound, moot.MootError)


async def test_a_program_of_an_agent_is_held_to_the_tools_of_the_agent(
    m: moot.Meeting, monkeypatch: pytest.MonkeyPatch
) -> None:
    from moot.app import joining  # noqa: PLC0415

    connection = m.connection
    await m.send("hello")
    async with joining.token(
        connection.store, agent="ben", instance=connection.caller.instance, groups=("channel",)
    ) as token:
        monkeypatch.setenv("MOOT_TOKEN", token)
        async with moot.connect(connection.project.root, store=m.store_url) as agent:
            assert (await agent.send("I am ben")).message.sender == "ben"
            with pytest.raises(NotAllowed, match="may not use document_write"):
                await agent.documents.write("x")
            with pytest.raises(NotAllowed, match="may not use task_claim"):
                await agent.tasks.claim("fix")


async def test_a_meeting_for_tests_is_gone_afterwards() -> None:
    async with meeting({"echo.yaml": ECHO}) as m:
        folder = m.connection.project.root
        assert (folder / "echo.yaml").read_text() == ECHO
        await m.send("hello")
        assert (folder / ".workflow" / "moot.db").exists()
    assert not folder.exists()
