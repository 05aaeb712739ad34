"""The permission prompt of programs that ask before they use a tool of their own: `approve`.

It answers in words alone, as such programs want it: one text with JSON, and nothing structured. What an agent's
permissions leave open becomes a durable request to the person, or to a lead who speaks for the person, bound to exactly
what was asked. The call holds until the answer; after that the request stays, and whoever asks for the same again finds
the answer, once.
"""

import hashlib
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from moot.bus import mailbox, messages
from moot.core import json, permissions
from moot.core.errors import MootError, NotAllowed
from moot.core.ids import RequestId
from moot.core.permissions import Answer, Permissions
from moot.core.records import record, replace
from moot.core.tool import WRITERS, Call, Tool
from moot.core.tx import ReadTx, Tx
from moot.registry import agents, attempts, hosts, runs
from moot.registry.agents import Agent
from moot.requests import requests
from moot.requests.requests import Request
from moot.tools import acting, asking, attendance, authority
from moot.tools.asking import Question
from moot.tools.groups import APPROVE
from moot.tools.shapes import MOST_CHARACTERS, Arguments, Id, Result, written

HOLD_SECONDS = 600.0  # programs are told to wait longer than this
_OURS = "mcp__moot__"
_KINDS: Mapping[str, frozenset[str]] = {
    "edit": frozenset(("Edit", "MultiEdit", "NotebookEdit", "Write")),
    "shell": frozenset(("Bash", "BashOutput", "KillShell", "Monitor", "PowerShell")),
    "network": frozenset(("WebFetch", "WebSearch")),
}
_TELLING = ("command", "file_path", "notebook_path", "url", "query", "path", "pattern")  # what a tool is about


class Approve(Arguments):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)  # programs may tell more than is needed

    tool_name: Id
    input: dict[str, object] = Field(default_factory=dict[str, object])
    tool_use_id: Annotated[str | None, Field(max_length=MOST_CHARACTERS)] = None


class Decision(Result):
    """In the words that programs expect."""

    behavior: Literal["allow", "deny"]
    updated_input: dict[str, object] | None = Field(default=None, serialization_alias="updatedInput")
    message: str | None = None


@record
class _Asked:
    request: Request  # it waits, or was answered when nobody waited for it any more
    is_heard: bool = True  # somebody is there who can answer


async def approve(call: Call, arguments: Approve) -> Decision:
    try:
        denial = await _denial(call, arguments)
    except MootError as error:  # what cannot be asked is not allowed
        denial = str(error)
    if denial is not None:
        return Decision(behavior="deny", message=denial)
    return Decision(behavior="allow", updated_input=arguments.input)


async def _denial(call: Call, arguments: Approve) -> str | None:
    """Why not; None if it may."""
    agent = await call.read(lambda tx: _agent(tx, call))
    answer = verdict(permissions.said(agent.settings.get("permissions")), arguments.tool_name)
    if answer != "ask":
        return None if answer == "allow" else f"{agent.name} has no permission for {arguments.tool_name}."
    return await leave(call, agent, arguments)


async def leave(call: Call, agent: Agent, arguments: Approve, asker: str = "") -> str | None:
    """Ask the person, whatever the permissions say, and wait for the answer: why not, or None if it may be done, once
    and with exactly these arguments, by the `asker` who works for the agent, or by the agent itself."""
    question = _question(call, arguments, asker)

    def ask(tx: Tx) -> _Asked:
        assert question.hash is not None
        to = authority.person_for(tx, agent)
        if (answered := requests.use(tx, agent.id, question.hash)) is not None:
            _put_away(tx, agent, answered)
            return _Asked(answered)
        request = asking.ask(tx, acting.instance_of(tx, call.caller), agent, replace(question, to=to.name))
        requests.hold(tx, request.id, tx.now + timedelta(seconds=HOLD_SECONDS))
        return _Asked(request, _is_heard(tx, agent, to))

    asked = await call.write(ask)
    if not asked.request.is_open:
        return _said(asked.request)
    if not asked.is_heard:
        return f"Nobody is there to permit {arguments.tool_name}, so it is not allowed. {_later(asked.request.id)}"
    return await _held(call, agent, asked.request.id)


async def _held(call: Call, agent: Agent, id: RequestId) -> str | None:
    """Wait for the answer, but not for ever."""

    def closed(tx: ReadTx) -> Request | None:
        found = requests.get(tx, id)
        return None if found.is_open else found

    until = time.monotonic() + HOLD_SECONDS
    request: Request | None = None
    while request is None and (left := until - time.monotonic()) > 0:
        request = await call.wait(closed, left)
    if request is None:
        return f"Nobody has answered in {HOLD_SECONDS / 60:g} minutes, so it is not allowed. {_later(id)}"
    await call.upkeep(lambda tx: _take(tx, call, agent, request))
    return _said(request)


def _said(request: Request) -> str | None:
    """Why not; None if it may."""
    if request.state == "approved":
        return None
    by = f" by {request.answered_by}" if request.answered_by else ""
    return f"This was {request.state}{by}{f': {request.answer}' if request.answer else '.'} ({request.id})"


def verdict(said: Permissions, tool: str) -> Answer:
    """What an agent's permissions say of a tool that its program asks for. It asks although the kind is allowed where
    it takes that for dangerous: files of the shell and of git, or outside of the workspace. Such a thing, and a tool of
    no known kind, is for who may do everything, or for the person to decide."""
    if tool.startswith(_OURS) or said == permissions.PRESETS["full"]:
        return "allow"
    kind = next((kind for kind, names in _KINDS.items() if tool in names), None)
    is_denied = kind is not None and getattr(said, kind) == "deny"
    return "ask" if said.asks and not is_denied else "deny"


def hash_of(tool: str, given: Mapping[str, object], asker: str = "") -> str:
    """Of exactly what is approved."""
    return hashlib.sha256(json.sorted_bytes([tool, given, *([asker] if asker else [])])).hexdigest()


def _agent(tx: ReadTx, call: Call) -> Agent:
    if call.caller.agent is None or call.caller.attempt is None:
        raise NotAllowed(f"{call.caller.name} is not run by moot.", "Ask with request_create.")
    return agents.get(tx, call.caller.agent)


def _question(call: Call, arguments: Approve, asker: str) -> Question:
    about = next((told for name in _TELLING if isinstance(told := arguments.input.get(name), str) and told.strip()), "")
    title = ": ".join(one for one in (asker, arguments.tool_name, about) if one)
    line = " ".join(title.split())
    return Question(
        to=agents.PERSON,
        kind="permission",
        title=line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1]}…",
        body=json.pretty(arguments.input),
        hash=hash_of(arguments.tool_name, arguments.input, asker),
        lasts=None,
        attempt=call.caller.attempt,
    )


def _is_heard(tx: ReadTx, agent: Agent, asked: Agent) -> bool:
    """Whether somebody can answer while an agent waits: at the terminal of its run, called by a command, or over MCP as
    the lead. Where no run is to come to its end, somebody may look in at any time."""
    run = runs.live(tx, agent.instance)
    if attendance.presence(tx, asked, None) == "online":
        return True
    if run is None or run.mode == "start" or run.definition.get("notify") is not None:
        return True
    return any(host.id == run.attended_by and hosts.ASKS in host.roles for host in hosts.alive(tx))


def _take(tx: Tx, call: Call, agent: Agent, request: Request) -> None:
    """Use the answer up. An approval is for one of those who want the same."""
    attempts.guard(tx, call.caller)
    if not requests.use_up(tx, request.id) and request.state == "approved":
        raise NotAllowed(f"The approval {request.id} was used already.", "Ask again.")
    _put_away(tx, agent, request)


def _put_away(tx: Tx, agent: Agent, request: Request) -> None:
    """Who has its answer need not read it in its mail again."""
    if request.message is None:
        return
    for message in messages.of_thread(tx, messages.get(tx, request.message, request.stream).thread, 1000):
        if message.reply_to == request.message and message.kind == "permission_response":
            mailbox.ack_one(tx, agent.id, message.seq)


def _later(id: RequestId) -> str:
    return f"The request {id} stays open: after moot approve {id} it may be tried again."


TOOLS = (
    Tool(
        name=APPROVE,
        group="requests",
        words="The permission prompt of programs: asks the person whether a tool of their own may be used.",
        effect="store",
        arguments=Approve,
        result=Decision,
        function=approve,
        text=written,
        roles=WRITERS,
        waits=True,
        is_fresh=True,
        is_on_demand=True,
        is_text_only=True,
        tells_mail=False,
    ),
)
