"""Sub-agents: called as tools, each in a session of its own. Those that may be asked again stay until their parent has
ended."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from moot.core import json
from moot.core.json import Json
from moot.core.records import replace
from moot.core.tool import Effect
from moot.core.tree_path import TreePath
from moot.models.model import ToolSpec
from moot.session import forms, reports, schemas
from moot.session.agent import Agent, Cast
from moot.session.errand import Errand
from moot.session.forms import Form
from moot.session.hearing import Heard
from moot.session.performing import Perform
from moot.session.report import Report
from moot.session.session import Session
from moot.session.source import Outcome, Unrecorded

_PREFIX = "agent_"
ASK = "ask_clarification"


class _Order(Form):
    prompt: object
    reason: str | None = None


class _Question(Form):
    id: str
    question: str = ""


class SubAgents(Unrecorded):
    """The sub-agents of one session, and the conversations with those who are still there."""

    unoffered = (ASK,)

    def __init__(self, errand: Errand, cast: Cast, perform: Perform) -> None:
        self._errand = errand
        self._cast = cast
        self._perform = perform
        self._children: dict[str, _Child] = {}  # by id

    def specs(self) -> Sequence[ToolSpec]:
        found = [_spec(self._cast[name]) for name in self._errand.agent.agents]
        askable = [id for id, child in self._children.items() if child.session is not None]
        return (*found, _ask_spec(askable)) if askable else found

    def effect(self, name: str) -> Effect:
        return "outside"

    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> Outcome:
        place = TreePath(path)
        form = forms.read(_Question if name == ASK else _Order, arguments)
        match form:
            case str():
                return Outcome(f"Nothing was done: {form}. Call it again.", is_error=True)
            case _Question():
                return await self._ask(form.id, form.question, place)
            case _Order():
                return await self._spawn(self._cast[name.removeprefix(_PREFIX)], cast(Json, form.prompt), place)

    async def _spawn(self, agent: Agent, prompt: Json, place: TreePath) -> Outcome:
        text = prompt if isinstance(prompt, str) else json.dumps(prompt)
        if prompt is None or not text.strip():
            return Outcome("Nothing was done: `prompt` is missing.", is_error=True)
        if (wrong := await reports.fault(text, agent.input)) is not None:
            return Outcome(f"INVALID_PROMPT: nothing was done, `prompt` is not what {agent.name} takes: {wrong}.", True)
        most = self._errand.deepest
        if self._errand.depth >= most:
            return Outcome(f"Nothing was done: agents may call agents {most} deep, and this is one too many.", True)
        id = f"{agent.name}-{'.'.join(place.parts[-2:])}"
        child = self._errand.next(agent, text, "subagent", place)
        played = await self._perform(replace(child, depth=self._errand.depth + 1))
        report = played.report
        if report.is_put_off:
            return _put_off(report)
        session = played.session if report.failure is None else None
        if session is not None and not session.errand.agent.is_chatty:  # of a chain, whoever has answered in the end
            session = None
        self._children[id] = _Child(session, place.above)
        if report.failure is not None:
            return Outcome(failure_report(agent.name, report), is_error=True)
        return Outcome(report.text if session is None else report.text + _footer(id, session))

    async def _ask(self, id: str, question: str, place: TreePath) -> Outcome:
        child = self._children.get(id)
        # One that is called in the same turn is not there yet, however fast it answers.
        if child is None or child.turn == place.above:
            return _refused("unknown_child", id, f"{id[:80]!r} cannot be asked")
        async with child.is_free:
            return await self._ask_child(child, id, question)

    async def _ask_child(self, child: "_Child", id: str, question: str) -> Outcome:
        session = child.session
        if child.put_off is not None:
            return _put_off(child.put_off)
        if session is None:
            return _refused("chat_disabled", id, f"{id[:80]!r} cannot be asked")
        if not question.strip():
            return _refused("no_question", id, "`question` is missing")
        if not session.turns_left:
            return _refused("clarification_no_turns", id, f"{id} has no turns left")
        caller = ":".join((*self._errand.callers, self._errand.agent.name))
        heading = f"## CLARIFICATION REQUEST FROM {caller}\n\n{question}"
        report = await session.ask_again("clarification", lambda: Heard(heading))
        if report.is_put_off:
            child.put_off = report
            return _put_off(report)
        if report.failure is not None:
            child.session = None
            return _refused("failed", id, failure_report(session.errand.agent.name, report), session.turns_left)
        answer: Json = {
            "status": "ok",
            "content": report.text,
            "clarificationId": id,
            "turnsRemaining": session.turns_left,
        }
        return Outcome(json.dumps(answer) + _footer(id, session))


@dataclass(slots=True)
class _Child:
    """Whom it has called, and who may still be there."""

    session: Session | None  # None: it cannot be asked again
    turn: TreePath | None  # in which it was called
    put_off: Report | None = None  # then questions behind it wait, too
    # It hears one question after the other, in the order of the calls: those who wait are let in as they came.
    is_free: asyncio.Lock = field(default_factory=asyncio.Lock)


def _put_off(report: Report) -> Outcome:
    """Who called it is put off with it, and makes the same call again."""
    return Outcome("put off", is_error=True, report=report)


def _refused(code: str, id: str, why: str, left: int = 0) -> Outcome:
    answer: Json = {"status": code, "content": why, "clarificationId": id, "turnsRemaining": left}
    return Outcome(f"{json.dumps(answer)}\n\n{why}.", is_error=True)


def _footer(id: str, session: Session) -> str:
    left = session.turns_left
    return f"\n\n---\nTo ask further: {ASK}(id={id!r}, question=…). Turns left: {left}."


def failure_report(name: str, report: Report) -> str:
    """What is told in place of a report."""
    said = f"\n\nWhat it had said until then:\n\n{report.text}" if report.text and report.text != report.error else ""
    return f"{name} has no report: it failed ({report.failure}): {report.error}{said}"


def _spec(agent: Agent) -> ToolSpec:
    prompt: Mapping[str, Json] = {"type": "string", "description": "All it needs to know: it sees nothing else."}
    if agent.input.kind == "json":
        prompt = schemas.within(agent.input.schema, "prompt") if agent.input.schema else {"type": "object"}
    schema: Mapping[str, Json] = {
        "type": "object",
        "properties": {
            "prompt": prompt,
            "reason": {"type": "string", "description": "Why it is asked, in a few words."},
        },
        "required": ["prompt"],
    }
    return ToolSpec(f"{_PREFIX}{agent.name}", agent.description or f"Ask the agent {agent.name}.", schema)


def _ask_spec(ids: Sequence[str]) -> ToolSpec:
    schema: Mapping[str, Json] = {
        "type": "object",
        "properties": {"id": {"type": "string", "enum": list(ids)}, "question": {"type": "string"}},
        "required": ["id", "question"],
    }
    return ToolSpec(ASK, "Ask an agent that has reported to you a further question; it remembers all.", schema)
