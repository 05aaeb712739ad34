"""What needs the person, wherever it is: requests with exactly what is asked, votes, unread mail."""

from moot.api import plain
from moot.api.page.desk import Plain
from moot.bus import mailbox
from moot.core import clock
from moot.core.json import Json
from moot.core.tx import ReadTx
from moot.proposals import proposals
from moot.proposals.proposals import Proposal
from moot.registry import agents, instances, runs
from moot.registry.agents import Agent
from moot.registry.instances import Instance
from moot.requests import plain as asking
from moot.requests import requests
from moot.requests.requests import Request

_MOST = 20  # messages of each person


def everywhere(tx: ReadTx) -> Plain:
    answered = runs.answered(tx)  # questions of their own, of which nothing is left to see to
    found = [_in(tx, one) for one in instances.all_of(tx) if one.name not in answered]
    return {
        "requests": [one for asked, _, _ in found for one in asked],
        "votes": [one for _, votes, _ in found for one in votes],
        "mail": [one for _, _, mail in found for one in mail],
    }


def _in(tx: ReadTx, instance: Instance) -> tuple[list[Plain], list[Plain], list[Plain]]:
    person = agents.find(tx, instance.stream, agents.PERSON)
    asked = [one for one in requests.open_of(tx, instance.stream) if one.is_for_person]
    votes = [one for one in proposals.open_of(tx, instance.stream) if person and _may_vote(one, person)]
    told = {one.message for one in asked} | {one.terms.message for one in votes}
    mail = mailbox.unread(tx, person.id, _MOST) if person else []
    unread: list[Plain] = [{"instance": instance.name, **plain.mail(one)} for one in mail if one.id not in told]
    return [request(one) for one in asked], [vote(one) for one in votes], unread


def _may_vote(one: Proposal, person: Agent) -> bool:
    ballot = one.ballot_of(person.id)
    return ballot is not None and ballot.choice is None


def request(one: Request) -> Plain:
    """`hash` is of exactly what is asked: an answer names it."""
    return {**asking.request(one), "instance": one.instance, "kind": one.kind, "hash": one.hash}


def vote(one: Proposal) -> Plain:
    terms = one.terms
    options: Json = [{"id": id, "label": label} for id, label in terms.options.items()]
    return {
        "id": one.id,
        "instance": terms.instance,
        "type": terms.type,
        "title": terms.title,
        "description": terms.description,
        "options": options,
        "from": terms.creator,
        "created_at": clock.to_iso(terms.created_at),
        "expires_at": clock.to_iso(terms.expires_at),
    }
