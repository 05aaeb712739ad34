"""Who calls: the bearer token of each request, looked up anew each time. Connections and sessions prove nothing."""

from dataclasses import field

from starlette.types import Scope

from moot.core.caller import Caller, Role
from moot.core.errors import MootError
from moot.core.ids import DEFAULT_INSTANCE, InstanceName
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.edge.gate import Headers
from moot.edge.refusals import NameMismatch
from moot.registry import agents, instances, names, tokens
from moot.registry.errors import NotAuthenticated
from moot.tools import sharing

_LOOPBACK = frozenset(("127.0.0.1", "::1"))
_CALLER, _PROOF = "moot.caller", "moot.proof"


@record
class Proof:
    """What a request offers as proof. It is kept for as long as its answer streams, to be asked for again."""

    token: str | None = field(default=None, repr=False)
    name: str | None = None  # `name` or `name@instance`


def proof_of(scope: Scope, headers: Headers, *, trusts_names: bool) -> Proof:
    """The proof in a request; NotAuthenticated if there is none."""
    name = headers.get(b"x-agent-id")
    claimed = None if name is None else name.decode("latin-1")
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    if scheme.lower() == b"bearer" and token.strip():
        return Proof(token=token.strip().decode("latin-1"), name=claimed)
    if claimed is None or scheme or not (trusts_names and _is_from_here(scope)):
        raise NotAuthenticated(
            "This request carries no token that proves who sends it.",
            "Send Authorization: Bearer TOKEN; moot mcp does it for you.",
        )
    return Proof(name=claimed)


def caller_by(tx: ReadTx, proof: Proof) -> Caller:
    """Whom the proof is good for now, with what it holds; NotAuthenticated if for nobody (any more)."""
    return sharing.as_now(tx, _proven(tx, proof))


def _proven(tx: ReadTx, proof: Proof) -> Caller:
    if proof.token is None:
        return _named(tx, proof.name or "")
    caller = tokens.identify(tx, proof.token)
    if proof.name is not None and proof.name not in (caller.name, f"{caller.name}@{caller.instance}"):
        raise NameMismatch("X-Agent-Id is not the name of the token's agent.", "Leave it out.")
    return caller


def attach(scope: Scope, proof: Proof, caller: Caller) -> None:
    """Note the caller where those who answer this very request find it."""
    scope[_CALLER], scope[_PROOF] = caller, proof


def attached(scope: Scope) -> Caller:
    caller = scope.get(_CALLER)
    if not isinstance(caller, Caller):
        raise NotAuthenticated("This request came past the door.", "Report this: it is a fault in moot.")
    return caller


def proof(scope: Scope) -> Proof:
    found: Proof = scope[_PROOF]
    return found


def owner_of(caller: Caller) -> str:
    """Whose session it is, and whose keys: nobody else's requests may use them."""
    return caller.agent or caller.token or f"{caller.name}@{caller.instance}"


def _named(tx: ReadTx, claimed: str) -> Caller:
    """An agent believed by its name alone, never as more than a member."""
    name, at, instance_name = claimed.partition("@")
    instance = instances.find(tx, instance_name if at else DEFAULT_INSTANCE)
    agent = agents.find(tx, instance.stream, _checked(name)) if instance else None
    if agent is None:
        raise NotAuthenticated(f"There is no agent {claimed[:80]!r} here.", "Register it first.")
    role: Role = "observer" if agent.role == "observer" else "member"
    return Caller(name=agent.name, role=role, instance=InstanceName(agent.instance), agent=agent.id)


def _checked(name: str) -> str:
    try:
        return names.check_agent(name)
    except MootError as error:
        raise NotAuthenticated(error.fact, error.remedy) from error


def _is_from_here(scope: Scope) -> bool:
    client = scope.get("client")
    return client is None or not client[0] or client[0] in _LOOPBACK
