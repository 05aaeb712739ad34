"""What the JSON files of a team hold, by their paths in its folder."""

from collections.abc import Mapping

from moot.core import clock, json, permissions
from moot.core.json import Json
from moot.registry.agents import Agent
from moot.requests import plain
from moot.requests.requests import Request
from moot.requests.requests import State as RequestState
from moot.teams import stages
from moot.views.team import picture as pictures
from moot.views.team.picture import Letter, Member, Picture, Standing

NAMES = ("config.json", "team.json", "control.json", "state.json", "runtime.json")
INBOXES = "inboxes"
BACKEND = "in-process-shared"  # the one way in which moot runs a team
ROOM = "main"
_STATUS: Mapping[RequestState, str] = {
    "open": "pending",
    "approved": "approved",
    "denied": "rejected",
    "answered": "answered",
    "expired": "expired",
    "cancelled": "cancelled",
}


def contents(picture: Picture) -> dict[str, bytes]:
    standing = picture.standing
    whole = (_config(standing), _team(standing), {"requests": control(picture)}, _state(standing), _runtime(standing))
    found: dict[str, Json] = dict(zip(NAMES, whole, strict=True))
    found.update({inbox_path(one.name): inbox(picture, one.name) for one in standing.members})
    return {name: json.pretty(value).encode() + b"\n" for name, value in found.items()}


def inbox_path(name: str) -> str:
    return f"{INBOXES}/{name}.json"


def inbox(picture: Picture, name: str) -> list[Json]:
    return [letter(one, is_read=is_read) for one, is_read in pictures.inbox(picture, name)]


def letter(one: Letter, *, is_read: bool) -> dict[str, Json]:
    """A message as it lies in one mailbox."""
    message = one.message
    return {
        "id": message.id,
        "seq": message.seq,
        "timestamp": clock.to_iso(message.at),
        "from": message.sender,
        "to": [name for name, _ in one.boxes],
        "kind": message.kind,
        "message": message.body,
        "priority": message.priority,
        "thread": message.thread,
        "reply_to": message.reply_to,
        "task_id": message.task_id,
        "read": is_read,
        "request_id": one.request.id if one.request else None,
        "approve": one.approve,
    }


def control(picture: Picture) -> list[Json]:
    """What was asked and came of it; plain questions are mail."""
    return [request(one) for one in picture.requests if one.kind != "question"]


def request(one: Request) -> dict[str, Json]:
    told = {name: value for name, value in plain.request(one).items() if name not in ("id", "state", "options")}
    approve = one.state == "approved" if one.state in ("approved", "denied") else None
    return {"request_id": one.id, **told, "status": _STATUS[one.state], "approve": approve}


def _config(standing: Standing) -> dict[str, Json]:
    team = standing.team
    return {
        "session": team.instance,
        "goal": team.goal,
        "lead": team.lead,
        "room": ROOM,
        "backend": BACKEND,
        "workflow": stages.LINE,
        "plan_approval": team.asks_for_plan,
        "push": team.pushes,
        "most_rounds": team.most_rounds,
        "created_at": clock.to_iso(team.made_at),
        "members": [_member(one) for one in standing.members],
    }


def _member(one: Member) -> dict[str, Json]:
    agent = one.agent
    return {
        "name": one.name,
        "role": one.part,
        "agent_id": one.id,
        "backend": agent.backend if agent else None,
        "model": _model(agent),
        "permissions": _permissions(agent),
    }


def _model(agent: Agent | None) -> str | None:
    model = agent.settings.get("model") if agent else None
    return model if isinstance(model, str) else None


def _permissions(agent: Agent | None) -> str | None:
    """As people write them; who is not started by moot has none of moot's."""
    if agent is None or not agent.is_started_by_moot:
        return None
    return permissions.said(agent.settings.get("permissions")).spelling


def _team(standing: Standing) -> dict[str, Json]:
    """The older and shorter form of `config.json`."""
    team = standing.team
    return {
        "name": team.instance,
        "description": team.goal,
        "lead": team.lead,
        "members": [{"name": one.name, "role": one.part} for one in standing.members],
        "created_at": clock.to_iso(team.made_at),
    }


def _state(standing: Standing) -> dict[str, Json]:
    team = standing.team
    return {
        "stage": team.stage,
        "round": team.round,
        "left_in": team.left_in,
        "reason": team.reason,
        "changed_at": clock.to_iso(team.changed_at),
        "members": {one.name: _standing_of(standing, one) for one in standing.members if one.part != "service"},
    }


def _standing_of(standing: Standing, one: Member) -> dict[str, Json]:
    counts = standing.counts.get(one.id) if one.id else None
    heartbeat = pictures.beat(standing, one)
    return {
        "presence": one.said or "offline",
        "status": one.agent.status if one.agent and one.said == "online" else None,
        "is_stopped": bool(one.agent and one.agent.stopped_at),
        "unread": counts.unread + counts.parked if counts else 0,
        "current_task": one.agent.current_task if one.agent else None,
        "heartbeat_at": clock.to_iso(heartbeat) if heartbeat else None,
    }


def _runtime(standing: Standing) -> dict[str, Json]:
    run, host = standing.run, standing.host
    return {
        "backend": BACKEND,
        "workflow_id": standing.team.run,
        "status": run.state if run else None,
        "phase": run.phase if run else None,
        "is_paused": bool(run and run.is_paused),
        "host": None
        if host is None
        else {"id": host.id, "process": host.process, "started_at": clock.to_iso(host.started_at)},
    }
