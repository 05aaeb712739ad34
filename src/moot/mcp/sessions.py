"""What sessions of the handshake revisions have subscribed to. Nothing here says who they are."""

from collections import OrderedDict

from moot.mcp.notices import Wants

# As many as the SDK keeps sessions: it does not say when one ends.
_KEPT = 10_000


class Sessions:
    def __init__(self) -> None:
        self._wants: OrderedDict[str, Wants] = OrderedDict()

    def wants(self, session: str) -> Wants:
        """What this session listens for, to be changed in place."""
        found = self._wants.setdefault(session, Wants())
        self._wants.move_to_end(session)
        if len(self._wants) > _KEPT:
            self._wants.popitem(last=False)
        return found

    def forget(self, session: str) -> None:
        self._wants.pop(session, None)
