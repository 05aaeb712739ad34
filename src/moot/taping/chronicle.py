"""The chronicle: what the store tells of a run, as lines of a tape. Whoever did it, and from wherever (a tool, another
terminal, a file that somebody has saved), it is here, under the number that the store gave to it."""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from moot.backends import backend as contract
from moot.board import checks
from moot.bus import mailbox, messages
from moot.bus.messages import Message
from moot.core import clock
from moot.core.events import StoredEvent
from moot.core.ids import AgentId, AttemptId, MessageId, ProposalId, RequestId, TaskId, WorkspaceId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.documents import documents
from moot.ledger import journal, stops
from moot.proposals import proposals, votes
from moot.registry import agents, attempts, runs
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.requests import requests
from moot.runner import purses
from moot.store import feed
from moot.store.store import Store
from moot.taping.facts import ENDS, JOINED, RELEASED, STOPPED
from moot.taping.tape import Happened, Letter, Limit, Printed, Read, Said
from moot.workspaces import workspaces

_KEPT = frozenset((runs.STOP_ASKED, runs.PAUSED, runs.ENDED, STOPPED, RELEASED))
_PAGE = 500
_MAIL = 1000


_Told = list[Happened | Said | Read | Printed]


@record
class _Known:
    """How far the store was read."""

    seq: int
    printed: int = 0
    unread: Mapping[AgentId, Mapping[str, Letter]] = field(default_factory=dict[AgentId, Mapping[str, Letter]])


class Chronicler:
    """Reads on from where it was."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._known = _Known(run.first_seq)

    def present(self, tx: ReadTx) -> list[Happened]:
        """Who was there before the run, as if they joined with it."""
        found = agents.members(tx, self._run.stream)
        return [Happened(self._known.seq, JOINED, one.id, "system", 0, _member(one)) for one in found]

    async def news(self, store: Store) -> _Told:
        """What has come since the last time; nothing if that was all. A look that is given up, or made again, counts
        for nothing: what it has found is told by the next."""
        self._known, told = await store.read(self._look)
        return told

    def _look(self, tx: ReadTx) -> tuple[_Known, _Told]:
        seq, outputs = self._known.seq, runs.get(tx, self._run.id).outputs
        told: _Told = [Printed(at, one) for at, one in enumerate(outputs) if at >= self._known.printed]
        while not told and (events := feed.events_after(tx, self._run.stream, seq, _PAGE)):
            told += [line for event in events if (line := self._line(tx, event)) is not None]
            seq = events[-1].seq
        unread = self._unread(tx)
        for (id, name), mail in unread.items():
            if gone := tuple(one for key, one in self._known.unread.get(id, {}).items() if key not in mail):
                told.append(Read(seq, name, gone))
        return _Known(seq, len(outputs), {id: mail for (id, _), mail in unread.items()}), told

    def _unread(self, tx: ReadTx) -> dict[tuple[AgentId, str], Mapping[str, Letter]]:
        """Of those whom moot does not start. That they are done with mail makes no event: it is seen by what is
        missing."""
        return {
            (one.id, one.name): {mail.id: letter(mail) for mail in mailbox.unread(tx, one.id, _MAIL)}
            for one in agents.members(tx, self._run.stream)
            if not one.is_started_by_moot
        }

    def _line(self, tx: ReadTx, event: StoredEvent) -> Happened | Said | None:
        at = clock.to_micros(event.at)
        if event.kind == messages.POSTED:
            one = messages.get(tx, MessageId(event.subject), event.stream)
            return Said(
                one.seq, one.id, one.sender, one.kind, one.body, one.mentions, one.attempt, event.actor, at,
                one.reply_to, self._limit(tx, one) if one.kind == "system" else None,
            )  # fmt: skip
        facts = self._facts(tx, event)
        if facts is None:
            return None
        return Happened(event.seq, event.kind, event.subject, event.actor, at, facts)

    def _limit(self, tx: ReadTx, notice: Message) -> Limit | None:
        """The one that was reached with it, if it says so."""
        of_run, of_agents = stops.find(tx, self._run.id), stops.of_agents(tx, self._run.id)
        reached = [Limit(one.reason, agents.get(tx, one.agent).name) for one in of_agents]
        reached += [Limit(of_run.reason)] if of_run is not None else []
        return next((one for one in reached if purses.notice(one.reason, one.agent) == notice.body), None)

    def _facts(self, tx: ReadTx, event: StoredEvent) -> Mapping[str, Any] | None:
        """What is needed to do it again; None if nobody would."""
        if event.kind in _TELLERS:
            return _TELLERS[event.kind](tx, event)
        match event.kind:
            case documents.CHANGED:
                return self._change(tx, event)
            case attempts.STARTED:
                return {"agent": _name_of(tx, event)}
            case attempts.INTERRUPTED:
                return {"agent": _name_of(tx, event), "lost": journal.lost(tx, AttemptId(event.subject))}
            case kind if kind in ENDS:
                return {**event.data, "lost": journal.lost(tx, AttemptId(event.subject))}
            case kind if kind == JOINED:
                return _member(agents.get(tx, AgentId(event.subject)))
            case kind if kind in _KEPT:
                return event.data
            case _:
                return None

    def _change(self, tx: ReadTx, event: StoredEvent) -> Mapping[str, Any]:
        """Of an appended text only what is new."""
        facts, instance = dict(event.data), self._run.instance
        if facts["action"] == "deleted":
            return facts
        version = int(str(facts["version"]))
        content = documents.read(tx, instance, event.subject, version).content
        if facts["action"] == "appended" and version > 1:
            content = content[len(documents.read(tx, instance, event.subject, version - 1).content) :]
        return {**facts, "content": content}


def letter(one: Message | contract.Letter) -> Letter:
    return Letter(one.id, one.sender, one.kind, one.body)


def _name_of(tx: ReadTx, event: StoredEvent) -> str:
    return agents.get(tx, AgentId(str(event.data["agent"]))).name


def _member(agent: Agent) -> Mapping[str, Any]:
    return {
        "name": agent.name,
        "backend": agent.backend,
        "role": agent.role,
        "label": agent.label,
        "runtime": agent.runtime,
    }


def _check(tx: ReadTx, event: StoredEvent) -> Mapping[str, Any]:
    facts = event.data
    found = checks.of_round(tx, TaskId(event.subject), int(str(facts["round"])))
    return {**facts, "output": next((one.output for one in found if one.place == facts["place"]), "")}


def _workspace(tx: ReadTx, event: StoredEvent) -> Mapping[str, Any]:
    found = workspaces.get(tx, WorkspaceId(event.subject))
    names = ("repo_path", "path", "base_branch", "base_commit", "is_branch_ours")
    return {**event.data, **{name: getattr(found, name) for name in names}}


def _vote(tx: ReadTx, event: StoredEvent) -> Mapping[str, Any]:
    found = proposals.get(tx, ProposalId(event.subject))
    reason = next((one.reason for one in found.votes if one.voter == event.data["by"]), "")
    return {**event.data, "title": found.terms.title, "reason": reason}


def _closing(tx: ReadTx, event: StoredEvent) -> Mapping[str, Any]:
    found = proposals.get(tx, ProposalId(event.subject))
    return {
        "title": found.terms.title,
        "status": found.outcome.status,
        "winner": found.outcome.winner,
        "by": found.outcome.resolved_by,
        "reason": found.outcome.reason,
    }


def _question(tx: ReadTx, event: StoredEvent) -> Mapping[str, Any]:
    found = requests.get(tx, RequestId(event.subject))
    lasts = None if found.expires_at is None else (found.expires_at - found.created_at).total_seconds()
    return {
        "to": found.addressee,
        "kind": found.kind,
        "title": found.title,
        "body": found.body,
        "options": found.options,
        "lasts": lasts,
        "mode": found.mode,
    }


def _answer(tx: ReadTx, event: StoredEvent) -> Mapping[str, Any]:
    found = requests.get(tx, RequestId(event.subject))
    return {
        "title": found.title,
        "requester": found.requester,
        "state": found.state,
        "answer": found.answer,
        "by": found.answered_by,
    }


_TELLERS: Mapping[str, Callable[[ReadTx, StoredEvent], Mapping[str, Any]]] = {
    votes.CAST: _vote,
    votes.CLOSED: _closing,
    requests.OPENED: _question,
    requests.ANSWERED: _answer,
    checks.CHECKED: _check,
    workspaces.MADE: _workspace,
    workspaces.MERGED: _workspace,
    workspaces.REMOVED: _workspace,
    workspaces.REFUSED: _workspace,
}
