"""Tokens: the proof of who calls. Only their hashes are stored."""

import base64
import hashlib
import os
from datetime import timedelta
from typing import Literal

from moot.core import json
from moot.core.caller import Caller, Role
from moot.core.ids import AgentId, AttemptId, InstanceName, TokenId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.registry.errors import NotAuthenticated
from moot.store import queries

sql = queries.beside(__file__)
Kind = Literal["attempt", "member", "operator", "link", "shared_link", "visit"]


@record
class Grant:
    """What a token is good for."""

    kind: Kind
    instance: InstanceName
    role: Role
    agent: AgentId | None = None
    groups: tuple[str, ...] | None = None
    attempt: AttemptId | None = None
    process: str | None = None  # dies with this process
    lasts: timedelta | None = None


@record
class Identity:
    """A valid token joined with its agent and attempt."""

    id: TokenId
    name: str | None
    role: Role
    instance: InstanceName
    agent: AgentId | None
    groups: tuple[str, ...] | None
    attempt: AttemptId | None
    fence: int | None


@record
class Bearer:
    """A living token and the process it was made for."""

    id: TokenId
    process: str


def new_text() -> str:
    """The secret itself. Where a transaction that makes one runs again, only the last one is told."""
    return f"moot_{base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip('=')}"


def mint(tx: Tx, text: str, grant: Grant) -> TokenId:
    id = TokenId(tx.new_id("to"))
    tx.run(
        sql.add,
        id=id,
        hash=hash_of(text),
        kind=grant.kind,
        instance=grant.instance,
        role=grant.role,
        agent=grant.agent,
        groups=None if grant.groups is None else json.dumps(grant.groups),
        attempt=grant.attempt,
        process=grant.process,
        now=tx.now,
        expires_at=None if grant.lasts is None else tx.now + grant.lasts,
    )
    if grant.kind == "member":
        tx.run(sql.resume_agent, agent=grant.agent, now=tx.now)
    return id


def identify(tx: ReadTx, text: str) -> Caller:
    """Whose token this is; NotAuthenticated if it is nobody's (any more)."""
    found = tx.maybe(sql.identify, Identity, hash=hash_of(text), now=tx.now)
    if found is None:
        raise NotAuthenticated(
            "The token is not known here, was revoked, or belongs to something that has ended.",
            "An agent that moot has started ends now: its attempt is over. Others connect again with moot mcp.",
        )
    return Caller(
        name=found.name or "human",
        role=found.role,
        instance=found.instance,
        agent=found.agent,
        token=found.id,
        attempt=found.attempt,
        fence=found.fence or 0,
        groups=found.groups,
    )


def revoke(tx: Tx, id: TokenId) -> list[AgentId]:
    """Worth nothing from now on. Returns the agents that have stopped with it: nobody else can speak for them."""
    if not tx.run(sql.revoke, id=id, now=tx.now):
        return []
    return [AgentId(stopped) for stopped in tx.all(sql.stop_agents, str, id=id, now=tx.now)]


def is_spent(tx: ReadTx, id: str) -> bool:
    """Whether this was a token with which nobody can come any more."""
    return tx.maybe(sql.is_spent, int, id=id, now=tx.now) is not None


def speaks_for(tx: ReadTx, agent: AgentId) -> bool:
    """Whether anybody holds a token with which it can speak for an agent from outside."""
    return tx.maybe(sql.speaks_for, int, agent=agent, now=tx.now) is not None


def regrant(tx: Tx, agent: AgentId, role: Role, groups: tuple[str, ...]) -> None:
    """Whoever speaks for an agent from outside that has got another part."""
    tx.run(sql.regrant, agent=agent, role=role, groups=json.dumps(groups))


def revoke_of_agent(tx: Tx, agent: AgentId) -> None:
    tx.run(sql.revoke_of_agent, agent=agent, now=tx.now)


def bearers(tx: ReadTx) -> list[Bearer]:
    """Tokens that should die with a process, for whoever can see whether it lives."""
    return tx.all(sql.bearers, Bearer, now=tx.now)


def hash_of(text: str) -> str:
    """Plain SHA-256: the secret has 256 bits of chance, so nothing slower is needed."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
