"""What the files of a team show, compared with what the store says, asked in other ways than the views ask it."""

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

from moot.bus import mailbox, messages
from moot.bus.messages import Message
from moot.core import clock
from moot.core.ids import StreamId
from moot.core.tx import ReadTx
from moot.registry import agents
from moot.requests import requests
from moot.requests.requests import Request
from moot.store.store import Store
from moot.teams import attendance, teams
from moot.teams.teams import Team

SERVICES = ("monitor", "orchestrator", "system")
FILES = {"config.json", "team.json", "control.json", "state.json", "runtime.json", "bus.sqlite"}
STATUS = {"open": "pending", "denied": "rejected"}
_ANSWERS = ("_response", "_approved", "_rejected")


def folder(root: Path, session: str) -> Path:
    return root / ".codex-teams" / session


def read(root: Path, session: str, name: str) -> Any:
    return json.loads((folder(root, session) / name).read_text(encoding="utf-8"))


def paths(root: Path, session: str) -> set[str]:
    """Everything in the folder of a team, but hidden files."""
    place = folder(root, session)
    return {str(one.relative_to(place)) for one in place.rglob("*") if one.is_file() and not one.name.startswith(".")}


async def check(store: Store, root: Path, session: str) -> None:
    """All of it is as the store has it."""
    team = await store.read(lambda tx: teams.get(tx, session))
    said = await store.read(lambda tx: messages.latest(tx, team.stream, 100_000))
    asked = await store.read(lambda tx: requests.latest(tx, team.stream, 100_000))
    inboxes = await store.read(lambda tx: _inboxes(tx, team.stream, said))
    who = [*team.members, *(["human"] if "human" in inboxes and "human" not in team.members else []), *SERVICES]
    assert await asyncio.to_thread(paths, root, session) == FILES | {f"inboxes/{name}.json" for name in who}
    for name in who:
        _check_inbox(read(root, session, f"inboxes/{name}.json"), inboxes.get(name, []), asked, name)
    _check_control(read(root, session, "control.json"), asked)
    await _check_team(store, root, team)
    _check_bus(root, session, said, inboxes, asked)


def _inboxes(tx: ReadTx, stream: StreamId, said: list[Message]) -> dict[str, list[tuple[Message, bool]]]:
    """By name: what lies there, and whether it was read. Everybody who is known has one."""
    found: dict[str, list[tuple[Message, bool]]] = {one.name: [] for one in agents.members(tx, stream)}
    for message in said:
        for receipt in mailbox.receipts(tx, stream, message.seq):
            is_read = receipt.state in ("acked", "dead")
            found.setdefault(agents.get(tx, receipt.agent).name, []).append((message, is_read))
    return found


def _check_inbox(
    shown: list[dict[str, Any]], kept: list[tuple[Message, bool]], asked: list[Request], name: str
) -> None:
    assert [(one["id"], one["seq"], one["message"], one["from"], one["kind"], one["read"]) for one in shown] == [
        (one.id, one.seq, one.body, one.sender, one.kind, is_read) for one, is_read in kept
    ]
    assert all(name in one["to"] for one in shown)
    for one in shown:
        request, approve = _request_of(one["id"], one["reply_to"], one["kind"], asked)
        assert (one["request_id"], one["approve"]) == (request, approve)


def _request_of(id: str, reply_to: str | None, kind: str, asked: list[Request]) -> tuple[str | None, bool | None]:
    for one in asked:
        if one.message == id:
            return one.id, None
        is_answer = kind.endswith(_ANSWERS) or (kind == "answer" and one.kind == "question")
        if reply_to is not None and one.message == reply_to and is_answer:
            return one.id, {"approved": True, "denied": False}.get(one.state)
    return None, None


def _check_control(shown: dict[str, Any], asked: list[Request]) -> None:
    wanted = [one for one in asked if one.kind != "question"]
    assert [
        (one["request_id"], one["type"], one["from"], one["to"], one["status"], one["hash"], one["mode"])
        for one in shown["requests"]
    ] == [
        (one.id, one.kind, one.requester, one.addressee, STATUS.get(one.state, one.state), one.hash, one.mode)
        for one in wanted
    ]
    assert [(one["answered_by"], one["answer"]) for one in shown["requests"]] == [
        (one.answered_by, one.answer) for one in wanted
    ]


async def _check_team(store: Store, root: Path, team: Team) -> None:
    config, state = read(root, team.instance, "config.json"), read(root, team.instance, "state.json")
    assert (config["session"], config["goal"], config["lead"]) == (team.instance, team.goal, team.lead)
    parts = {one["name"]: one["role"] for one in config["members"]}
    assert {name: part for name, part in parts.items() if part not in ("person", "service")} == dict(team.members)
    assert {one["name"]: one["role"] for one in read(root, team.instance, "team.json")["members"]} == parts
    assert (state["stage"], state["round"], state["reason"]) == (team.stage, team.round, team.reason)
    runtime = read(root, team.instance, "runtime.json")
    assert (runtime["workflow_id"], runtime["backend"]) == (team.run, "in-process-shared")
    said = await store.read(lambda tx: attendance.said(tx, team.instance))
    for name in team.members:
        agent = await store.read(lambda tx, name=name: agents.find(tx, team.stream, name))
        assert agent is not None
        of = state["members"][name]
        assert (of["presence"], of["is_stopped"]) == (said.get(name, "offline"), agent.stopped_at is not None)
        assert of["current_task"] == agent.current_task
        if agent.backend == "external":
            assert of["heartbeat_at"] == clock.to_iso(agent.seen_at)
        unread = await store.read(lambda tx, id=agent.id: mailbox.unread(tx, id, 100_000))
        parked = await store.read(lambda tx, id=agent.id: mailbox.parked(tx, id, 100_000))
        assert of["unread"] == len(unread) + len(parked)


def _check_bus(
    root: Path,
    session: str,
    said: list[Message],
    inboxes: dict[str, list[tuple[Message, bool]]],
    asked: list[Request],
) -> None:
    with sqlite3.connect(f"file:{folder(root, session) / 'bus.sqlite'}?mode=ro", uri=True) as bus:
        assert bus.execute("select id, message_id, sender, kind, body from messages order by id").fetchall() == [
            (one.seq, one.id, one.sender, one.kind, one.body) for one in said
        ]
        kept = sorted(
            (message.seq, name, "read" if is_read else "unread")
            for name, found in inboxes.items()
            for message, is_read in found
        )
        assert bus.execute("select message, agent, status from mailbox order by 1, 2").fetchall() == kept
        wanted = sorted((one.id, STATUS.get(one.state, one.state)) for one in asked if one.kind != "question")
        assert bus.execute("select request_id, status from control_requests order by 1").fetchall() == wanted
        assert bus.execute("pragma integrity_check").fetchall() == [("ok",)]
    bus.close()
