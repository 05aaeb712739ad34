"""The files of a team are what the store says, can be deleted or spoilt at any time, and are never taken for true."""

import asyncio
import json
import shutil
import sqlite3
import stat
from pathlib import Path

import pytest

from moot.bus import mailbox, messages
from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.registry import agents
from moot.registry.agents import Status
from moot.store.store import Store
from moot.teams import teams
from moot.teams.teams import NewTeam, Part
from moot.testing.clock import ManualClock
from moot.views.team import picture
from moot.views.team.keeper import TeamViews
from tests.tools.desk import OPERATOR
from tests.tools.team import MEMBERS, TeamDesk, open_team
from tests.views import shown

SESSION = "default"


async def talked(team: TeamDesk) -> None:
    """Somebody has said, asked and answered something of each kind."""
    desk = team.desk
    await desk.done(OPERATOR, "channel_send", message="@lead begin, please. @system for the record")
    await desk.done(team["lead"], "channel_send", message="a plan", kind="broadcast")
    question = await desk.done(team["worker-1"], "channel_send", message="which port?", kind="question")
    await desk.done(team["lead"], "channel_send", message="8080", kind="answer", reply_to=question["id"])
    shutdown = await desk.done(team["lead"], "request_create", to="worker-2", type="shutdown", title="enough")
    await desk.done(team["worker-2"], "request_respond", request_id=shutdown["id"], approve=True)
    denied = await desk.done(team["worker-1"], "request_create", to="lead", type="plan_approval", title="mine")
    await desk.done(team["lead"], "request_respond", request_id=denied["id"], approve=False, answer="smaller")
    await desk.done(team["worker-1"], "request_create", to="human", type="mode_set", mode="full", title="the shell")
    await desk.done(team["worker-1"], "request_create", to="lead", title="a question, not a control request?")
    mail = await desk.house.read(lambda tx: mailbox.unread(tx, team.members["reviewer-1"].id, 9))
    await desk.house.write(lambda tx: mailbox.ack_one(tx, team.members["reviewer-1"].id, mail[0].seq))


async def look(store: Store, root: Path) -> list[str]:
    """The names of what was written."""
    written = await TeamViews(store, root).look()
    return sorted(str(one.relative_to(shown.folder(root, SESSION))) for one in written)


async def test_the_files_show_what_the_store_says(store: Store, tmp_path: Path) -> None:
    team = await open_team(store)
    await look(store, tmp_path)
    await shown.check(store, tmp_path, SESSION)
    await talked(team)
    await look(store, tmp_path)
    await shown.check(store, tmp_path, SESSION)
    inbox = shown.read(tmp_path, SESSION, "inboxes/worker-1.json")
    assert [(one["kind"], one["read"], one["approve"]) for one in inbox] == [
        ("broadcast", False, None),
        ("answer", False, None),
        ("plan_approval_response", False, False),
    ]
    assert [one["status"] for one in shown.read(tmp_path, SESSION, "control.json")["requests"]] == [
        "approved",
        "rejected",
        "pending",
    ]


async def test_only_what_has_changed_is_written_again(store: Store, tmp_path: Path) -> None:
    team = await open_team(store)
    views = TeamViews(store, tmp_path)
    assert len(await views.look()) == 6 + 4 + 3
    assert await views.look() == []
    said = await team.desk.done(OPERATOR, "channel_send", message="@worker-1 go")
    written = await views.look()
    names = {"inboxes/worker-1.json", "inboxes/human.json", "state.json", "bus.sqlite", "config.json", "team.json"}
    assert {str(one.relative_to(shown.folder(tmp_path, SESSION))) for one in written} == names
    worker = team.members["worker-1"]
    await team.desk.house.write(lambda tx: mailbox.ack_one(tx, worker.id, said["seq"]))
    written = await views.look()
    assert {one.name for one in written} == {"worker-1.json", "state.json", "bus.sqlite"}, "reading is no event"
    await shown.check(store, tmp_path, SESSION)


@pytest.mark.parametrize("status", ["online", "busy"])
async def test_a_heartbeat_is_in_the_state_and_nowhere_else(
    store: Store, tmp_path: Path, clock: ManualClock, status: Status
) -> None:
    team = await open_team(store)
    await team.join("lead")
    views = TeamViews(store, tmp_path)
    await views.look()
    clock.advance(30)
    await team.desk.done(team["lead"], "agent_heartbeat", status=status)
    assert [one.name for one in await views.look()] == ["state.json"]
    state = shown.read(tmp_path, SESSION, "state.json")["members"]["lead"]
    assert (state["presence"], state["status"]) == ("online", status)
    await shown.check(store, tmp_path, SESSION)


async def test_the_folder_is_private_and_ignored_by_git(store: Store, tmp_path: Path) -> None:
    await open_team(store)
    await look(store, tmp_path)
    top = tmp_path / ".codex-teams"
    assert (top / ".gitignore").read_text() == "*\n"
    folders = [top, top / SESSION, top / SESSION / "inboxes"]
    assert {stat.S_IMODE(one.stat().st_mode) for one in folders} == {0o700}
    assert {stat.S_IMODE(one.stat().st_mode) for one in top.rglob("*") if one.is_file()} == {0o600}


async def test_a_team_without_views_has_no_files(store: Store, tmp_path: Path) -> None:
    team = await open_team(store)
    new = NewTeam(team.team.instance, team.team.stream, "a goal", MEMBERS, has_views=False)
    await team.desk.house.write(lambda tx: teams.form(tx, new))
    assert await look(store, tmp_path) == []
    assert not (tmp_path / ".codex-teams").exists()


SPOILT = ["deleted", "emptied", "garbage", "forged", "longer", "a link", "a second name"]


def spoil(file: Path, how: str, elsewhere: Path) -> None:
    match how:
        case "deleted":
            file.unlink()
        case "emptied":
            file.write_bytes(b"")
        case "garbage":
            file.write_bytes(bytes(range(256)) * 3)
        case "forged":
            file.write_bytes(file.read_bytes().replace(b'"read": false', b'"read": true ').replace(b"open", b"oven"))
        case "longer":
            file.write_bytes(file.read_bytes() + b"\n")
        case "a link":
            file.unlink()
            file.symlink_to(elsewhere)
        case _:
            file.unlink()
            file.hardlink_to(elsewhere)


@pytest.mark.parametrize("how", SPOILT)
async def test_spoilt_files_change_nothing_and_are_written_again(store: Store, tmp_path: Path, how: str) -> None:
    team = await open_team(store)
    await talked(team)
    await look(store, tmp_path)
    before = await kept(store, team)
    elsewhere = tmp_path / "mine.txt"
    elsewhere.write_text("mine")
    for name in shown.paths(tmp_path, SESSION):
        spoil(shown.folder(tmp_path, SESSION) / name, how, elsewhere)
    await look(store, tmp_path)
    await shown.check(store, tmp_path, SESSION)
    assert await kept(store, team) == before
    assert elsewhere.read_text() == "mine"
    assert not elsewhere.is_symlink()


async def kept(store: Store, team: TeamDesk) -> list[object]:
    """Everything in the store that the files are about."""

    def look(tx: Tx) -> list[object]:
        said = messages.latest(tx, team.team.stream, 1000)
        boxes = [mailbox.receipts(tx, team.team.stream, one.seq) for one in said]
        return [said, boxes, picture.requests.latest(tx, team.team.stream, 1000), teams.get(tx, SESSION)]

    return await store.write(look, caller=SYSTEM)


async def test_what_was_deleted_as_a_whole_comes_back(store: Store, tmp_path: Path) -> None:
    team = await open_team(store)
    await talked(team)
    await look(store, tmp_path)
    shutil.rmtree(tmp_path / ".codex-teams")
    await look(store, tmp_path)
    await shown.check(store, tmp_path, SESSION)


@pytest.mark.parametrize("link", [".codex-teams", ".codex-teams/default", ".codex-teams/default/inboxes"])
async def test_nothing_is_written_through_a_folder_that_is_a_link(store: Store, tmp_path: Path, link: str) -> None:
    await open_team(store)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / link).symlink_to(elsewhere)
    views = TeamViews(store, tmp_path)
    await views.look()
    assert list(elsewhere.iterdir()) == []
    assert len(views.problems) == 1
    assert "The files of the team default cannot be written" in views.problems[0]


async def test_what_another_program_has_made_is_left_alone_and_told_once(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    team = await open_team(store)
    place = shown.folder(tmp_path, SESSION)
    place.mkdir(parents=True)
    with sqlite3.connect(place / "bus.sqlite") as theirs:
        theirs.execute("create table messages (id integer)")
    theirs.close()
    (place / "config.json").write_text("theirs")
    before = (place / "bus.sqlite").read_bytes()
    views = TeamViews(store, tmp_path)
    await views.look()
    await team.desk.done(OPERATOR, "channel_send", message="@worker-1 go")
    await views.look()
    assert (place / "bus.sqlite").read_bytes() == before
    assert (place / "config.json").read_text() == "theirs"
    assert caplog.text.count("another program's database lies there") == 1


async def test_who_has_left_a_team_has_no_inbox_there(store: Store, tmp_path: Path) -> None:
    team = await open_team(store)
    await look(store, tmp_path)
    members: dict[str, Part] = {name: part for name, part in MEMBERS.items() if name != "worker-2"}
    new = NewTeam(team.team.instance, team.team.stream, "a goal", members)
    await team.desk.house.write(lambda tx: teams.form(tx, new))
    (shown.folder(tmp_path, SESSION) / "notes.txt").write_text("mine")
    await look(store, tmp_path)
    assert not (shown.folder(tmp_path, SESSION) / "inboxes/worker-2.json").exists()
    assert (shown.folder(tmp_path, SESSION) / "notes.txt").read_text() == "mine"


async def test_the_files_of_a_team_that_is_no_more_are_removed_and_nothing_else(store: Store, tmp_path: Path) -> None:
    team = await open_team(store)
    views = TeamViews(store, tmp_path)
    await views.look()
    (shown.folder(tmp_path, SESSION) / "notes.txt").write_text("mine")
    await team.desk.house.write(lambda tx: teams.disband(tx, team.team.instance))
    await views.look()
    assert shown.paths(tmp_path, SESSION) == {"notes.txt"}


async def test_the_files_go_back_so_many_messages_and_to_all_that_is_unread(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture, "MOST", 5)
    monkeypatch.setattr(picture, "_CHUNK", 2)
    team = await open_team(store)
    worker, other = team.members["worker-1"], team.members["worker-2"]
    sent = [await team.desk.house.post(f"number {number}", worker, other) for number in range(12)]
    for one in sent[1:]:
        await team.desk.house.write(lambda tx, one=one: mailbox.ack_one(tx, worker.id, one.seq))
    for one in sent:
        await team.desk.house.write(lambda tx, one=one: mailbox.ack_one(tx, other.id, one.seq))
    await look(store, tmp_path)
    inbox = shown.read(tmp_path, SESSION, "inboxes/worker-1.json")
    assert [one["message"] for one in inbox] == [f"number {number}" for number in (0, 7, 8, 9, 10, 11)]
    assert [one["read"] for one in inbox] == [False, True, True, True, True, True]
    inbox = shown.read(tmp_path, SESSION, "inboxes/worker-2.json")
    assert [one["message"] for one in inbox] == [f"number {number}" for number in (7, 8, 9, 10, 11)]


async def test_files_are_never_seen_half_written(store: Store, tmp_path: Path) -> None:
    team = await open_team(store)
    views = TeamViews(store, tmp_path)
    await views.look()
    done = asyncio.Event()

    def watch() -> int:
        seen = 0
        while not done.is_set():
            for name in ("inboxes/worker-1.json", "state.json", "control.json"):
                json.loads((shown.folder(tmp_path, SESSION) / name).read_text())
                seen += 1
        return seen

    watching = asyncio.create_task(asyncio.to_thread(watch))
    for number in range(20):
        await team.desk.done(OPERATOR, "channel_send", message=f"@worker-1 {number} {'x' * 5000}")
        await views.look()
    done.set()
    assert await watching > 0


async def test_two_hosts_do_not_write_over_each_other(store: Store, tmp_path: Path) -> None:
    team = await open_team(store)
    first, second = TeamViews(store, tmp_path), TeamViews(store, tmp_path)
    for number in range(10):
        await team.desk.done(OPERATOR, "channel_send", message=f"@worker-1 {number}")
        await asyncio.gather(first.look(), second.look())
    await first.look()
    await shown.check(store, tmp_path, SESSION)


async def test_the_files_are_kept_while_a_host_runs(store: Store, tmp_path: Path) -> None:
    team = await open_team(store)
    async with asyncio.timeout(20), TeamViews(store, tmp_path).keeping():
        await team.desk.done(OPERATOR, "channel_send", message="@worker-1 go")
        agent = await team.desk.house.read(lambda tx: agents.get(tx, team.members["worker-1"].id))
        assert agent.stopped_at is None
    await shown.check(store, tmp_path, SESSION)
