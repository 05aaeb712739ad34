"""How members of a team speak, and that nobody else has to."""

import pytest

from moot.core.json import Json
from moot.store.store import Store
from tests.tools.desk import OPERATOR, member, open_desk
from tests.tools.team import open_team

FILE = [{"file": "src/limit.py"}]


async def test_a_status_of_a_worker_names_an_artifact_and_everybody_reads_it(store: Store) -> None:
    team = await open_team(store)
    assert await team.desk.refused(team["worker-1"], "channel_send", message="half done", kind="status") == (
        "ARTIFACT_MISSING"
    )
    artifacts: list[Json] = [{"file": "src/a.py"}, {"test": "tests/test_a.py::test_x"}, {"command": "mail @worker-2"}]
    await team.desk.done(team["worker-1"], "channel_send", message="half done", kind="status", artifacts=artifacts)
    assert (await team.desk.said())[-1] == (
        "worker-1: half done\n\nArtifacts: file src/a.py; test tests/test_a.py::test_x; command mail @worker-2"
    )
    assert await team.desk.house.unread(team.members["worker-2"]) == []


async def test_a_hand_off_is_a_status_with_its_own_evidence(store: Store) -> None:
    team = await open_team(store)
    line = "done: limits; evidence: make test; risk: none; next: review"
    await team.desk.done(team["worker-1"], "channel_send", message=f"That was it.\n\n{line}", kind="status")
    for unfilled in (line.replace("make test", "<tests/commands>"), line.replace("; risk: none", "")):
        refused = await team.desk.refused(team["worker-1"], "channel_send", message=unfilled, kind="status")
        assert refused == "ARTIFACT_MISSING"


@pytest.mark.parametrize("name", ["lead", "reviewer-1"])
async def test_a_status_of_who_does_not_implement_needs_no_artifact(store: Store, name: str) -> None:
    team = await open_team(store)
    await team.desk.done(team[name], "channel_send", message="another plan", kind="status")


@pytest.mark.parametrize("name", ["lead", "reviewer-1", "worker-1"])
async def test_a_blocker_of_anybody_comes_with_a_workaround(store: Store, name: str) -> None:
    team = await open_team(store)
    assert await team.desk.refused(team[name], "channel_send", message="no key", kind="blocker") == (
        "WORKAROUND_MISSING"
    )
    await team.desk.done(
        team[name], "channel_send", message="no key", kind="blocker", workaround="tests use a fake service"
    )
    assert (await team.desk.said())[-1] == f"{name}: no key\n\nWorkaround: tests use a fake service"


async def test_a_question_goes_to_the_lead_whoever_else_hears_it(store: Store) -> None:
    team = await open_team(store)
    sent = await team.desk.done(team["worker-1"], "channel_send", message="which port?", kind="question")
    assert sent["recipients"] == ["lead"]
    sent = await team.desk.done(team["worker-1"], "channel_send", message="@LEAD @worker-2 or?", kind="question")
    assert sorted(sent["recipients"]) == ["lead", "worker-2"]
    await team.desk.done(team["worker-1"], "channel_send", message="who knows, @all?", kind="question")
    refused = await team.desk.refused(team["worker-1"], "channel_send", message="@worker-2 port?", kind="question")
    assert refused == "QUESTION_NOT_TO_LEAD"
    await team.desk.done(team["worker-1"], "channel_send", message="@worker-2 which port?")


async def test_an_answer_refers_to_its_question_and_reaches_who_asked(store: Store) -> None:
    team = await open_team(store)
    asked = await team.desk.done(team["worker-1"], "channel_send", message="which port?", kind="question")
    said = await team.desk.done(team["worker-1"], "channel_send", message="I go on")
    answers: list[tuple[dict[str, Json], str]] = [
        ({"to": ["worker-2"]}, "ANSWER_WITHOUT_QUESTION"),
        ({"reply_to": said["id"]}, "ANSWER_WITHOUT_QUESTION"),
        ({"reply_to": "ms_unknown"}, "MESSAGE_NOT_FOUND"),
    ]
    for given, code in answers:
        assert await team.desk.refused(team["lead"], "channel_send", message="8080", kind="answer", **given) == code
    sent = await team.desk.done(
        team["lead"], "channel_send", message="8080, @reviewer-1", kind="answer", reply_to=asked["id"]
    )
    assert sorted(sent["recipients"]) == ["reviewer-1", "worker-1"]
    task = await team.desk.done(
        team["lead"], "channel_send", message="make it a setting", kind="task", reply_to=asked["id"]
    )
    assert task["recipients"] == ["worker-1"]
    thread = (await team.desk.done(OPERATOR, "channel_read", thread=asked["id"]))["entries"]
    assert [one["kind"] for one in thread] == ["question", "answer", "task"]


async def test_an_answer_finds_the_only_thing_that_was_asked_by_itself(store: Store) -> None:
    team = await open_team(store)
    port = await team.desk.done(team["worker-1"], "channel_send", message="which port?", kind="question")
    key = await team.desk.done(
        team["worker-2"], "channel_send", message="no key", kind="blocker", workaround="a fake", to=["lead"]
    )
    assert await team.desk.refused(team["lead"], "channel_send", message="8080", kind="answer") == (
        "ANSWER_WITHOUT_QUESTION"
    )
    await team.desk.done(team["lead"], "channel_send", message="take the fake", kind="answer", to=["worker-2"])
    await team.desk.done(team["lead"], "channel_send", message="8080", kind="answer")
    entries = (await team.desk.done(OPERATOR, "channel_read"))["entries"]
    assert [(one["reply_to"], one["mentions"]) for one in entries[-2:]] == [
        (key["id"], ["worker-2"]),
        (port["id"], ["worker-1"]),
    ]
    refused = await team.desk.call(team["lead"], "channel_send", {"message": "8081", "kind": "answer"})
    assert "Open: nothing waits for one." in refused.text


async def test_what_a_repeated_attempt_asks_again_is_one_question(store: Store) -> None:
    team = await open_team(store)
    words: dict[str, Json] = {"message": "no key", "kind": "blocker", "workaround": "a fake", "to": ["lead"]}
    await team.desk.done(team["worker-1"], "channel_send", **words)
    again = await team.desk.done(team["worker-1"], "channel_send", **words)
    await team.desk.done(team["lead"], "channel_send", message="take the fake", kind="answer", to=["worker-1"])
    entries = (await team.desk.done(OPERATOR, "channel_read"))["entries"]
    assert entries[-1]["reply_to"] == again["id"]
    refused = await team.desk.call(team["lead"], "channel_send", {"message": "really", "kind": "answer"})
    assert "Open: nothing waits for one." in refused.text


async def test_tasks_are_the_leads_and_kinds_of_requests_come_with_requests(store: Store) -> None:
    team = await open_team(store)
    send = "channel_send"
    assert await team.desk.refused(team["worker-1"], send, message="do it", kind="task", to=["worker-2"]) == (
        "KIND_REFUSED"
    )
    for kind in ("shutdown_approved", "plan_approval_response", "permission_request", "mode_set_request"):
        assert await team.desk.refused(team["lead"], send, message="yes", kind=kind) == "KIND_REFUSED"


async def test_a_refusal_shows_how_to_say_it(store: Store) -> None:
    team = await open_team(store)
    for kind, named in (("status", '"artifacts": [{'), ("blocker", '"workaround": "'), ("answer", '"reply_to": "')):
        answer = await team.desk.call(team["worker-1"], "channel_send", {"message": "x", "kind": kind})
        assert named in answer.text


@pytest.mark.parametrize(
    "artifact",
    [{}, {"file": "a", "test": "b"}, {"file": ""}, {"file": " "}, {"file": "a\nb"}, {"folder": "src"}, {"file": 1}],
)
async def test_an_artifact_is_one_file_test_or_command(store: Store, artifact: dict[str, Json]) -> None:
    team = await open_team(store)
    refused = await team.desk.refused(
        team["worker-1"], "channel_send", message="done", kind="status", artifacts=[artifact]
    )
    assert refused == "INVALID_INPUT"


async def test_who_is_in_no_team_speaks_as_it_likes(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    for kind in ("status", "blocker", "question", "answer", "task", "permission_response"):
        await desk.done(member(ann), "channel_send", message="well", kind=kind)
        await desk.done(OPERATOR, "channel_send", message="well", kind=kind)


async def test_a_guest_of_a_team_and_the_person_speak_as_they_like(store: Store) -> None:
    team = await open_team(store)
    guest = await team.desk.house.join("guest")
    for kind in ("status", "blocker", "question", "answer", "task"):
        await team.desk.done(member(guest), "channel_send", message="well", kind=kind)
        await team.desk.done(OPERATOR, "channel_send", message="well", kind=kind)


async def test_a_broadcast_reaches_every_member_but_its_sender_and_no_service(store: Store) -> None:
    team = await open_team(store)
    await team.desk.done(OPERATOR, "channel_send", message="hello @system @monitor @orchestrator")
    sent = await team.desk.done(team["worker-1"], "channel_send", message="peer-sync: the key moved", kind="broadcast")
    assert sorted(sent["recipients"]) == ["human", "lead", "reviewer-1", "worker-2"]
