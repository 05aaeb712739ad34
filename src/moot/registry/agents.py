"""Agents: everyone with a name in an instance, whether moot starts them or they come from outside."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta
from typing import Literal

from moot.core import json
from moot.core.caller import Role
from moot.core.events import Event
from moot.core.ids import AgentId, InstanceName, StreamId, TokenId
from moot.core.json import Json
from moot.core.permissions import Permissions
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.registry import names
from moot.registry.errors import AgentNotFound, NameTaken
from moot.registry.instances import Instance
from moot.store import queries

sql = queries.beside(__file__)
Presence = Literal["online", "busy", "offline"]
Status = Literal["online", "busy"]
HEARTBEAT = timedelta(seconds=30)
OFFLINE_AFTER = timedelta(seconds=90)
FORSAKEN_AFTER = timedelta(days=1)
PERSON = "human"
PERMITTED = "agent_permitted"
# Backends that nobody starts: these agents come by themselves, or are moot's own addresses.
UNSTARTED = frozenset(("external", "human", "service"))


@record
class Addressee:
    """As much of an agent as its mail needs."""

    id: AgentId
    name: str
    backend: str

    @property
    def is_service(self) -> bool:
        return self.backend == "service"


@record
class Agent:
    id: AgentId
    stream: StreamId
    instance: InstanceName
    name: str
    role: Role
    label: str  # what the agent calls its job; grants nothing
    runtime: str
    backend: str
    settings: Mapping[str, Json]
    capabilities: tuple[str, ...]
    metadata: Mapping[str, Json]
    workspace_path: str | None
    registered_by: TokenId | None
    status: Status
    current_task: str | None
    seen_at: datetime
    created_at: datetime
    stopped_at: datetime | None
    left_at: datetime | None

    @property
    def is_started_by_moot(self) -> bool:
        return self.backend not in UNSTARTED

    @property
    def addressee(self) -> Addressee:
        return Addressee(self.id, self.name, self.backend)

    def presence(self, now: datetime) -> Presence:
        """Agents from outside are judged by their heartbeat, the others are here while moot is."""
        is_gone = self.left_at is not None or self.stopped_at is not None
        is_silent = self.backend == "external" and now - self.seen_at > OFFLINE_AFTER
        return "offline" if is_gone or is_silent else self.status


@record
class NewAgent:
    """What is said of an agent when it joins."""

    name: str
    runtime: str = ""
    backend: str = "external"
    role: Role = "member"
    label: str = "worker"
    settings: Mapping[str, Json] = field(default_factory=dict[str, Json])
    capabilities: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])
    workspace_path: str | None = None
    registered_by: TokenId | None = None


@record
class Changes:
    """What an agent may change about itself; None leaves it as it is."""

    status: Status | None = None
    capabilities: tuple[str, ...] | None = None
    workspace_path: str | None = None
    metadata: Mapping[str, Json] | None = None


def register(tx: Tx, instance: Instance, new: NewAgent) -> Agent:
    """Join under a new id. In a run, names are unique; outside, the newest of those from outside is the one meant."""
    names.check_agent(new.name)
    tx.lock("instances", instance.name)
    bearer = find(tx, instance.stream, new.name)
    if bearer is not None and (instance.stream.startswith("wf_") or _is_kept(bearer)):
        raise NameTaken(f"{new.name!r} is taken in {instance.name}.", "Choose another name.")
    return _add(tx, instance, new, tx.now)


def _is_kept(agent: Agent) -> bool:
    """Whether its mail is for itself alone: it is a person's, or moot wakes it with what comes."""
    return agent.backend != "external" and agent.stopped_at is None


def ensure(tx: Tx, instance: Instance, new: NewAgent) -> Agent:
    """The agent that moot knows under this name: kept with its mail, its settings brought up to date."""
    tx.lock("instances", instance.name)
    found = find(tx, instance.stream, new.name)
    if found is None:
        # Who comes from outside is expected, and has not been here yet.
        seen_at = tx.now - 2 * OFFLINE_AFTER if new.backend == "external" else tx.now
        return _add(tx, instance, new, seen_at)
    if found.backend == "external" != new.backend:
        raise NameTaken(f"{found.name} has joined {instance.name} from outside.", "Choose another name.")
    tx.run(
        sql.refresh,
        id=found.id,
        backend=new.backend,
        runtime=new.runtime,
        role=new.role,
        label=new.label,
        settings=json.dumps(new.settings),
        capabilities=json.dumps(new.capabilities),
        metadata=json.dumps(new.metadata),
        now=tx.now,
    )
    return get(tx, found.id)


def person(tx: Tx, instance: Instance) -> Agent:
    """The person at the terminal, known in every instance as `human`."""
    found = find(tx, instance.stream, PERSON)
    return found or ensure(tx, instance, NewAgent(name=PERSON, backend="human", role="operator", label="person"))


def service(tx: Tx, instance: Instance, name: str) -> Agent:
    """One of moot's own addresses, whose mail needs no answer."""
    found = find(tx, instance.stream, name)
    return found or ensure(tx, instance, NewAgent(name=name, backend="service", role="system", label="service"))


def find(tx: ReadTx, stream: StreamId, name: str) -> Agent | None:
    """The newest agent of that name that has not left."""
    return tx.maybe(sql.find, Agent, stream=stream, folded=names.fold(name))


def get(tx: ReadTx, id: AgentId) -> Agent:
    found = tx.maybe(sql.get, Agent, id=id)
    if found is None:
        raise AgentNotFound(f"There is no agent with the id {id[:80]!r}.", "Use an id (ag_…) from agent_list.")
    return found


def named(tx: ReadTx, stream: StreamId, name: str) -> Agent:
    """Like `find`, for a name that must exist."""
    found = find(tx, stream, name)
    if found is None:
        known = ", ".join(sorted({agent.name for agent in members(tx, stream)})) or "nobody"
        raise AgentNotFound(f"There is no agent named {name[:80]!r} here.", f"Here are: {known}.")
    return found


def forsaken(tx: ReadTx, stream: StreamId, name: str) -> list[Agent]:
    """Bearers of a name from outside who will not come back: nobody holds a token to speak for them, or nobody has
    done so for a day. A client that registers anew with every session leaves one behind each time."""
    silent_since = tx.now - FORSAKEN_AFTER
    return tx.all(sql.forsaken, Agent, stream=stream, folded=names.fold(name), silent_since=silent_since, now=tx.now)


def members(tx: ReadTx, stream: StreamId) -> list[Agent]:
    """Everyone who has not left, in the order of joining; of several with one name, the newest."""
    newest = {names.fold(agent.name): agent for agent in tx.all(sql.members, Agent, stream=stream)}
    return list(newest.values())


def addressee(tx: ReadTx, stream: StreamId, name: str) -> Addressee | None:
    """Like `find`, for those who only write to it."""
    return tx.maybe(sql.addressee, Addressee, stream=stream, folded=names.fold(name))


def addressees(tx: ReadTx, stream: StreamId) -> list[Addressee]:
    """Everyone who has not left but moot's own services; of several with one name, the newest."""
    newest = {names.fold(one.name): one for one in tx.all(sql.addressees, Addressee, stream=stream)}
    return [one for one in newest.values() if not one.is_service]


def heartbeat(tx: Tx, id: AgentId, *, status: Status | None, current_task: str | None) -> None:
    """Still here. Emits nothing: a sign of life is not news."""
    if not tx.run(sql.heartbeat, id=id, status=status, current_task=current_task, now=tx.now):
        present(get(tx, id))


def present(agent: Agent) -> Agent:
    """The agent itself; AgentNotFound if it has left."""
    if agent.left_at is not None:
        raise AgentNotFound(f"The agent {agent.id!r} has left.", "Register again with agent_register.")
    return agent


def update(tx: Tx, id: AgentId, changes: Changes) -> Agent:
    tx.run(
        sql.update,
        id=id,
        status=changes.status,
        capabilities=None if changes.capabilities is None else json.dumps(changes.capabilities),
        workspace_path=changes.workspace_path,
        metadata=None if changes.metadata is None else json.dumps(changes.metadata),
        now=tx.now,
    )
    agent = present(get(tx, id))
    tx.announce(Event(agent.stream, "agent_updated", id, {"name": agent.name}, is_quiet=True))
    return agent


def locked(tx: Tx, id: AgentId) -> Agent:
    """The agent as it is while nobody else changes what is known of it."""
    tx.lock("agents", id)
    return get(tx, id)


def permit(tx: Tx, agent: Agent, permissions: Permissions) -> None:
    """What it may do from its next attempt on; for `locked` agents."""
    said = {"edit": permissions.edit, "shell": permissions.shell, "network": permissions.network}
    tx.run(sql.settle, id=agent.id, settings=json.dumps({**agent.settings, "permissions": said}))
    tx.announce(Event(agent.stream, PERMITTED, agent.id, {"name": agent.name, **said}, is_quiet=True))


def unregister(tx: Tx, id: AgentId) -> bool:
    """Leave for good; False if it had left before. Mail can be buried afterwards: none is under way any more."""
    agent = get(tx, id)
    if not tx.run(sql.leave, id=id, now=tx.now):
        return False
    # Not announced: whoever fills mailboxes holds the stream's counter, and sees who has left only after this.
    tx.emit(Event(agent.stream, "agent_left", id, {"name": agent.name}, is_quiet=True))
    return True


def _add(tx: Tx, instance: Instance, new: NewAgent, seen_at: datetime) -> Agent:
    id = AgentId(tx.new_id("ag"))
    tx.run(
        sql.add,
        id=id,
        stream=instance.stream,
        instance=instance.name,
        name=new.name,
        folded=names.fold(new.name),
        role=new.role,
        label=new.label,
        runtime=new.runtime,
        backend=new.backend,
        settings=json.dumps(new.settings),
        capabilities=json.dumps(new.capabilities),
        metadata=json.dumps(new.metadata),
        workspace_path=new.workspace_path,
        registered_by=new.registered_by,
        seen_at=seen_at,
        now=tx.now,
    )
    tx.announce(
        Event(instance.stream, "agent_registered", id, {"name": new.name, "backend": new.backend}, is_quiet=True)
    )
    return get(tx, id)


def all_of(tx: ReadTx, stream: StreamId) -> list[AgentId]:
    """Everyone who was ever in a stream, also who has left."""
    return [AgentId(id) for id in tx.all(sql.all_of, str, stream=stream)]
