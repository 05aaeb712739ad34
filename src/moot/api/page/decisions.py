"""What is to be decided: requests that wait for an answer, and what is put to the vote."""

from typing import get_args

from moot.api import proposals as voting
from moot.api import requests as answering
from moot.api.page import needs
from moot.api.page.desk import Desk, Plain
from moot.core.ids import ProposalId, RequestId
from moot.core.tx import ReadTx
from moot.proposals import proposals
from moot.proposals.plain import proposal as plain_proposal
from moot.proposals.proposals import Proposal
from moot.registry.instances import Instance
from moot.requests import requests
from moot.requests.requests import Verdict
from moot.web import resource
from moot.web.ask import Ask
from moot.web.resource import Resource

_LAST = 50
_MOST = 200
_LONGEST = 100_000


def resources(at: Desk) -> list[Resource]:
    async def asked(ask: Ask) -> Plain:
        is_open, limit = ask.flag("open"), ask.limit(_LAST, _MOST)
        return await at.look(ask, lambda tx, instance: _asked(tx, instance, limit, is_open=is_open))

    async def answer(ask: Ask) -> Plain:
        verdict, words = ask.needed_choice("verdict", get_args(Verdict)), ask.text("answer", most=_LONGEST) or ""
        id, seen = RequestId(ask.place["id"]), ask.needed("hash")
        return {"request": needs.request(await answering.answer(at.seat(ask), id, verdict, words, seen=seen))}

    async def put(ask: Ask) -> Plain:
        is_open, limit, before = ask.flag("open"), ask.limit(_LAST, _MOST), ProposalId(ask.text("before") or "")
        return await at.look(ask, lambda tx, instance: _put(tx, instance, limit, before, is_open=is_open))

    async def vote(ask: Ask) -> Plain:
        id, seat = ProposalId(ask.place["id"]), at.seat(ask)
        await voting.vote(seat, id, ask.needed("choice"), ask.text("reason", most=_LONGEST) or "")
        return {"proposal": proposal(await voting.get(seat, id))}

    return [
        resource.get("/api/requests", asked, "open", "limit"),
        resource.post("/api/requests/{id}", answer, "verdict", "hash", "answer"),
        resource.get("/api/proposals", put, "open", "limit", "before"),
        resource.post("/api/proposals/{id}/vote", vote, "choice", "reason"),
    ]


def _asked(tx: ReadTx, instance: Instance | None, limit: int, *, is_open: bool) -> Plain:
    if instance is None:
        return {"requests": []}
    found = requests.open_of(tx, instance.stream) if is_open else requests.latest(tx, instance.stream, limit)
    return {"requests": [needs.request(one) for one in found[-limit:]]}


def _put(tx: ReadTx, instance: Instance | None, limit: int, before: ProposalId, *, is_open: bool) -> Plain:
    if instance is None:
        return {"proposals": [], "has_older": False}
    if is_open:
        found = proposals.open_of(tx, instance.stream)
        return {"proposals": [proposal(one) for one in found], "has_older": False}
    found = proposals.latest(tx, instance.stream, limit + 1, before)
    return {"proposals": [proposal(one) for one in found[-limit:]], "has_older": len(found) > limit}


def proposal(one: Proposal) -> Plain:
    """With the names that the file of proposals has, and who has voted for what beside each option."""
    counts = one.counts
    options: list[Plain] = [
        {"id": id, "label": label, "votes": counts.get(id, 0), "voters": [v.voter for v in one.votes if v.choice == id]}
        for id, label in one.terms.options.items()
    ]
    waits = [ballot.name for ballot in one.ballots if ballot.choice is None]
    return {**plain_proposal(one), "instance": one.terms.instance, "options": options, "waits_for": waits}
