"""Mail that comes for an agent while it works: told with the next answer that a tool gives it.

Some programs show their model the text of an answer, others the structured result: it stands in both. What was told is
handed out to the attempt, and acknowledged with it.
"""

import logging
from dataclasses import replace

from moot.bus import mailbox
from moot.bus.mailbox import Mail
from moot.core import quoting
from moot.core.caller import Caller
from moot.core.ids import AgentId, AttemptId
from moot.core.tool import ToolAnswer
from moot.core.tx import Tx
from moot.ledger import stops
from moot.registry import attempts, runs
from moot.registry.errors import AttemptEnded
from moot.requests import requests
from moot.store.store import Store

_log = logging.getLogger("moot.tools")
FIELD = "new_mail"
_MOST_LETTERS = 20  # at once; the rest comes with the next answer
_MOST_OF_MAIL = 10_000  # characters of one message; inbox_check shows all of it


async def handed_out(store: Store, caller: Caller) -> list[Mail]:
    """The mail that has come for a caller meanwhile. What was done is done: whatever goes wrong here, the answer
    stands."""
    agent, attempt = caller.agent, caller.attempt
    if agent is None or attempt is None:
        return []
    try:
        if not await store.read(lambda tx: mailbox.has_queued_for_reader(tx, agent)):
            return []
        return await store.write(lambda tx: _hand_out(tx, caller, agent, attempt), caller=caller)
    except AttemptEnded:
        return []
    except Exception:  # noqa: BLE001  # the boundary of a tool call
        _log.exception("mail for %s could not be told with an answer", caller.name)
        return []


def _hand_out(tx: Tx, caller: Caller, agent: AgentId, attempt: AttemptId) -> list[Mail]:
    attempts.guard(tx, caller)
    run = runs.live_id(tx, caller.instance)
    if run is not None and stops.find(tx, run) is not None:
        return []  # it waits for whoever resumes the run
    mail = new(tx, agent, attempt, _MOST_LETTERS)
    attempts.led_by(tx, attempt, max((one.hops for one in mail), default=0))
    return mail


def new(tx: Tx, agent: AgentId, attempt: AttemptId, most: int) -> list[Mail]:
    """What waits, handed out. An answer that the agent waits for in a call is heard there, and is not mail besides."""
    found = mailbox.hand_out_more(tx, agent, attempt, most)
    heard = [one for one in found if one.reply_to is not None and requests.is_held(tx, one.reply_to)]
    for one in heard:
        mailbox.ack_one(tx, agent, one.seq)
    return [one for one in found if one not in heard]


def told(answer: ToolAnswer, mail: list[Mail]) -> ToolAnswer:
    """The answer, and behind it the mail."""
    letters = quoting.arrived(
        quoting.letter(one.sender, one.body, _MOST_OF_MAIL, is_urgent=one.priority == "high") for one in mail
    )
    told = tuple(one.id for one in mail)
    structured = {**answer.structured, FIELD: letters}
    return replace(answer, text=f"{answer.text}\n\n{letters}", structured=structured, mail=told)
