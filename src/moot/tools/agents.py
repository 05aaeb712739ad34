"""Agents: joining, signs of life, and who is here."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import FailFast, Field, JsonValue

from moot.board import claims, tasks
from moot.bus import mailbox
from moot.core import clock, json, text
from moot.core.errors import InvalidInput
from moot.core.ids import AgentId, InstanceName, TaskId
from moot.core.tool import EVERYONE, OPERATORS, WRITERS, Call, Tool
from moot.core.tx import ReadTx, Tx
from moot.registry import agents, instances, tokens
from moot.registry.agents import Agent, Changes, NewAgent
from moot.registry.errors import AgentNotFound
from moot.tools import acting, succession
from moot.tools.shapes import Arguments, Id, Name, Result

Phrase = Annotated[str, Field(max_length=500)]
Capabilities = Annotated[tuple[Phrase, ...], Field(max_length=100, strict=False), FailFast()]
MAX_METADATA = 64_000


class Register(Arguments):
    name: Name
    runtime: Annotated[Phrase, Field(description="What runs you, e.g. claude_code.")]
    role: Annotated[Phrase, Field(description="A label; it grants nothing.")] = "worker"
    capabilities: Capabilities = ()
    workspace_path: Annotated[str | None, Field(max_length=4096)] = None
    metadata: Mapping[str, JsonValue] = Field(default_factory=dict[str, JsonValue])


class Heartbeat(Arguments):
    agent_id: Id | None = None
    current_task_id: Id | None = None
    status: Literal["online", "busy"] | None = None


class Update(Arguments):
    agent_id: Id | None = None
    status: Literal["online", "busy"] | None = None
    capabilities: Annotated[tuple[Phrase, ...] | None, Field(max_length=100, strict=False), FailFast()] = None
    workspace_path: Annotated[str | None, Field(max_length=4096)] = None
    metadata: Mapping[str, JsonValue] | None = None


class Get(Arguments):
    id: Annotated[Id, Field(description="An agent's id or name.")]


class List(Arguments):
    status: Literal["online", "busy", "offline"] | None = None


class Unregister(Arguments):
    id: Id | None = None


class AgentCard(Result):
    """An agent as others see it."""

    id: str
    name: str
    status: str
    role: str
    runtime: str
    backend: str
    instance: str
    capabilities: tuple[str, ...]
    workspace_path: str | None
    current_task_id: str | None
    last_seen: str
    metadata: Mapping[str, JsonValue]


class AgentCards(Result):
    agents: tuple[AgentCard, ...]


class Beat(Result):
    success: bool = True
    next_heartbeat_ms: int
    unread: int
    claim_lost: bool | None = None  # the task it names is not, or no more, its own


class Done(Result):
    success: bool


async def register(call: Call, arguments: Register) -> AgentCard:
    new = NewAgent(
        name=arguments.name,
        runtime=text.clean(arguments.runtime, "runtime"),
        label=text.clean(arguments.role, "role"),
        capabilities=tuple(text.clean(one, "capability") for one in arguments.capabilities),
        workspace_path=_path(arguments.workspace_path),
        metadata=_metadata(arguments.metadata),
        registered_by=call.caller.token,
    )
    return await call.write(lambda tx: card(succession.join(tx, acting.instance_of(tx, call.caller), new), tx))


async def heartbeat(call: Call, arguments: Heartbeat) -> Beat:
    def change(tx: Tx) -> Beat:
        agent = acting.agent_for(tx, call.caller, arguments.agent_id)
        agents.heartbeat(tx, agent.id, status=arguments.status, current_task=arguments.current_task_id)
        hand = acting.hand(call.caller)
        claims.renew_all(tx, agent.id, hand)
        return Beat(
            next_heartbeat_ms=int(agents.HEARTBEAT.total_seconds() * 1000),
            unread=mailbox.count_unread(tx, agent.id),
            claim_lost=_is_lost(tx, arguments.current_task_id, agent.id, hand),
        )

    return await call.write(change)


def _is_lost(tx: Tx, task: str | None, agent: AgentId, hand: str) -> bool | None:
    """True for a task that it believes to be at work on and that is not its own any more."""
    found = None if task is None else tasks.find(tx, TaskId(task))
    is_own = found is None or (found.holder == agent and found.hand == hand and found.is_held(tx.now))
    return None if is_own else True


async def update(call: Call, arguments: Update) -> AgentCard:
    capabilities = arguments.capabilities
    changes = Changes(
        status=arguments.status,
        capabilities=None if capabilities is None else tuple(text.clean(one, "capability") for one in capabilities),
        workspace_path=_path(arguments.workspace_path),
        metadata=None if arguments.metadata is None else _metadata(arguments.metadata),
    )

    def change(tx: Tx) -> AgentCard:
        agent = acting.agent_for(tx, call.caller, arguments.agent_id)
        return card(agents.update(tx, agent.id, changes), tx)

    return await call.write(change)


async def get(call: Call, arguments: Get) -> AgentCard:
    return await call.read(lambda tx: card(_known(tx, call.caller.instance, arguments.id), tx))


def _known(tx: ReadTx, place: InstanceName, named: str) -> Agent:
    """By id, even if it has left, or by name. One of another instance is as good as none."""
    instance = instances.find(tx, place)
    found = instance and (_by_id(tx, place, named) or agents.find(tx, instance.stream, named))
    if found is None:
        raise AgentNotFound(f"There is no agent {named!r} here.", "See agent_list.")
    return found


def _by_id(tx: ReadTx, place: InstanceName, id: str) -> Agent | None:
    try:
        found = agents.get(tx, AgentId(id))
    except AgentNotFound:
        return None
    return found if found.instance == place else None


async def list_agents(call: Call, arguments: List) -> AgentCards:
    def look(tx: ReadTx) -> AgentCards:
        instance = instances.find(tx, call.caller.instance)
        members = agents.members(tx, instance.stream) if instance else []
        cards = (card(agent, tx) for agent in members)
        return AgentCards(agents=tuple(one for one in cards if arguments.status in (None, one.status)))

    return await call.read(look)


async def unregister(call: Call, arguments: Unregister) -> Done:
    def change(tx: Tx) -> Done:
        agent = acting.subject(tx, call.caller, arguments.id)
        if agent is None or agent.name == agents.PERSON:
            raise InvalidInput("The person cannot leave.", "Name an agent that you registered.")
        tx.lock("agents", agent.id)
        claims.release_all(tx, agent.id, f"{agent.name} has left")
        has_left = agents.unregister(tx, agent.id)
        mailbox.bury(tx, agent.id)
        tokens.revoke_of_agent(tx, agent.id)
        return Done(success=has_left)

    return await call.write(change)


def card(agent: Agent, tx: ReadTx) -> AgentCard:
    return AgentCard(
        id=agent.id,
        name=agent.name,
        status=agent.presence(tx.now),
        role=agent.label,
        runtime=agent.runtime,
        backend=agent.backend,
        instance=agent.instance,
        capabilities=agent.capabilities,
        workspace_path=agent.workspace_path,
        current_task_id=_current_task(agent, tx),
        last_seen=clock.to_iso(agent.seen_at),
        metadata=dict(agent.metadata),  # pyright: ignore[reportArgumentType]  # stored JSON is JSON
    )


def _current_task(agent: Agent, tx: ReadTx) -> str | None:
    """What it holds; what it says of itself, if it holds nothing and that is no task that it has lost or ended."""
    held = tasks.held_by(tx, agent.id)
    if held or agent.current_task is None:
        return held[-1].id if held else None
    return agent.current_task if tasks.find(tx, TaskId(agent.current_task)) is None else None


def _path(path: str | None) -> str | None:
    return None if path is None else text.clean(path, "workspace_path")


def _metadata(metadata: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    text.clean(json.dumps(metadata), "metadata", limit=MAX_METADATA)
    return metadata


TOOLS = (
    Tool(
        name="agent_register",
        group="agents",
        words="Join as an agent: answers with your id, which later calls take as agent_id.",
        effect="store",
        arguments=Register,
        result=AgentCard,
        function=register,
        text=lambda result: result.model_dump_json(),
        roles=OPERATORS,
    ),
    Tool(
        name="agent_heartbeat",
        group="agents",
        words="Say that you are still here; every 30 seconds, or you count as offline after 90.",
        effect="store",
        arguments=Heartbeat,
        result=Beat,
        function=heartbeat,
        text=lambda result: result.model_dump_json(),
        roles=WRITERS,
        is_fresh=True,
    ),
    Tool(
        name="agent_update",
        group="agents",
        words="Change what others see of you.",
        effect="store",
        arguments=Update,
        result=AgentCard,
        function=update,
        text=lambda result: result.model_dump_json(),
        roles=WRITERS,
    ),
    Tool(
        name="agent_get",
        group="agents",
        words="Look at one agent.",
        effect="none",
        arguments=Get,
        result=AgentCard,
        function=get,
        text=lambda result: result.model_dump_json(),
        roles=EVERYONE,
    ),
    Tool(
        name="agent_list",
        group="agents",
        words="See who is here.",
        effect="none",
        arguments=List,
        result=AgentCards,
        function=list_agents,
        text=lambda result: json.dumps([one.model_dump(mode="json") for one in result.agents]),
        roles=EVERYONE,
    ),
    Tool(
        name="agent_unregister",
        group="agents",
        words="Leave for good: unread mail is dropped and your tokens are worthless.",
        effect="store",
        arguments=Unregister,
        result=Done,
        function=unregister,
        text=lambda result: result.model_dump_json(),
        roles=WRITERS,
    ),
)
