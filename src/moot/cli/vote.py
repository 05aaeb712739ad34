"""`moot vote`: what is voted on, how it stands, and your own vote."""

from functools import partial

import click

from moot.api import proposals
from moot.api.access import access
from moot.cli import distant_votes, inside, loop, terminal
from moot.cli.options import instance_option, json_option, store_option
from moot.cli.transcript import clock_time
from moot.core.ids import ProposalId
from moot.core.json import Json
from moot.proposals import plain
from moot.proposals.proposals import Proposal
from moot.store.errors import StoreNotFound
from moot.tools.voting import result

NONE = "nothing to vote on"
HEADING = ("ID", "STATUS", "VOTES", "UNTIL", "TITLE")
LEAST_WIDTHS = (8, 8, 5, 8)


@click.command()
@click.argument("id", required=False)
@click.argument("choice", required=False)
@click.option("--reason", metavar="TEXT", default="", help="Why; the others read it.")
@click.option("--decide", is_flag=True, help="Break a tie in your own proposal.")
@click.option("--cancel", is_flag=True, help="Take the proposal back.")
@click.option("--all", "every", is_flag=True, help="List closed proposals, too.")
@instance_option
@store_option
@json_option
def command(  # noqa: PLR0913  # one for each option
    *,
    id: str | None,
    choice: str | None,
    reason: str,
    decide: bool,
    cancel: bool,
    every: bool,
    instance: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """List what can be voted on; with ID show how it stands; with ID and CHOICE vote, once."""
    _check(id, choice, reason, decide=decide, cancel=cancel, every=every)
    if id is None:
        work = _list(instance, store, every=every, as_json=as_json)
        if every:  # for which there is no tool
            loop.run(work)
        else:
            inside.run(work, partial(distant_votes.listed, instance, as_json=as_json))
        return
    proposal = ProposalId(id)
    if cancel:
        distant = partial(distant_votes.cancelled, instance, id, reason, as_json=as_json)
        inside.run(_cancel(instance, store, proposal, reason, as_json=as_json), distant)
    elif choice is None:
        distant = partial(distant_votes.shown, instance, id, as_json=as_json)
        inside.run(_show(instance, store, proposal, as_json=as_json), distant)
    else:
        work = _vote(instance, store, proposal, choice, reason, decide=decide, as_json=as_json)
        ballot: dict[str, Json] = {"proposal": id, "choice": choice, "reason": reason, "decide": decide}
        inside.run(work, partial(distant_votes.voted, instance, ballot, as_json=as_json))


def _check(id: str | None, choice: str | None, reason: str, *, decide: bool, cancel: bool, every: bool) -> None:
    if id is not None and every:
        raise click.UsageError("--all is for the list, without an ID.")
    if cancel and choice is not None:
        raise click.UsageError("--cancel takes no CHOICE.")
    if cancel and id is None:
        raise click.UsageError("--cancel needs the ID of a proposal.")
    if decide and (choice is None or cancel):
        raise click.UsageError("--decide needs an ID and a CHOICE.")
    if reason and choice is None and not cancel:
        raise click.UsageError("--reason needs a vote, or --cancel.")


async def _list(instance: str | None, store: str | None, *, every: bool, as_json: bool) -> None:
    try:
        async with access("proposal_status", store=store, instance=instance) as opened:
            found = await proposals.all_of(opened, is_open=not every)
    except StoreNotFound:
        found = []
    if as_json:
        terminal.document([plain.proposal(one) for one in found])
    elif not found:
        terminal.say(NONE)
    else:
        terminal.table([HEADING, *(_row(one) for one in found)], LEAST_WIDTHS)


def _row(one: Proposal) -> tuple[str, str, str, str, str]:
    counted = f"{len(one.votes)}/{one.terms.quorum}"
    return one.id, one.outcome.status, counted, clock_time(one.terms.expires_at), one.terms.title


async def _show(instance: str | None, store: str | None, id: ProposalId, *, as_json: bool) -> None:
    async with access("proposal_status", store=store, instance=instance) as opened:
        one = await proposals.get(opened, id)
    if as_json:
        terminal.document(plain.proposal(one))
        return
    terms = one.terms
    terminal.say(terminal.paint(one.id, "bold"), f"  {one.outcome.status}  {terminal.one_line(terms.title)}")
    if terms.description:
        terminal.say(terms.description)
    binding = "binding" if terms.is_binding else "advisory"
    until = f"until {clock_time(terms.expires_at)}" if one.is_open else f"by {one.outcome.resolved_by}"
    votes = f"{len(one.votes)}/{terms.quorum} votes"
    terminal.say(f"{terms.type}, {terms.rule}, {binding}; {votes}, {until}; proposed by {terms.creator}")
    rows = [(str(one.counts[id]), id, label, _voters(one, id)) for id, label in terms.options.items()]
    terminal.table([("VOTES", "OPTION", "LABEL", "VOTERS"), *rows], (5, 8, 10))
    if one.outcome.status == "resolved":
        terminal.say(f"result: {terminal.one_line(result(one))}")
    elif one.outcome.reason:
        terminal.say(f"reason: {terminal.one_line(one.outcome.reason)}")
    elif one.tied:
        terminal.say(f"tied; {terms.creator} decides with: moot vote {one.id} CHOICE --decide")


def _voters(one: Proposal, option: str) -> str:
    return ", ".join(vote.voter for vote in one.votes if vote.choice == option)


async def _vote(  # noqa: PLR0913  # one for each option
    instance: str | None, store: str | None, id: ProposalId, choice: str, reason: str, *, decide: bool, as_json: bool
) -> None:
    async with access("vote", store=store, instance=instance) as opened:
        cast = await (proposals.decide(opened, id, choice) if decide else proposals.vote(opened, id, choice, reason))
    one = cast.proposal
    if as_json:
        terminal.document({"choice": cast.choice, "recorded": cast.is_new, "proposal": plain.proposal(one)})
    elif decide:
        terminal.say(f'decided for "{cast.label}"')
    elif not cast.is_new:
        terminal.say(f'vote already recorded for "{cast.label}"')
    else:
        terminal.say(f'voted for "{cast.label}"; {len(one.votes)}/{one.terms.quorum} votes received')
    if not as_json and one.outcome.status == "resolved":
        terminal.say(f"result: {terminal.one_line(result(one))}")


async def _cancel(instance: str | None, store: str | None, id: ProposalId, reason: str, *, as_json: bool) -> None:
    async with access("proposal_cancel", store=store, instance=instance) as opened:
        one = await proposals.cancel(opened, id, reason)
    if as_json:
        terminal.document(plain.proposal(one))
    else:
        terminal.say(f"cancelled {one.id}")
