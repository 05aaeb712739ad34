"""Agents: what each is doing, what it has used, what it said last; and having it stop, go on, hurry or begin anew."""

from moot.api import around, control, parked, plain, remedies, roster
from moot.api.around import Around
from moot.api.page import desk, saying
from moot.api.page.desk import Desk, Plain
from moot.api.targets import Target
from moot.board import tasks
from moot.board.tasks import Task
from moot.bus import messages
from moot.bus.messages import Message
from moot.core import clock
from moot.core.tx import ReadTx
from moot.ledger import traces
from moot.ledger.usage import Usage
from moot.registry import agents, attempts
from moot.registry.agents import Agent
from moot.registry.attempts import Attempt
from moot.registry.instances import Instance
from moot.tools.talk import Words
from moot.web import resource
from moot.web.ask import Ask
from moot.web.resource import Resource

_LAST = 20
_MOST = 200
_LETTERS = 500  # of last words
_LONGEST = 1_000_000


def resources(at: Desk) -> list[Resource]:
    async def one(ask: Ask) -> Plain:
        name, limit = ask.place["name"], ask.limit(_LAST, _MOST)
        return await at.look(ask, lambda tx, instance: _one(tx, desk.there(instance), name, limit))

    async def stop(ask: Ask) -> Plain:
        stopped = await control.stop(at.seat(ask), _target(ask), "now" if ask.flag("now") else "safely")
        return {"stopped": [each.name for each in stopped]}

    async def release(ask: Ask) -> Plain:
        return {"released": await control.release(at.seat(ask), _target(ask))}

    async def nudge(ask: Ask) -> Plain:
        return {"woken": await control.nudge(at.seat(ask), _target(ask))}

    async def interrupt(ask: Ask) -> Plain:
        words = Words(ask.needed("message", most=_LONGEST), to=(ask.place["name"],))
        return await saying.say(at.seat(ask), words, now=True)

    async def retry(ask: Ask) -> Plain:
        return {"revived": await parked.retry(at.seat(ask), _target(ask))}

    return [
        resource.get("/api/agents", at.answer(_listed)),
        resource.get("/api/agents/{name}", one, "limit"),
        resource.post("/api/agents/{name}/stop", stop, "now"),
        resource.post("/api/agents/{name}/release", release),
        resource.post("/api/agents/{name}/nudge", nudge),
        resource.post("/api/agents/{name}/interrupt", interrupt, "message"),
        resource.post("/api/agents/{name}/retry", retry),
    ]


def _target(ask: Ask) -> Target:
    return Target(ask.place["name"], ask.instance)


def _listed(tx: ReadTx, instance: Instance | None) -> Plain:
    if instance is None:
        return {"agents": []}
    known = around.of(tx, instance)
    members = [one for one in agents.members(tx, instance.stream) if one.backend != "service"]
    return {"agents": [_card(tx, one, known) for one in members]}


def _card(tx: ReadTx, agent: Agent, known: Around) -> Plain:
    attempt, counts = roster.attempt(tx, agent), known.mail.get(agent.id)
    said = known.words.get(agent.name)
    parked = counts.parked if counts else 0
    return {
        "name": agent.name,
        "id": agent.id,
        "status": "person" if agent.backend == "human" else roster.state(tx, agent),
        "presence": agent.presence(tx.now),
        "backend": agent.backend,
        "model": traces.model_of(agent.backend, agent.settings) if agent.is_started_by_moot else None,
        "role": agent.role,
        "label": agent.label,
        "unread": counts.unread if counts else 0,
        "parked": parked,
        "tasks": [_task(one) for one in tasks.held_by(tx, agent.id)],
        "attempt": attempt and _attempt(attempt),
        "seconds": (tx.now - attempt.started_at).total_seconds() if attempt else None,
        **_used(known.used_by(agent)),
        "last_words": said and _words(said),
        "may": _may(agent, attempt, parked),
        "releasing": remedies.releasing(tx, agent) if agent.is_started_by_moot and agent.stopped_at else None,
    }


def _may(agent: Agent, attempt: Attempt | None, parked: int) -> list[str]:
    """What the person can have it do now."""
    if not agent.is_started_by_moot:
        return ["retry"] if parked else []
    if agent.stopped_at is not None:
        return ["release"]
    return ["stop", "nudge", *(["interrupt"] if attempt else []), *(["retry"] if parked else [])]


def _used(used: Usage) -> Plain:
    return {
        "attempts": used.attempts,
        "turns": used.turns,
        "tokens": used.tokens,
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "cost": used.dollars,
        "is_estimated": used.is_estimated,
    }


def _task(one: Task) -> Plain:
    lease = clock.to_iso(one.lease_until) if one.lease_until else None
    return {"id": one.id, "name": one.name, "status": one.status, "lease_until": lease}


def _attempt(one: Attempt) -> Plain:
    return {
        "id": one.id,
        "number": one.number,
        "state": one.state,
        "error": one.error,
        "started_at": clock.to_iso(one.started_at),
        "ended_at": clock.to_iso(one.ended_at) if one.ended_at else None,
    }


def _words(said: Message) -> Plain:
    body = said.body if len(said.body) <= _LETTERS else f"{said.body[:_LETTERS]}…"
    return {"id": said.id, "seq": said.seq, "timestamp": clock.to_iso(said.at), "message": body}


def _one(tx: ReadTx, instance: Instance, name: str, limit: int) -> Plain:
    agent = agents.named(tx, instance.stream, name)
    heard = messages.latest_with(tx, instance.stream, agent.name, agent.id, limit)
    return {
        "agent": _card(tx, agent, around.of(tx, instance)),
        "messages": [plain.message(one) for one in heard],
        "attempts_made": [_attempt(one) for one in attempts.latest(tx, agent.id, limit)],
    }
