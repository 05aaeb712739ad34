"""What needs the person, wherever it is: requests with exactly what is asked, votes, unread mail."""

from moot.api import needs, plain
from moot.api.needs import Needs
from moot.api.page.desk import Plain
from moot.core import clock
from moot.core.json import Json
from moot.core.tx import ReadTx
from moot.proposals.proposals import Proposal
from moot.registry import agents, instances, runs
from moot.registry.instances import Instance
from moot.requests import plain as asking
from moot.requests.requests import Request


def everywhere(tx: ReadTx) -> Plain:
    answered = runs.answered(tx)  # questions of their own, of which nothing is left to see to
    found = [(one, _in(tx, one)) for one in instances.all_of(tx) if one.name not in answered]
    return {
        "requests": [request(one) for _, seen in found for one in seen.requests],
        "votes": [vote(one) for _, seen in found for one in seen.votes],
        "mail": [{"instance": place.name, **plain.mail(one)} for place, seen in found for one in seen.mail],
    }


def _in(tx: ReadTx, instance: Instance) -> Needs:
    return needs.of_operator(tx, instance, agents.find(tx, instance.stream, agents.PERSON))


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
