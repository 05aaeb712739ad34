"""What an approval brings about by itself, in its own transaction: a shutdown stops whoever was asked at its next safe
point, a mode set changes what an agent may do from its next attempt on. Of other requests only the answer counts."""

from moot.core import permissions
from moot.core.permissions import PRESETS, Permissions, Preset
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.registry import agents, stopping
from moot.registry.agents import Agent
from moot.requests.errors import RequestRefused
from moot.requests.requests import Kind, Request
from moot.tools import attendance, authority, membership


@record
class _Grant:
    """Whose permissions are changed, and by whom; `None` is moot itself."""

    subject: Agent
    by: Agent | None


def check(tx: ReadTx, requester: Agent | None, addressee: Agent, kind: Kind, mode: Preset | None) -> None:
    """RequestRefused, if an approval could not be carried out."""
    if kind == "shutdown":
        _check_shutdown(tx, requester, addressee)
    if kind == "mode_set" and mode is not None:
        _check_mode(tx, _grant(tx, requester, addressee), mode)


def carry_out(tx: Tx, request: Request) -> None:
    """What was approved. Looked at once more: rights may have changed since it was asked."""
    addressee = agents.get(tx, request.addressee_id)
    if request.kind == "shutdown":
        stopping.stop(tx, addressee)
        attendance.settle(tx, addressee.instance)
    elif request.kind == "mode_set" and request.mode is not None:
        requester = None if request.requester_id is None else agents.get(tx, request.requester_id)
        grant = _grant(tx, requester, addressee)
        subject = agents.locked(tx, grant.subject.id)
        _check_mode(tx, _Grant(subject, grant.by), request.mode)
        agents.permit(tx, subject, PRESETS[request.mode])


def _check_shutdown(tx: ReadTx, requester: Agent | None, addressee: Agent) -> None:
    if addressee.backend == "human":
        raise RequestRefused("A person is not shut down.", "Ask an agent.")
    if membership.part_of(tx, addressee) is not None and not authority.decides(tx, requester):
        raise RequestRefused("Only the lead and people shut members of a team down.", "Tell the lead.")


def _grant(tx: ReadTx, requester: Agent | None, addressee: Agent) -> _Grant:
    """Who decides asks another to take a mode; others ask for themselves."""
    if authority.decides(tx, requester) and addressee.backend != "human":
        return _Grant(addressee, requester)
    if requester is not None and requester.backend != "human" and authority.decides(tx, addressee):
        return _Grant(requester, addressee)
    raise RequestRefused(
        "Only people and the lead of a team decide what an agent may do.", "Ask one of them, for yourself."
    )


def _check_mode(tx: ReadTx, grant: _Grant, mode: Preset) -> None:
    subject, wanted = grant.subject, PRESETS[mode]
    if not subject.is_started_by_moot:
        raise RequestRefused(
            f"{subject.name} is not started by moot, and no mode of moot's binds it.", "Set it where it runs."
        )
    part = membership.part_of(tx, subject)
    if part in ("lead", "reviewer") and mode != "read-only":
        raise RequestRefused(f"As {part}, {subject.name} changes nothing.", "Ask a worker.")
    is_by_person = grant.by is None or authority.speaks_for_person(tx, grant.by)
    if not is_by_person and authority.is_wider(wanted, _held(subject)):
        raise RequestRefused(
            f"Only a person gives {subject.name} more than it has.", f"Ask one: request_create to {agents.PERSON}."
        )


def _held(agent: Agent) -> Permissions:
    return permissions.said(agent.settings.get("permissions"))
