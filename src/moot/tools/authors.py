"""Who writes a document on behalf of a caller."""

from moot.core.caller import Caller
from moot.core.tx import Tx
from moot.documents.ownership import Author
from moot.tools import acting

FREE = frozenset(("operator", "system"))  # roles that no owner and no election binds


def author_of(tx: Tx, caller: Caller) -> Author:
    """The agent itself; the person behind an operator may always write."""
    agent = acting.agent_for(tx, caller, None)
    return Author(agent.name, agent.id, caller.attempt, is_free=caller.role in FREE)
