"""Applies reactions to new events, each event once for all hosts together."""

from collections.abc import Callable, Mapping

from moot.board import boards, claims, laying, progress
from moot.bus import messages
from moot.core.events import StoredEvent
from moot.core.tx import ReadTx, Tx
from moot.proposals import votes
from moot.requests import requests
from moot.runner import handing_out
from moot.runner.reactions.begin_talk import begin_talk
from moot.runner.reactions.reach_agents import reach_agents
from moot.runner.reactions.tell_flows import tell_flows
from moot.runner.reactions.verify_tasks import verify_tasks, withdraw_questions
from moot.runner.teams.advancing import look as look_at_team
from moot.store import feed, streams
from moot.teams import reviews
from moot.workspaces import workspaces

Reaction = Callable[[Tx, StoredEvent], None]
REACTIONS: Mapping[str, tuple[Reaction, ...]] = {
    messages.POSTED: (reach_agents,),
    votes.CLOSED: (begin_talk, verify_tasks, tell_flows),
    requests.ANSWERED: (verify_tasks, tell_flows, look_at_team),
    reviews.REVIEWED: (look_at_team,),
    workspaces.MERGED: (look_at_team,),
    workspaces.REFUSED: (look_at_team,),
    workspaces.PUSHED: (look_at_team,),
    laying.PLANNED: (handing_out.look,),
    claims.RELEASED: (handing_out.look, withdraw_questions),
    progress.STATUS: (handing_out.look, withdraw_questions, tell_flows),
    boards.STATUS: (handing_out.look,),
}
_PAGE = 100
_STREAMS = 20


def has_news(tx: ReadTx) -> bool:
    return bool(feed.with_news(tx, 1))


def react(tx: Tx) -> None:
    """A page of what no reaction has seen; the mark moves in the same transaction."""
    # By instance, as everybody takes them: hosts whose streams are sorted otherwise would wait in a circle.
    for head in sorted(feed.with_news(tx, _STREAMS), key=lambda head: (head.instance, head.id)):
        # Not the stream's own row: those who write to it hold jobs that reactions change, and would wait in a circle.
        tx.lock("instances", head.instance)
        events = feed.news(tx, head.id, _PAGE)  # looked up under the lock: another host may have been here
        for event in events:
            for reaction in REACTIONS.get(event.kind, ()):
                reaction(tx, event)
        if events:
            streams.reacted(tx, head.id, events[-1].seq)
            tx.wake()  # whoever waits for quiet has to look again
